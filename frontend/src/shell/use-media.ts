import { useSyncExternalStore } from "react";

export const WIDE = "(min-width: 1100px)";
export const MIDDLE = "(min-width: 700px)";

export function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (changed) => {
      const list = matchMedia(query);
      list.addEventListener("change", changed);
      return () => list.removeEventListener("change", changed);
    },
    () => matchMedia(query).matches,
  );
}
