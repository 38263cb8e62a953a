import assert from "node:assert/strict";
import { test } from "node:test";
import type { LoggedEvent } from "../api/types.ts";
import { dropLive, fold, foldLive } from "./fold.ts";
import { childrenOf, ownLedger, totalsOf } from "./ledger.ts";
import { addressOf, pagesRead } from "./read-pages.ts";
import { emptyRun, hasEnded, openChildren, pendingApprovals, questionOf } from "./view.ts";

const at = (second: number) => new Date(Date.UTC(2026, 10, 30, 12, 0, second)).toISOString();
let seq = 0;

function log(...events: (Record<string, unknown> & { type: string })[]): LoggedEvent[] {
  seq = 0;
  return events.map((event) => ({ seq: seq++, run_id: "r", at: at(seq), ...event }));
}

const call = (id: string, name = "calculate") => ({ id, name, arguments: { expression: "1+1" } });
const started = {
  type: "run_started",
  model: "qwen3",
  parent: null,
  today: "2026-11-30",
  request: {
    messages: [
      { role: "user", text: "before" },
      { role: "assistant", text: "answered" },
      { role: "user", text: "now" },
    ],
    knowledge: ["kb"],
    web: true,
    session: "s",
  },
};
const step = (n: number) => ({ type: "step_started", step: n, remaining: 9 });
const requested = { type: "model_requested", step: 1, purpose: "loop", ordinal: 0, window: null };
const replied = (calls: object[], text = "", more: object = {}) => ({
  type: "model_replied",
  step: 1,
  purpose: "loop",
  ordinal: 0,
  message: { role: "assistant", text, tool_calls: calls },
  reasoning: null,
  usage: { input_tokens: 10, output_tokens: 5 },
  finish_reason: "stop",
  recovered_from: null,
  tool_mode: "native",
  repairs: [],
  ...more,
});
const begins = (made: object, network = false) => ({
  type: "tool_started",
  call: made,
  effect: "read",
  network,
});
const ends = (made: object, more: object = {}) => ({
  type: "tool_finished",
  call: made,
  result: "2",
  is_error: false,
  blocked: false,
  network: false,
  duration_ms: 3,
  truncated_to: null,
  coerced: [],
  sources: [],
  ...more,
});
const finished = (more: object = {}) => ({
  type: "run_finished",
  status: "complete",
  reason: null,
  explanation: "Done.",
  answer: "two [1]",
  sources: [],
  unsupported: [],
  ...more,
});

test("a run's request, steps, calls, tokens and end are read from its events", () => {
  const run = fold(
    emptyRun("r"),
    log(started, step(1), requested, replied([call("a")]), begins(call("a")), ends(call("a")), finished()),
  );
  assert.equal(questionOf(run), "now");
  assert.deepEqual([run.model, run.session, run.web], ["qwen3", "s", true]);
  assert.equal(run.steps.length, 1);
  assert.equal(run.steps[0]?.calls[0]?.finished?.result, "2");
  assert.deepEqual([run.inputTokens, run.outputTokens], [10, 5]);
  assert.deepEqual([run.status, run.answer, hasEnded(run.status)], ["complete", "two [1]", true]);
});

test("any split into batches gives the same view, and folding leaves the old view as it was", () => {
  const events = log(
    started,
    step(1),
    requested,
    replied([call("a"), call("b")]),
    begins(call("a")),
    begins(call("b")),
    ends(call("b")),
    ends(call("a"), { sources: [{ n: 1, kind: "document", title: "t" }] }),
    step(2),
    requested,
    replied([], "two"),
    finished(),
  );
  const whole = fold(emptyRun("r"), events);
  for (let cut = 0; cut <= events.length; cut++) {
    const half = fold(emptyRun("r"), events.slice(0, cut));
    const before = JSON.stringify(half);
    assert.deepEqual(fold(half, events.slice(cut)), whole);
    assert.equal(JSON.stringify(half), before);
  }
});

test("events that were seen already change nothing", () => {
  const events = log(started, step(1), requested, replied([]));
  const run = fold(emptyRun("r"), events);
  assert.equal(fold(run, events), run);
});

