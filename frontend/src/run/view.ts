// A run as the page shows it. Made from events by fold.ts alone; screens only read it.

import type { Decision, Label, LoggedEvent, Message, Outgoing, Source, Status, ToolCall } from "../api/types.ts";

/** What a person is asked before a call may leave, and what became of it. */
export interface ApprovalView {
  /** The call as the model made it. */
  call: ToolCall;
  reason: string;
  /** The requests in one sentence. */
  preview: string;
  requests: readonly Outgoing[];
  expiresAt: string;
  /** null while nobody has decided. */
  decided: {
    decision: Decision;
    /** The arguments that a person put in the place of the model's. */
    arguments: Record<string, unknown> | null;
    by: string | null;
    /** Of an edit: what may be sent now. */
    requests: readonly Outgoing[];
    preview: string;
    at: string;
  } | null;
}

export interface CallView {
  call: ToolCall;
  effect: "read" | "write" | null;
  startedAt: string | null;
  /** null while the call is going on. */
  finished: {
    result: string;
    isError: boolean;
    blocked: boolean;
    durationMs: number;
    truncatedTo: number | null;
    coerced: readonly string[];
    sources: readonly Source[];
    fromMemory: boolean;
    labels: readonly Label[];
  } | null;
  /** The call leaves this machine. */
  network: boolean;
  bytesOut: number;
  approval: ApprovalView | null;
  /** The run that the call started; `status` is null while it goes on. */
  child: { id: string; status: Status | null } | null;
  /** Calls with the same number ran side by side. */
  group: number;
  /** seq of the event that says most about the call: its end, else its start. */
  seq: number;
}

export interface ReplyView {
  seq: number;
  text: string;
  askedForCalls: boolean;
  reasoning: string | null;
  outputTokens: number | null;
  recoveredFrom: string | null;
  /** Why what the model meant as a call could not be read. */
  malformedCall: string | null;
  toolMode: string;
  repairs: readonly string[];
}

export interface StepView {
  n: number;
  startedAt: string;
  remaining: number;
  reply: ReplyView | null;
  calls: readonly CallView[];
  objections: readonly { guardrail: string; text: string; seq: number }[];
}

export interface EgressView {
  n: number;
  at: string;
  method: string;
  host: string;
  path: string;
  bytesOut: number;
  why: string;
  permission: string;
  /** The call whose bytes it is counted for; null where that is not clear. */
  callId: string | null;
  /** null while it is open; `sent` is false where no connection came about: nothing left. */
  finished: { status: number | null; bytesIn: number; sent: boolean } | null;
}

export interface RunView {
  id: string;
  events: readonly LoggedEvent[];
  lastSeq: number;
  status: Status;
  waitingFor: string | null;
  reason: string | null;
  explanation: string;
  model: string;
  /** The run that delegated to this one. */
  parent: string | null;
  messages: readonly Message[];
  knowledge: readonly string[];
  web: boolean;
  /** Why there is no web although it was asked for. */
  noWebBecause: string | null;
  session: string | null;
  startedAt: string | null;
  finishedAt: string | null;
  maxSteps: number | null;
  tools: readonly string[];
  steps: readonly StepView[];
  egress: readonly EgressView[];
  answer: string;
  /** What tools have shown so far; at the end, the run's own list. */
  sources: readonly Source[];
  unsupported: readonly string[];
  inputTokens: number;
  outputTokens: number;
  live: LiveView;
}

/** What streams in before its event is there. */
export interface LiveView {
  /** A model call is open since this event. */
  modelSince: string | null;
  text: string;
  /** The model thinks: it has sent thoughts and no text since. */
  thinking: boolean;
  /** There only where the server shows reasoning. */
  reasoning: string;
}

export const NOT_LIVE: LiveView = { modelSince: null, text: "", thinking: false, reasoning: "" };

export function emptyRun(id: string): RunView {
  return {
    id,
    events: [],
    lastSeq: -1,
    status: "queued",
    waitingFor: null,
    reason: null,
    explanation: "",
    model: "",
    parent: null,
    messages: [],
    knowledge: [],
    web: false,
    noWebBecause: null,
    session: null,
    startedAt: null,
    finishedAt: null,
    maxSteps: null,
    tools: [],
    steps: [],
    egress: [],
    answer: "",
    sources: [],
    unsupported: [],
    inputTokens: 0,
    outputTokens: 0,
    live: NOT_LIVE,
  };
}

const ENDED: readonly Status[] = ["complete", "incomplete", "cancelled", "failed"];

export function hasEnded(status: Status): boolean {
  return ENDED.includes(status);
}

/** What a person was asked in the run, in the model's order. */
export function approvalsOf(view: RunView): ApprovalView[] {
  return view.steps.flatMap((step) => step.calls.flatMap(({ approval }) => approval ?? []));
}

/** What a person still has to decide on. */
export function pendingApprovals(view: RunView): ApprovalView[] {
  if (hasEnded(view.status)) return [];
  return approvalsOf(view).filter((approval) => approval.decided === null);
}

/** Calls of the last step whose child runs have not ended. */
export function openChildren(view: RunView): string[] {
  if (hasEnded(view.status)) return [];
  const calls = view.steps.at(-1)?.calls ?? [];
  return calls.flatMap(({ child }) => (child && child.status === null ? [child.id] : []));
}

export function questionOf(view: RunView): string {
  return view.messages.findLast((message) => message.role === "user")?.text ?? "";
}
