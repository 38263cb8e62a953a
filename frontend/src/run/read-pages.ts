// Which pages were read, and not only listed by a search.

import { useEffect, useState } from "react";
import { api } from "../api/client.ts";
import { fold } from "./fold.ts";
import { emptyRun, type RunView } from "./view.ts";

/** Addresses of the pages that a run's own calls read. */
export function pagesRead(view: RunView): string[] {
  return view.steps.flatMap((step) =>
    step.calls.flatMap(({ call, finished }) => {
      if (call.name !== "visit_webpage" || !finished || finished.isError) return [];
      const shown = finished.sources.flatMap(({ url }) => (url ? [url] : []));
      return [String(call.arguments.url ?? ""), ...shown].map(addressOf);
    }),
  );
}

/** The same page under the same name: a fragment is the reader's alone. */
export function addressOf(url: string): string {
  try {
    const parsed = new URL(url);
    parsed.hash = "";
    return parsed.href;
  } catch {
    return url;
  }
}

/** An ended run never changes: its pages are asked for once. */
const ofEnded = new Map<string, Promise<readonly string[]>>();

function pagesOfEnded(id: string): Promise<readonly string[]> {
  let pages = ofEnded.get(id);
  if (!pages) {
    pages = api.events(id).then((events) => pagesRead(fold(emptyRun(id), events)));
    pages.catch(() => ofEnded.delete(id));
    ofEnded.set(id, pages);
  }
  return pages;
}

/** Addresses that the run and its ended child runs read; null while they are not known. */
export function usePagesRead(view: RunView): ReadonlySet<string> | null {
  const calls = view.steps.flatMap((step) => step.calls);
  const ended = calls.flatMap(({ child }) => (child && child.status !== null ? [child.id] : []));
  const key = ended.join();
  const [found, setFound] = useState<{ key: string; pages: readonly string[] } | null>(null);
  useEffect(() => {
    if (key === "") return;
    let isCurrent = true;
    Promise.all(key.split(",").map(pagesOfEnded)).then(
      (pages) => isCurrent && setFound({ key, pages: pages.flat() }),
      () => {}, // without them nothing is said about reading
    );
    return () => {
      isCurrent = false;
    };
  }, [key]);
  if (key !== "" && found?.key !== key) return null;
  return new Set([...pagesRead(view), ...(found?.pages ?? [])]);
}
