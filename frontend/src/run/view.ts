// A run as the page shows it. Made from events by fold.ts alone; screens only read it.

import type { LoggedEvent, Message, Source, Status, ToolCall } from "../api/types.ts";

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
  } | null;
  /** The call leaves this machine. */
  network: boolean;
  bytesOut: number;
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

/** Whether a request left this machine; one that is open is taken to. */
export function hasLeft(entry: EgressView): boolean {
  return entry.finished?.sent !== false;
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
  messages: readonly Message[];
  knowledge: readonly string[];
  web: boolean;
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
    messages: [],
    knowledge: [],
    web: false,
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

export function questionOf(view: RunView): string {
  return view.messages.findLast((message) => message.role === "user")?.text ?? "";
}
