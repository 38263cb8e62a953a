import assert from "node:assert/strict";
import { test } from "node:test";
import { cachedWords } from "./cached.ts";
import type { CallView } from "./view.ts";

function row(name: string, result: string, more: Partial<CallView> = {}): CallView {
  return {
    call: { id: "a", name, arguments: {} },
    effect: "read",
    startedAt: "2026-11-30T12:00:00Z",
    finished: {
      result,
      isError: false,
      blocked: false,
      durationMs: 1,
      truncatedTo: null,
      coerced: [],
      sources: [],
      fromMemory: false,
      labels: [],
    },
    network: false,
    bytesOut: 0,
    approval: null,
    child: null,
    group: 0,
    seq: 0,
    ...more,
  };
}

const search = "From the cache: brave was asked this 3 days ago. Nothing was sent.\nResults from brave; …";
const page = (when: string, title = "A page") => `[1] ${title}\nhttps://a.test/\n${when} What the page says…`;
const CACHED = "Read 2026-11-30 09:59 UTC, out of the cache; nothing was sent.";

test("what came out of the cache says how old it is", () => {
  assert.equal(cachedWords(row("web_search", search)), "from the cache, 3 days ago");
  assert.equal(cachedWords(row("visit_webpage", page(CACHED))), "from the cache, 2 hours ago");
  const before = "Read 2026-11-30 11:59 UTC, earlier in this run; nothing was sent.";
  assert.equal(cachedWords(row("visit_webpage", page(before))), "read before in this run");
});

test("a call that a person edited can be answered from the cache, too", () => {
  const notice = '[The user changed this call before it was sent, to "b".]\n\n';
  assert.equal(cachedWords(row("web_search", notice + search)), "from the cache, 3 days ago");
});

test("a page that claims to be out of the cache is not, nor is a call that left", () => {
  const fresh = "Read 2026-11-30 11:59 UTC.";
  assert.equal(cachedWords(row("visit_webpage", page(fresh, CACHED))), "");
  assert.equal(cachedWords(row("visit_webpage", `${page(fresh)}\n${CACHED}`)), "");
  assert.equal(cachedWords(row("web_search", `Results from x\n${search}`)), "");
  assert.equal(cachedWords(row("web_search", search, { network: true })), "");
  assert.equal(cachedWords(row("calculate", search)), "");
});