test("calls that overlap share a group, calls one after another do not", () => {
  const run = fold(
    emptyRun("r"),
    log(
      started,
      step(1),
      begins(call("a")),
      begins(call("b")),
      ends(call("a")),
      ends(call("b")),
      begins(call("c")),
      ends(call("c")),
    ),
  );
  assert.deepEqual(run.steps[0]?.calls.map((row) => row.group), [0, 0, 1]);
});

test("a blocked call has a row although it never started, and does not leave the machine", () => {
  const made = call("x", "web_search");
  const blocked = ends(made, { is_error: true, blocked: true, result: "not in this run" });
  const [row] = fold(emptyRun("r"), log(started, step(1), blocked)).steps[0]?.calls ?? [];
  assert.equal(row?.finished?.blocked, true);
  assert.equal(row?.network, false);
});

test("what left is counted for the one open network call, and for none where it is not clear", () => {
  const egress = { type: "egress_started", n: 1, method: "GET", host: "h", path: "/", bytes_out: 64, why: "", permission: "web" };
  const one = fold(emptyRun("r"), log(started, step(1), begins(call("a"), true), egress));
  assert.equal(one.steps[0]?.calls[0]?.bytesOut, 64);
  const two = fold(
    emptyRun("r"),
    log(started, step(1), begins(call("a"), true), begins(call("b"), true), egress),
  );
  assert.deepEqual(two.steps[0]?.calls.map((row) => row.bytesOut), [0, 0]);
  assert.equal(two.egress[0]?.finished, null);
});

test("a request that found no connection is on the ledger, and none of its bytes are counted", () => {
  const egress = { type: "egress_started", n: 1, method: "GET", host: "h", path: "/", bytes_out: 64, why: "", permission: "web" };
  const end = { type: "egress_finished", n: 1, status: null, bytes_in: 0 };
  const unsent = fold(
    emptyRun("r"),
    log(started, step(1), begins(call("a"), true), egress, { ...end, sent: false }),
  );
  assert.equal(unsent.steps[0]?.calls[0]?.bytesOut, 0);
  assert.deepEqual(totalsOf(ownLedger(unsent)), { requests: 0, bytesOut: 0, bytesIn: 0 });
  const cut = fold(emptyRun("r"), log(started, step(1), begins(call("a"), true), egress, end));
  assert.deepEqual(totalsOf(ownLedger(cut)), { requests: 1, bytesOut: 64, bytesIn: 0 });
});

test("the run's own list at the end says what was cited; the rest stays as seen", () => {
  const seen = { n: 1, kind: "document", title: "t", quote: "q" };
  const run = fold(
    emptyRun("r"),
    log(started, step(1), ends(call("a"), { sources: [seen, { ...seen, n: 2 }] }), finished({ sources: [{ ...seen, cited: true, supported: true }] })),
  );
  assert.deepEqual(run.sources.map((source) => [source.n, source.cited]), [[1, true], [2, undefined]]);
});

test("a step taken up again after a crash stays one step", () => {
  const run = fold(
    emptyRun("r"),
    log(started, step(1), begins(call("a")), { type: "run_resumed", by: "x", epoch: 2 }, step(1), begins(call("a")), ends(call("a"))),
  );
  assert.equal(run.steps.length, 1);
  assert.equal(run.steps[0]?.calls.length, 1);
});

test("a model call for another purpose counts its tokens and is no row", () => {
  const run = fold(emptyRun("r"), log(started, step(1), replied([], "a plan", { purpose: "plan" })));
  assert.equal(run.steps[0]?.reply, null);
  assert.equal(run.outputTokens, 5);
});

test("unknown and erased events keep their place in the log and change nothing else", () => {
  const run = fold(
    emptyRun("r"),
    log(started, { type: "from_the_future", more: 1 }, { type: "tool_finished", erased: true }, finished()),
  );
  assert.equal(run.events.length, 4);
  assert.equal(run.status, "complete");
});

