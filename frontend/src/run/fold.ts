// Events -> RunView. Pure from outside: a batch is folded into a new view, the old one is untouched.
// Inside one batch lists are copied once and then filled, so that 50,000 events cost one pass.

import type { LiveFrame, LoggedEvent, RunEvent, Source, ToolCall } from "../api/types.ts";
import { t } from "../strings/index.ts";
import { type CallView, type EgressView, NOT_LIVE, type RunView, type StepView } from "./view.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Handlers = {
  [Type in RunEvent["type"]]?: (run: Draft, event: Extract<RunEvent, { type: Type }>) => void;
};

export function fold(view: RunView, events: readonly LoggedEvent[]): RunView {
  const fresh = events.filter((event) => event.seq > view.lastSeq);
  if (fresh.length === 0) return view;
  const draft = new Draft(view);
  for (const event of fresh) draft.take(event);
  return draft.finish(fresh);
}

export function foldLive(view: RunView, frame: LiveFrame): RunView {
  const live = view.live;
  if (frame.type === "text_delta") {
    return { ...view, live: { ...live, text: live.text + frame.text, thinking: false } };
  }
  if (frame.type === "reasoning_delta") {
    const reasoning = live.reasoning + (frame.text ?? "");
    return { ...view, live: { ...live, thinking: true, reasoning } };
  }
  return view;
}

/** After a lost connection the pieces in between are gone; half a text would mislead. */
export function dropLive(view: RunView): RunView {
  const { modelSince } = view.live;
  return { ...view, live: { ...NOT_LIVE, modelSince } };
}

class Draft {
  readonly run: Mutable<RunView>;
  readonly steps: StepView[];
  readonly egress: EgressView[];
  readonly #sources: Map<number, Source>;
  #sourcesChanged = false;

  constructor(view: RunView) {
    this.run = { ...view };
    this.steps = [...view.steps];
    this.egress = [...view.egress];
    this.#sources = new Map(view.sources.map((source) => [source.n, source]));
  }

  take(event: LoggedEvent): void {
    this.run.lastSeq = event.seq;
    const handle = HANDLERS[event.type as RunEvent["type"]] as
      | ((run: Draft, event: LoggedEvent) => void)
      | undefined;
    if (handle && !isErased(event)) handle(this, event);
  }

