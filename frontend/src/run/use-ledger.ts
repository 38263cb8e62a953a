import { useEffect, useState } from "react";
import { api } from "../api/client.ts";
import type { LedgerItem } from "../api/types.ts";
import { childrenOf, ownLedger } from "./ledger.ts";
import { openChildren, type RunView } from "./view.ts";

/** While a child run goes on, its requests are in its own log only. */
const WATCH_MS = 2_000;

export interface Ledger {
  items: readonly LedgerItem[];
  /** False while what the child runs sent is not known yet. */
  whole: boolean;
}

/** What left in the run and its children. A run without children asks the server for nothing. */
export function useLedger(view: RunView | null): Ledger {
  const [read, setRead] = useState<{ id: string; items: LedgerItem[] } | null>(null);
  const [round, setRound] = useState(0);
  const children = view ? childrenOf(view).length : 0;
  const open = view ? openChildren(view).length : 0;
  const own = view ? view.egress.filter((entry) => entry.finished).length : 0;
  const id = view && children > 0 ? view.id : null;

  useEffect(() => {
    if (open === 0) return;
    const timer = setInterval(() => setRound((before) => before + 1), WATCH_MS);
    return () => clearInterval(timer);
  }, [open]);
  useEffect(() => {
    if (id === null) return;
    const abort = new AbortController();
    api.egress(id, abort.signal).then(
      ({ items }) => setRead({ id, items }),
      () => {}, // the run's own screen says that the server does not answer
    );
    return () => abort.abort();
  }, [id, children, open, own, round, view?.status]);

  if (!view) return { items: [], whole: true };
  if (id === null) return { items: ownLedger(view), whole: true };
  return read?.id === id ? { items: read.items, whole: true } : { items: ownLedger(view), whole: false };
}