test("live pieces show thinking as a state, then the text, and go when the reply is there", () => {
  const open = fold(emptyRun("r"), log(started, step(1), requested));
  assert.notEqual(open.live.modelSince, null);
  const thinking = foldLive(open, { type: "reasoning_delta" });
  assert.deepEqual([thinking.live.thinking, thinking.live.reasoning], [true, ""]);
  const writing = foldLive(foldLive(thinking, { type: "text_delta", text: "tw" }), { type: "text_delta", text: "o" });
  assert.deepEqual([writing.live.thinking, writing.live.text], [false, "two"]);
  assert.equal(foldLive(writing, { type: "heartbeat" }), writing);
  const lost = dropLive(writing);
  assert.deepEqual([lost.live.text, lost.live.modelSince], ["", open.live.modelSince]);
  const [, , , reply] = log(started, step(1), requested, replied([], "two"));
  assert.equal(fold(writing, reply ? [reply] : []).live.text, "");
});

test("thinking is shown where the server sends its text, and nowhere else", () => {
  const hidden = fold(emptyRun("r"), log(started, step(1), replied([], "x", { reasoning: { hidden: true } })));
  assert.equal(hidden.steps[0]?.reply?.reasoning, null);
  const open = fold(emptyRun("r"), log(started, step(1), replied([], "x", { reasoning: { text: "hm" } })));
  assert.equal(open.steps[0]?.reply?.reasoning, "hm");
});

test("a reply that was a call nobody can read says why", () => {
  const malformed_call = "the call of 'echo' ends before it is complete";
  const view = fold(emptyRun("r"), log(started, step(1), requested, replied([], "", { malformed_call })));
  assert.equal(view.steps[0]?.reply?.malformedCall, malformed_call);
  const plain = fold(emptyRun("r"), log(started, step(1), requested, replied([], "two")));
  assert.equal(plain.steps[0]?.reply?.malformedCall, null);
});

test("a cut prompt and a compaction are lines of their step; the cut reply is not the step's", () => {
  const view = fold(
    emptyRun("r"),
    log(
      started,
      step(1),
      requested,
      replied([], "Which letter?", { rejected: "context_truncated" }),
      { type: "context_compacted", before: 5000, after: 1200, kept: 2, summary: "Read." },
      requested,
      replied([], "It is 4."),
    ),
  );
  const [only] = view.steps;
  assert.deepEqual(
    only?.objections.map((line) => line.guardrail),
    ["context", "context"],
  );
  assert.match(only?.objections[1]?.text ?? "", /5000|5,000/);
  assert.equal(only?.reply?.text, "It is 4.");
});

const asks = (made: object) => ({
  type: "approval_requested",
  call: made,
  reason: "Each search query is shown before it leaves.",
  preview: "Asks lite.duckduckgo.com.",
  sha256: "a",
  expires_at: "2026-11-30T15:00:00Z",
  requests: [{ method: "POST", url: "https://lite.duckduckgo.com/lite/", body: "q=x" }],
});
const decides = (id: string, decision: string, more: object = {}) => ({
  type: "approval_decided",
  call: id,
  decision,
  arguments: null,
  by: "page",
  ...more,
});

test("a call that waits for a person has its row before it starts, with what it would send", () => {
  const waiting = { type: "run_waiting", reason: "approval" };
  const run = fold(emptyRun("r"), log(started, step(1), asks(call("a", "web_search")), waiting));
  const [row] = run.steps[0]?.calls ?? [];
  assert.deepEqual([row?.startedAt, row?.network, row?.approval?.requests.length], [null, false, 1]);
  assert.equal(pendingApprovals(run)[0]?.call.id, "a");
  assert.deepEqual([run.status, run.waitingFor], ["waiting", "approval"]);
});

for (const decision of ["approved", "edited", "denied", "timed_out", "expired"]) {
  test(`a decision stays with its call: ${decision}`, () => {
    const made = call("a", "web_search");
    const instead = { arguments: { query: "y" }, preview: "Asks for y.", requests: [] };
    const more = decision === "edited" ? instead : {};
    const resumed = { type: "run_resumed", by: "x", epoch: 2 };
    const run = fold(
      emptyRun("r"),
      log(started, step(1), asks(made), resumed, step(1), decides("a", decision, more)),
    );
    const approval = run.steps[0]?.calls[0]?.approval;
    assert.equal(approval?.decided?.decision, decision);
    assert.deepEqual(approval?.call.arguments, made.arguments);
    assert.deepEqual(approval?.decided?.arguments, decision === "edited" ? { query: "y" } : null);
    assert.deepEqual(pendingApprovals(run), []);
  });
}

