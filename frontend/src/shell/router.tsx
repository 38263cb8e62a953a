// Addresses of the page. The server sends index.html for each (src/inglenook/api/page.py).

import { type AnchorHTMLAttributes, type MouseEvent, useSyncExternalStore } from "react";

export type Route =
  | { screen: "home" }
  | { screen: "run"; id: string }
  | { screen: "approvals" | "knowledge" | "models" | "doctor" | "settings" | "missing" };

const MOVED = "inglenook:moved";
let focusHeading = false;

export function routeOf(path: string): Route {
  const [first, second, ...rest] = path.split("/").filter(Boolean);
  if (rest.length > 0) return { screen: "missing" };
  if (first === "runs" && second) return { screen: "run", id: decode(second) };
  if (second) return { screen: "missing" };
  switch (first) {
    case undefined:
    case "runs":
      return { screen: "home" };
    case "approvals":
    case "knowledge":
    case "models":
    case "doctor":
    case "settings":
      return { screen: first };
    default:
      return { screen: "missing" };
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const runPath = (id: string) => `/runs/${encodeURIComponent(id)}`;

export function usePath(): string {
  return useSyncExternalStore(subscribe, () => location.pathname);
}

function subscribe(changed: () => void): () => void {
  addEventListener("popstate", changed);
  addEventListener(MOVED, changed);
  return () => {
    removeEventListener("popstate", changed);
    removeEventListener(MOVED, changed);
  };
}

interface Options {
  /** A person followed a link: reading goes on at the new screen's heading. */
  focus?: boolean;
}

export function navigate(path: string, options: Options = {}): void {
  if (path === location.pathname) return;
  focusHeading = options.focus ?? false;
  history.pushState(null, "", path);
  dispatchEvent(new Event(MOVED));
}

/** True once after a navigation that moves the focus. */
export function takeFocusRequest(): boolean {
  const wanted = focusHeading;
  focusHeading = false;
  return wanted;
}

/** The address of a step or source, without a new entry in the history. */
export function setAnchor(anchor: string): void {
  history.replaceState(null, "", anchor ? `#${anchor}` : location.pathname);
}

interface LinkProperties extends AnchorHTMLAttributes<HTMLAnchorElement> {
  to: string;
}

export function Link({ to, onClick, ...rest }: LinkProperties) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event);
    const plain = !(event.metaKey || event.ctrlKey || event.shiftKey || event.button > 0);
    if (event.defaultPrevented || !plain) return;
    event.preventDefault();
    navigate(to, { focus: true });
  };
  return <a href={to} onClick={follow} {...rest} />;
}
