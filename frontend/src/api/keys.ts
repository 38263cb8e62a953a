// The two secrets a person may type here. Neither ever enters a URL, a body or localStorage.

const TOKEN = "inglenook.token";
const OPEN_WEBUI_KEY = "inglenook.open-webui-key";

let openWebuiKey: string | null = null;

export function serverToken(): string | null {
  return sessionStorage.getItem(TOKEN);
}

export function setServerToken(token: string): void {
  if (token) sessionStorage.setItem(TOKEN, token);
  else sessionStorage.removeItem(TOKEN);
}

export function knowledgeKey(): string | null {
  return openWebuiKey ?? sessionStorage.getItem(OPEN_WEBUI_KEY);
}

/** True when the key outlives a reload of this tab. */
export function knowledgeKeyKept(): boolean {
  return sessionStorage.getItem(OPEN_WEBUI_KEY) !== null;
}

export function setKnowledgeKey(key: string, keepForTab: boolean): void {
  openWebuiKey = key || null;
  if (key && keepForTab) sessionStorage.setItem(OPEN_WEBUI_KEY, key);
  else sessionStorage.removeItem(OPEN_WEBUI_KEY);
}
