// The server's shapes: docs of the HTTP API (sections 3 to 5) and src/inglenook/events.py.
// Written by hand until they are generated from /openapi.json.

export type Status =
  | "queued"
  | "running"
  | "waiting"
  | "complete"
  | "incomplete"
  | "cancelled"
  | "failed";

export type Role = "system" | "user" | "assistant" | "tool";

export interface ToolCall {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
}

/** As events carry it. */
export interface Message {
  role: Role;
  text: string;
  tool_calls?: ToolCall[];
  call_id?: string | null;
  tool_name?: string | null;
}

export interface Source {
  n: number;
  kind: "web" | "document";
  title: string;
  url?: string | null;
  file_id?: string | null;
  quote?: string | null;
  cited?: boolean;
  /** null: not checked. */
  supported?: boolean | null;
}

export interface Usage {
  input_tokens: number;
  output_tokens: number;
}

/** The body of POST /api/runs, as far as this page fills it. */
export interface RunRequest {
  model: string;
  messages: { role: "user" | "assistant"; content: string }[];
  knowledge: string[];
  web: boolean;
  strategy?: "research";
  approvals?: { web_search: "ask" };
  session?: string;
}

export interface RunSummary {
  id: string;
  session: string | null;
  /** The run that delegated to this one. */
  parent: string | null;
  /** The question, shortened to one line. */
  title: string;
  status: Status;
  reason: string | null;
  model: string;
  created_at: string;
  finished_at: string | null;
}

export interface RunPage {
  items: RunSummary[];
  next: string | null;
}

export interface Model {
  id: string;
  provider: string;
  model: string;
  abilities: {
    tools: boolean | null;
    thinking: boolean | null;
    context_tokens: number | null;
  };
  /** `used`: what runs plan with. */
  window: { configured: number | null; used: number | null; served: number | null };
  tool_mode: {
    configured: "auto" | "native" | "envelope";
    found: "native" | "envelope" | null;
    because: string | null;
  };
  seconds_per_1000_tokens: { read: number | null; write: number | null };
  note: string | null;
  error: string | null;
}

export interface ModelList {
  items: Model[];
  default: string | null;
}

export interface KnowledgeBase {
  id: string;
  name: string;
  label: string;
  files: number;
  chunks: number;
  embedded: number;
}

export type KnowledgeProvider = "local" | "open-webui";

export interface KnowledgeList {
  provider: KnowledgeProvider;
  items: KnowledgeBase[];
}

export interface KnowledgeFile {
  id: string;
  name: string;
  size_bytes: number | null;
}

export interface IngestResult {
  name: string;
  outcome: "added" | "unchanged" | "failed" | "removed";
  detail: string | null;
}

export interface Config {
  version: string;
  show_reasoning: boolean;
  knowledge_provider: KnowledgeProvider;
  token_required: boolean;
  example_question: string | null;
  example_knowledge: string[];
}

export interface Replay {
  identical: boolean;
  difference: string | null;
}

export interface Check {
  name: string;
  state: "ok" | "warn" | "fail";
  why: string;
  fix: string | null;
}

/** `private`: confidential text; `untrusted`: what neither the user nor their documents wrote. */
export type Label = "private" | "untrusted";

/** One request exactly as it will be sent; the body as text, what is none escaped. */
export interface Outgoing {
  method: string;
  url: string;
  host?: string;
  body?: string | null;
}

export type Decision = "approved" | "edited" | "denied" | "timed_out" | "expired";

/** One item of GET /api/approvals. */
export interface PendingApproval {
  run_id: string;
  /** The run that a person started; `run_id` itself or the run above it. */
  root_id: string;
  call: ToolCall;
  reason: string;
  /** The requests in one sentence. */
  preview?: string;
  requests: Outgoing[];
  sha256: string;
  status: "pending" | Decision;
  created_at: string;
  expires_at: string;
  decided_at: string | null;
  by: string | null;
}

/** What a call would send with other arguments. */
export interface EditPreview {
  preview: string;
  requests: Outgoing[];
}

/** The body of POST /api/runs/{id}/approvals/{call}. */
export interface DecisionBody {
  decision: "approve" | "edit" | "deny";
  arguments?: Record<string, unknown>;
}

