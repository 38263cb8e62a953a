// What this browser remembers: looks and habits. No permission and no secret is ever among it.

import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark" | "contrast";
export const THEMES: readonly Theme[] = ["system", "light", "dark", "contrast"];

const CHANGED = "inglenook:settings";
const KEYS = {
  theme: "inglenook.theme",
  model: "inglenook.model",
  singleKeys: "inglenook.single-keys",
} as const;

function read(name: keyof typeof KEYS): string | null {
  return localStorage.getItem(KEYS[name]);
}

function write(name: keyof typeof KEYS, value: string): void {
  localStorage.setItem(KEYS[name], value);
  dispatchEvent(new Event(CHANGED));
}

function useSetting(name: keyof typeof KEYS): string | null {
  return useSyncExternalStore(
    (changed) => {
      addEventListener(CHANGED, changed);
      return () => removeEventListener(CHANGED, changed);
    },
    () => read(name),
  );
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const stored = useSetting("theme");
  const theme = THEMES.find((known) => known === stored) ?? "system";
  const choose = (next: Theme) => {
    document.documentElement.dataset.theme = next;
    write("theme", next);
  };
  return [theme, choose];
}

export function useChosenModel(): [string | null, (model: string) => void] {
  return [useSetting("model"), (model) => write("model", model)];
}

export function useSingleKeys(): [boolean, (on: boolean) => void] {
  return [useSetting("singleKeys") !== "off", (on) => write("singleKeys", on ? "on" : "off")];
}
