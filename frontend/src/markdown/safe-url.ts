/** The URL if a person may be offered it as a link: http, https or mailto. */
export function safeUrl(href: string | undefined): URL | null {
  if (!href) return null;
  try {
    const url = new URL(href);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url : null;
  } catch {
    return null;
  }
}

/** Who gets the request: the host in its ASCII form, with a port that is not the usual one. */
export function hostOf(url: URL): string {
  return url.protocol === "mailto:" ? url.pathname.split("@").at(-1) ?? "" : url.host;
}