  finish(fresh: readonly LoggedEvent[]): RunView {
    const events = [...this.run.events, ...fresh];
    const sources = this.#sourcesChanged
      ? [...this.#sources.values()].sort((a, b) => a.n - b.n)
      : this.run.sources;
    return { ...this.run, events, steps: this.steps, egress: this.egress, sources };
  }

  addSources(sources: readonly Source[]): void {
    for (const source of sources) this.#sources.set(source.n, source);
    this.#sourcesChanged ||= sources.length > 0;
  }

  changeStep(change: (step: StepView) => Partial<StepView>): void {
    const last = this.steps.at(-1);
    if (last) this.steps[this.steps.length - 1] = { ...last, ...change(last) };
  }

  /** A line in the present step: what a guardrail said, what became of the context. */
  note(seq: number, guardrail: string, text: string): void {
    this.changeStep((step) => ({ objections: [...step.objections, { guardrail, text, seq }] }));
  }

  /** The row of a call in the present step. */
  rowOf(id: string): CallView | undefined {
    return this.steps.at(-1)?.calls.find(({ call }) => call.id === id);
  }

  /** Puts `changed` over the call's row in the present step, or adds the row. */
  putCall(call: ToolCall, seq: number, changed: Partial<CallView>): void {
    this.changeStep((step) => {
      const index = step.calls.findIndex((known) => known.call.id === call.id);
      const known = step.calls[index] ?? newRow(call, seq, step.calls);
      const row = { ...known, call, seq, ...changed };
      if (index < 0) return { calls: [...step.calls, row] };
      return { calls: step.calls.map((other, at) => (at === index ? row : other)) };
    });
  }
}

function newRow(call: ToolCall, seq: number, neighbours: readonly CallView[]): CallView {
  const last = neighbours.at(-1);
  const besideOther = neighbours.some((other) => other.finished === null);
  const group = last === undefined ? 0 : besideOther ? last.group : last.group + 1;
  return {
    call,
    effect: null,
    startedAt: null,
    finished: null,
    network: false,
    bytesOut: 0,
    approval: null,
    child: null,
    group,
    seq,
  };
}

const HANDLERS: Handlers = {
  run_started({ run }, event) {
    run.status = "running";
    run.startedAt = event.at;
    run.model = event.model;
    run.parent = event.parent ?? null;
    run.messages = event.request.messages;
    run.knowledge = event.request.knowledge ?? [];
    run.web = event.request.web === true;
    run.session = event.request.session ?? null;
  },

  prompt_built({ run }, event) {
    run.maxSteps = event.max_steps;
    run.tools = event.tools;
    run.noWebBecause = run.web ? whyNoWeb(event.system, event.tools) : null;
  },

  step_started({ run, steps }, event) {
    run.status = "running";
    run.live = NOT_LIVE;
    // After a crash the step that was going on is taken up again under its number.
    if (steps.at(-1)?.n === event.step) return;
    steps.push({
      n: event.step,
      startedAt: event.at,
      remaining: event.remaining,
      reply: null,
      calls: [],
      objections: [],
    });
  },

  model_requested({ run }, event) {
    run.live = { ...NOT_LIVE, modelSince: event.at };
  },

  model_replied(draft, event) {
    const { run } = draft;
    run.live = NOT_LIVE;
    run.inputTokens += event.usage?.input_tokens ?? 0;
    run.outputTokens += event.usage?.output_tokens ?? 0;
    if (event.purpose !== "loop") return;
    if (event.rejected) {
      const isCut = event.rejected === "context_truncated";
      draft.note(event.seq, "context", isCut ? t("context.cut") : t("context.refused"));
      return;
    }
    draft.changeStep(() => ({
      reply: {
        seq: event.seq,
        text: event.message.text ?? "",
        askedForCalls: (event.message.tool_calls ?? []).length > 0,
        reasoning: event.reasoning?.text || null,
        outputTokens: event.usage?.output_tokens ?? null,
        recoveredFrom: event.recovered_from,
        malformedCall: event.malformed_call ?? null,
        toolMode: event.tool_mode,
        repairs: event.repairs ?? [],
      },
    }));
  },

  approval_requested(draft, event) {
    const { call, reason, expires_at: expiresAt, requests = [], preview = "" } = event;
    const approval = { call, reason, requests, preview, expiresAt, decided: null };
    draft.putCall(call, event.seq, { approval });
  },

  approval_decided(draft, event) {
    const row = draft.rowOf(event.call);
    if (!row?.approval) return;
    const decided = {
      decision: event.decision,
      arguments: event.arguments ?? null,
      by: event.by ?? null,
      requests: event.requests ?? [],
      preview: event.preview ?? "",
      at: event.at,
    };
    draft.putCall(row.call, event.seq, { approval: { ...row.approval, decided } });
  },

  child_started(draft, event) {
    const row = draft.rowOf(event.call);
    // A resumed parent finds the same child again: it is told of twice and is one.
    if (row) draft.putCall(row.call, row.seq, { child: { id: event.child_run_id, status: null } });
  },

  child_finished(draft, event) {
    const row = draft.rowOf(event.call);
    const child = { id: event.child_run_id, status: event.status };
    if (row) draft.putCall(row.call, row.seq, { child });
  },

  tool_started(draft, event) {
    draft.putCall(event.call, event.seq, {
      effect: event.effect,
      network: event.network,
      startedAt: event.at,
    });
  },

  tool_finished(draft, event) {
    draft.addSources(event.sources ?? []);
    draft.putCall(event.call, event.seq, {
      network: event.network,
      finished: {
        result: event.result,
        isError: event.is_error,
        blocked: event.blocked,
        durationMs: event.duration_ms,
        truncatedTo: event.truncated_to,
        coerced: event.coerced ?? [],
        sources: event.sources ?? [],
        fromMemory: event.from_memory ?? false,
        labels: event.labels ?? [],
      },
    });
  },

  egress_started(draft, event) {
    const calls = draft.steps.at(-1)?.calls ?? [];
    const open = calls.filter((row) => row.network && !row.finished);
    // An older log does not say which call sent it; with one open network call there is no doubt.
    const only = event.call ? draft.rowOf(event.call) : open.length === 1 ? open[0] : undefined;
    draft.egress.push({
      n: event.n,
      at: event.at,
      method: event.method,
      host: event.host,
      path: event.path,
      bytesOut: event.bytes_out,
      why: event.why,
      permission: event.permission,
      callId: only?.call.id ?? null,
      finished: null,
    });
    if (only) draft.putCall(only.call, only.seq, { bytesOut: only.bytesOut + event.bytes_out });
  },

  egress_finished(draft, event) {
    const index = draft.egress.findLastIndex((entry) => entry.n === event.n);
    const entry = draft.egress[index];
    if (!entry) return;
    const sent = event.sent !== false;
    const finished = { status: event.status, bytesIn: event.bytes_in, sent };
    draft.egress[index] = { ...entry, bytesOut: sent ? entry.bytesOut : 0, finished };
    const row = entry.callId === null ? undefined : draft.rowOf(entry.callId);
    if (row && !sent) {
      draft.putCall(row.call, row.seq, { bytesOut: row.bytesOut - entry.bytesOut });
    }
  },

  context_compacted(draft, event) {
    const { before, after } = event;
    draft.note(event.seq, "context", t("context.compacted", { before, after }));
  },

  guardrail_objected(draft, event) {
    draft.note(event.seq, event.guardrail, event.text);
  },

  run_waiting({ run }, event) {
    run.status = "waiting";
    run.waitingFor = event.reason;
    run.live = NOT_LIVE;
  },

  run_resumed({ run }) {
    run.status = "running";
    run.waitingFor = null;
    run.live = NOT_LIVE;
  },

  run_finished(draft, event) {
    const { run } = draft;
    run.status = event.status;
    run.waitingFor = null;
    run.reason = event.reason;
    run.explanation = event.explanation;
    run.answer = event.answer;
    run.unsupported = event.unsupported ?? [];
    run.finishedAt = event.at;
    run.live = NOT_LIVE;
    draft.addSources(event.sources ?? []);
  },
};

/** The model is told in one line why a tool is missing (agent/strategies.py); so is its user. */
function whyNoWeb(system: string, tools: readonly string[]): string | null {
  if (tools.some((name) => WEB_TOOLS.includes(name))) return null;
  const told = "web_search does not exist in this run: ";
  const line = system.split("\n").find((each) => each.startsWith(told));
  return line?.slice(told.length) ?? t("run.no_web.unknown");
}

const WEB_TOOLS = ["web_search", "visit_webpage", "web_research"];

/** A payload can be erased on request; its place in the log stays. */
function isErased(event: LoggedEvent): boolean {
  for (const key in event) {
    if (key !== "seq" && key !== "run_id" && key !== "at" && key !== "type" && key !== "erased") {
      return false;
    }
  }
  return true;
}
