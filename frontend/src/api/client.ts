// One function per address of the server. Every failure is an ApiError that says what to do.

import { t } from "../strings/index.ts";
import { knowledgeKey, serverToken } from "./keys.ts";
import type {
  Check,
  Config,
  DecisionBody,
  EditPreview,
  IngestResult,
  KnowledgeBase,
  KnowledgeFile,
  KnowledgeList,
  LedgerItem,
  LoggedEvent,
  ModelList,
  PendingApproval,
  Replay,
  RunPage,
  RunRequest,
  Status,
  WebState,
} from "./types.ts";

export class ApiError extends Error {
  readonly type: string;
  readonly status: number;
  readonly hint: string | null;

  constructor(fields: { type: string; message: string; status: number; hint?: string | null }) {
    super(fields.message);
    this.type = fields.type;
    this.status = fields.status;
    this.hint = fields.hint ?? null;
  }
}

/** Fired on `window` when the server wants a token, or another one. */
export const TOKEN_WANTED = "inglenook:token-wanted";

interface Options {
  body?: BodyInit;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** The request may read documents: send the user's Open WebUI key along. */
  knowledge?: boolean;
}

export async function send(method: string, path: string, options: Options = {}): Promise<Response> {
  const headers = new Headers(options.headers);
  const token = serverToken();
  if (token) headers.set("Authorization", `Bearer ${token}`);
  const key = options.knowledge ? knowledgeKey() : null;
  if (key) headers.set("X-Open-WebUI-Key", key);
  const response = await fetch(path, {
    method,
    headers,
    credentials: "same-origin",
    cache: "no-store",
    ...(options.body === undefined ? {} : { body: options.body }),
    ...(options.signal ? { signal: options.signal } : {}),
  }).catch((error: unknown) => {
    if (options.signal?.aborted) throw error;
    throw new ApiError({
      type: "unreachable",
      message: t("error.unreachable"),
      status: 0,
      hint: t("error.unreachable.hint"),
    });
  });
  if (response.ok) return response;
  // A late refusal of a request without the token that was given meanwhile asks for nothing.
  const isStale = serverToken() !== token;
  if (response.status === 401 && !isStale) window.dispatchEvent(new Event(TOKEN_WANTED));
  throw await errorOf(response);
}

async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text();
  let error: { type?: string; message?: string; hint?: string } | undefined;
  try {
    error = JSON.parse(text)?.error;
  } catch {
    error = undefined; // a proxy's page, not the server's JSON
  }
  return new ApiError({
    type: error?.type ?? "http",
    message: error?.message ?? t("error.http", { status: String(response.status) }),
    status: response.status,
    hint: error?.hint ?? null,
  });
}

async function json<T>(method: string, path: string, options: Options = {}): Promise<T> {
  return (await send(method, path, options)).json() as Promise<T>;
}

const asJson = (value: unknown) => ({
  body: JSON.stringify(value),
  headers: { "Content-Type": "application/json" },
});

const run = (id: string) => `/api/runs/${encodeURIComponent(id)}`;
const base = (id: string) => `/api/knowledge/${encodeURIComponent(id)}`;

export const api = {
  config: (signal?: AbortSignal) => json<Config>("GET", "/api/config", withSignal(signal)),

  models: (signal?: AbortSignal) => json<ModelList>("GET", "/api/models", withSignal(signal)),

  doctor: (signal?: AbortSignal) =>
    json<{ checks: Check[] }>("GET", "/api/doctor", withSignal(signal)),

  runs: (cursor: string | null, signal?: AbortSignal) =>
    json<RunPage>(
      "GET",
      `/api/runs?limit=200${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`,
      withSignal(signal),
    ),

  /** `attempt` makes a repeat of the same send return the first run. */
  startRun(request: RunRequest, attempt: string) {
    const { body, headers } = asJson(request);
    return json<{ id: string; status: Status }>("POST", "/api/runs", {
      body,
      headers: { ...headers, "Idempotency-Key": attempt },
      knowledge: true,
    });
  },

  events: (id: string, signal?: AbortSignal) =>
    json<LoggedEvent[]>("GET", `${run(id)}/events`, {
      ...withSignal(signal),
      headers: { Accept: "application/json" },
    }),

  /** Every request of the run and of its child runs. */
  egress: (id: string, signal?: AbortSignal) =>
    json<{ items: LedgerItem[] }>("GET", `${run(id)}/egress`, withSignal(signal)),

  approvals: (signal?: AbortSignal) =>
    json<{ items: PendingApproval[] }>("GET", "/api/approvals?status=pending", withSignal(signal)),

  /** ApiError 409: it was decided before, or its time was up; the message says what it is now. */
  decide: (id: string, call: string, body: DecisionBody) =>
    send("POST", `${run(id)}/approvals/${encodeURIComponent(call)}`, asJson(body)),

  /** Decides nothing: shows what the call would send with these arguments. */
  previewEdit: (id: string, call: string, given: Record<string, unknown>, signal: AbortSignal) =>
    json<EditPreview>("POST", `${run(id)}/approvals/${encodeURIComponent(call)}/preview`, {
      ...asJson({ arguments: given }),
      signal,
    }),

  web: (signal?: AbortSignal) => json<WebState>("GET", "/api/web", withSignal(signal)),

  cancel: (id: string) => send("POST", `${run(id)}/cancel`),

  /** For a run that waits for the user's key: nobody stored it, so its owner sends it again. */
  giveKey: (id: string, key: string) =>
    send("POST", `${run(id)}/credential`, asJson({ credential: key })),

  replay: (id: string) => json<Replay>("POST", `${run(id)}/replay`),

  exportRun: async (id: string) => (await send("GET", `${run(id)}/export`)).blob(),

  knowledge: (signal?: AbortSignal) =>
    json<KnowledgeList>("GET", "/api/knowledge", { ...withSignal(signal), knowledge: true }),

  createKnowledge: (name: string, label: string) =>
    json<KnowledgeBase>("POST", "/api/knowledge", {
      ...asJson({ name, label }),
      knowledge: true,
    }),

  files: (id: string, signal?: AbortSignal) =>
    json<{ items: KnowledgeFile[] }>("GET", `${base(id)}/files`, {
      ...withSignal(signal),
      knowledge: true,
    }),

  upload(id: string, file: File) {
    const form = new FormData();
    form.append("file", file, file.name);
    return json<{ results: IngestResult[] }>("POST", `${base(id)}/files`, {
      body: form,
      knowledge: true,
    });
  },
};

function withSignal(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal ? { signal } : {};
}