/** One item of GET /api/runs/{id}/egress; `sent` null: the end is not known. */
export interface LedgerItem {
  run_id: string;
  n: number;
  method: string;
  host: string;
  path: string;
  bytes_out: number;
  why: string;
  permission: string;
  status: number | null;
  bytes_in: number | null;
  sent: boolean | null;
}

export interface Engine {
  name: string;
  host: string;
  state: "ok" | "blocked" | "markup_changed" | "unreachable";
  since: string | null;
  retry_at: string | null;
  detail: string | null;
}

export type ApprovalMode = "allow" | "ask" | "block";

export interface WebState {
  engines: Engine[];
  approvals: { web_search: ApprovalMode; confidential: ApprovalMode };
  browser: string | boolean;
  cache: boolean;
}

interface Header {
  seq: number;
  run_id: string;
  at: string;
}

type Event<Type extends string, Fields> = Header & { type: Type } & Fields;

export type RunEvent =
  | Event<
      "run_started",
      {
        request: {
          messages: Message[];
          knowledge: string[];
          web: boolean;
          session?: string | null;
          strategy?: string;
        };
        model: string;
        parent: string | null;
        today: string;
      }
    >
  | Event<"prompt_built", { system: string; tools: string[]; max_steps: number }>
  | Event<"step_started", { step: number; remaining: number }>
  | Event<"model_requested", { step: number; purpose: string; ordinal: number; window: number | null }>
  | Event<
      "model_replied",
      {
        step: number;
        purpose: string;
        ordinal: number;
        message: Message;
        /** Without its text where the server keeps thinking hidden. */
        reasoning: { text?: string } | null;
        usage: Usage | null;
        finish_reason: string | null;
        recovered_from: string | null;
        malformed_call?: string | null;
        tool_mode: string;
        repairs: string[];
        /** The reply was not taken: the server had not read the whole prompt. */
        rejected?: "context_truncated" | "context_too_long" | null;
      }
    >
  | Event<
      "approval_requested",
      {
        call: ToolCall;
        reason: string;
        sha256: string;
        expires_at: string;
        requests?: Outgoing[];
        preview?: string;
      }
    >
  | Event<
      "approval_decided",
      {
        call: string;
        decision: Decision;
        arguments: Record<string, unknown> | null;
        by: string | null;
        /** Of an edit: what may be sent now. */
        requests?: Outgoing[];
        preview?: string;
      }
    >
  | Event<"tool_started", { call: ToolCall; effect: "read" | "write"; network: boolean }>
  | Event<
      "tool_finished",
      {
        call: ToolCall;
        result: string;
        is_error: boolean;
        blocked: boolean;
        network: boolean;
        duration_ms: number;
        truncated_to: number | null;
        coerced: string[];
        sources?: Source[];
        from_memory?: boolean;
        /** What the run has read by this. */
        labels?: Label[];
      }
    >
  | Event<
      "egress_started",
      {
        n: number;
        method: string;
        host: string;
        path: string;
        bytes_out: number;
        why: string;
        permission: string;
        /** The tool call that it belongs to; empty where there is none. */
        call?: string;
      }
    >
  | Event<"egress_finished", { n: number; status: number | null; bytes_in: number; sent?: boolean }>
  | Event<"child_started", { call: string; child_run_id: string }>
  | Event<"child_finished", { call: string; child_run_id: string; status: Status }>
  | Event<"context_compacted", { before: number; after: number; kept: number; summary: string }>
  | Event<"guardrail_objected", { guardrail: string; text: string }>
  | Event<"run_waiting", { reason: string }>
  | Event<"run_resumed", { by: string; epoch: number }>
  | Event<
      "run_finished",
      {
        status: Status;
        reason: string | null;
        explanation: string;
        answer: string;
        sources: Source[];
        unsupported: string[];
      }
    >;

/** What the log may hold: an event of the union, one of a later version, or an erased one. */
export type LoggedEvent = RunEvent | (Header & { type: string });

/** Live only, never stored: no `seq`. `text` of a reasoning delta is there by opt-in alone. */
export type LiveFrame =
  | { type: "text_delta"; text: string }
  | { type: "reasoning_delta"; text?: string }
  | { type: "heartbeat" };
