import assert from "node:assert/strict";
import { test } from "node:test";
import type { LedgerItem } from "../api/types.ts";
import { groupsOf, totalsOf } from "./ledger.ts";

const item = (run_id: string, n: number, more: Partial<LedgerItem> = {}): LedgerItem => ({
  run_id,
  n,
  method: "GET",
  host: "e.test",
  path: "/",
  bytes_out: 10,
  why: "visit_webpage",
  permission: "web",
  status: 200,
  bytes_in: 100,
  sent: true,
  ...more,
});

test("what was not sent is no request, what is open is one", () => {
  const unsent = item("a", 1, { sent: false, bytes_out: 0, status: null, bytes_in: 0 });
  const open = item("a", 2, { sent: null, status: null, bytes_in: null });
  assert.deepEqual(totalsOf([unsent, open, item("b", 1)]), { requests: 2, bytesOut: 20, bytesIn: 100 });
});

test("the run's own requests stand first, each child's together", () => {
  const groups = groupsOf([item("c1", 1), item("own", 1), item("c2", 1), item("c1", 2)], "own");
  assert.deepEqual(
    groups.map((group) => [group.runId, group.items.map(({ n }) => n)]),
    [["own", [1]], ["c1", [1, 2]], ["c2", [1]]],
  );
});
