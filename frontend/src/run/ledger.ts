// The ledger of a run and its child runs: what left, to whom, why, by whose permission.

import type { LedgerItem } from "../api/types.ts";
import type { RunView } from "./view.ts";

export interface Totals {
  requests: number;
  bytesOut: number;
  bytesIn: number;
}

/** The requests in the run's own log. Those of its child runs are in theirs. */
export function ownLedger(view: RunView): LedgerItem[] {
  return view.egress.map((entry) => ({
    run_id: view.id,
    n: entry.n,
    method: entry.method,
    host: entry.host,
    path: entry.path,
    bytes_out: entry.bytesOut,
    why: entry.why,
    permission: entry.permission,
    status: entry.finished?.status ?? null,
    bytes_in: entry.finished?.bytesIn ?? null,
    sent: entry.finished?.sent ?? null,
  }));
}

/** A request whose end is not known is taken to have left. */
export function totalsOf(items: readonly LedgerItem[]): Totals {
  return {
    requests: items.filter((item) => item.sent !== false).length,
    bytesOut: items.reduce((sum, item) => sum + item.bytes_out, 0),
    bytesIn: items.reduce((sum, item) => sum + (item.bytes_in ?? 0), 0),
  };
}

export interface LedgerGroup {
  runId: string;
  items: LedgerItem[];
}

/** By run, the run itself first, its children in the order of their first request. */
export function groupsOf(items: readonly LedgerItem[], own: string): LedgerGroup[] {
  const groups = new Map<string, LedgerItem[]>();
  for (const item of items) {
    const group = groups.get(item.run_id);
    if (group) group.push(item);
    else groups.set(item.run_id, [item]);
  }
  const found = [...groups].map(([runId, group]) => ({ runId, items: group }));
  return found.sort((a, b) => Number(b.runId === own) - Number(a.runId === own));
}

/** Ids of the runs that the run's calls started. */
export function childrenOf(view: RunView): string[] {
  return view.steps.flatMap((step) => step.calls.flatMap(({ child }) => (child ? [child.id] : [])));
}
