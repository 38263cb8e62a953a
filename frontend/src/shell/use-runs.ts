import { useCallback, useEffect, useRef, useState } from "react";
import { api } from "../api/client.ts";
import type { RunSummary } from "../api/types.ts";
import { hasEnded } from "../run/view.ts";
import { asError } from "./use-load.ts";

const WATCH_MS = 5_000;

export interface RunList {
  items: readonly RunSummary[];
  loaded: boolean;
  error: Error | null;
  more: boolean;
  loadMore: () => void;
  reload: () => void;
}

/** Past runs, newest first, a page at a time. */
export function useRuns(): RunList {
  const [items, setItems] = useState<readonly RunSummary[]>([]);
  const [next, setNext] = useState<string | null>(null);
  const [loaded, setLoaded] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const loading = useRef(false);
  const isStale = useRef(false);
  const begun = useRef(false);

  const load = useCallback(async (cursor: string | null) => {
    if (loading.current) {
      isStale.current ||= cursor === null;
      return;
    }
    loading.current = true;
    try {
      const page = await api.runs(cursor);
      setItems((before) => merge(before, page.items));
      // A reload reads the first page again; where the list goes on is known already.
      if (cursor !== null || !begun.current) setNext(page.next);
      begun.current = true;
      setError(null);
    } catch (reason) {
      setError(asError(reason));
    } finally {
      loading.current = false;
      setLoaded(true);
    }
    // What was asked for meanwhile may be newer than what this answer knew.
    if (isStale.current) {
      isStale.current = false;
      await load(null);
    }
  }, []);
  const reload = useCallback(() => void load(null), [load]);
  const loadMore = useCallback(() => {
    if (next !== null) void load(next);
  }, [load, next]);

  const busy = items.some((item) => !hasEnded(item.status));
  useEffect(() => {
    reload();
    addEventListener("focus", reload);
    return () => removeEventListener("focus", reload);
  }, [reload]);
  useEffect(() => {
    if (!busy) return;
    const timer = setInterval(reload, WATCH_MS);
    return () => clearInterval(timer);
  }, [busy, reload]);

  return { items, loaded, error, more: next !== null, loadMore, reload };
}

function merge(before: readonly RunSummary[], page: readonly RunSummary[]): RunSummary[] {
  const byId = new Map(before.map((item) => [item.id, item]));
  for (const item of page) byId.set(item.id, item);
  return [...byId.values()].sort((a, b) => b.created_at.localeCompare(a.created_at));
}