test("the call that runs after an edit has the edited arguments, and what was asked is kept", () => {
  const made = call("a", "web_search");
  const edited = { ...made, arguments: { query: "y" } };
  const run = fold(
    emptyRun("r"),
    log(started, step(1), asks(made), decides("a", "edited", { arguments: { query: "y" } }), begins(edited, true), ends(edited)),
  );
  const rows = run.steps[0]?.calls ?? [];
  assert.equal(rows.length, 1);
  assert.deepEqual(rows[0]?.call.arguments, { query: "y" });
  assert.deepEqual(rows[0]?.approval?.call.arguments, made.arguments);
});

test("nothing waits for a person any more once the run has ended", () => {
  const run = fold(emptyRun("r"), log(started, step(1), asks(call("a")), finished({ status: "cancelled" })));
  assert.deepEqual(pendingApprovals(run), []);
});

test("a child run belongs to the call that started it, also when its parent was resumed", () => {
  const made = call("a", "web_research");
  const child = { call: "a", child_run_id: "child" };
  const begun = log(started, step(1), begins(made), { type: "child_started", ...child }, { type: "run_resumed", by: "x", epoch: 2 }, step(1), begins(made), { type: "child_started", ...child });
  const open = fold(emptyRun("r"), begun);
  assert.deepEqual([openChildren(open), childrenOf(open)], [["child"], ["child"]]);
  const end = { seq: begun.length, run_id: "r", at: at(50), type: "child_finished", ...child, status: "complete" };
  const closed = fold(open, [end]);
  assert.deepEqual(closed.steps[0]?.calls[0]?.child, { id: "child", status: "complete" });
  assert.deepEqual(openChildren(closed), []);
});

test("a request counts for the call that the log names, however many are open", () => {
  const egress = { type: "egress_started", n: 1, method: "GET", host: "h", path: "/", bytes_out: 64, why: "", permission: "web", call: "b" };
  const run = fold(
    emptyRun("r"),
    log(started, step(1), begins(call("a"), true), begins(call("b"), true), egress),
  );
  assert.deepEqual(run.steps[0]?.calls.map((row) => row.bytesOut), [0, 64]);
});

test("why there is no web is what the model was told, and said only where it was asked for", () => {
  const told = "web_search does not exist in this run: the operator blocks web search.";
  const built = (tools: string[]) => ({ type: "prompt_built", system: `You are…\n\n${told}\n\nMore.`, tools, max_steps: 12 });
  assert.equal(fold(emptyRun("r"), log(started, built(["calculate"]))).noWebBecause, "the operator blocks web search.");
  assert.equal(fold(emptyRun("r"), log(started, built(["visit_webpage"]))).noWebBecause, null);
  const off = { ...started, request: { ...started.request, web: false } };
  assert.equal(fold(emptyRun("r"), log(off, built(["calculate"]))).noWebBecause, null);
});

test("a page was read where a visit gave it back, not where a search listed it", () => {
  const page = (n: number, url: string) => ({ n, kind: "web", title: "t", url });
  const visit = (id: string, url: string) => ({ id, name: "visit_webpage", arguments: { url } });
  const search = call("s", "web_search");
  const moved = visit("v", "https://a.test/old#part");
  const failed = visit("w", "https://c.test/");
  const run = fold(
    emptyRun("r"),
    log(
      started,
      step(1),
      ends(search, { sources: [page(1, "https://b.test/")] }),
      ends(moved, { sources: [page(2, "https://a.test/new")] }),
      ends(failed, { is_error: true }),
    ),
  );
  assert.deepEqual(pagesRead(run), ["https://a.test/old", "https://a.test/new"]);
  assert.equal(addressOf("https://A.test"), "https://a.test/");
});
