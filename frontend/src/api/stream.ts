// Follows a run over server-sent events. Not EventSource: that cannot send the token's header.

import { createParser } from "eventsource-parser";
import { ApiError, send } from "./client.ts";
import type { LiveFrame, LoggedEvent } from "./types.ts";

/** The server beats every 15 s; three missed beats mean that the connection is dead. */
const SILENCE_MS = 45_000;
const RETRY_MS = [250, 500, 1_000, 2_000, 5_000];

export interface Follower {
  onEvent(event: LoggedEvent): void;
  onLive(frame: LiveFrame): void;
  /** False while the connection is down and being made again. */
  onConnection(connected: boolean): void;
}

/**
 * Reads until the run has finished or `signal` aborts; resumes after the last event seen.
 * Throws ApiError only for what a retry cannot mend (401, 403, 404).
 */
export async function followRun(
  id: string,
  lastSeq: number,
  follower: Follower,
  signal: AbortSignal,
): Promise<void> {
  let seen = lastSeq;
  let finished = false;
  let failures = 0;
  const onFrame = (type: string, data: string) => {
    const value = JSON.parse(data);
    failures = 0;
    if (type === "text_delta" || type === "reasoning_delta" || type === "heartbeat") {
      follower.onLive({ ...value, type } as LiveFrame);
      return;
    }
    const event = value as LoggedEvent;
    if (event.seq <= seen) return;
    seen = event.seq;
    finished = event.type === "run_finished";
    follower.onEvent(event);
  };
  while (!finished && !signal.aborted) {
    try {
      const onOpen = () => follower.onConnection(true);
      if (await readOnce(id, seen, onFrame, onOpen, () => finished, signal)) return;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && [401, 403, 404].includes(error.status)) throw error;
    }
    if (finished || signal.aborted) return;
    follower.onConnection(false);
    await pause(RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? 0, signal);
    failures += 1;
  }
}

/** True when there is nothing more to follow. */
async function readOnce(
  id: string,
  seen: number,
  onFrame: (type: string, data: string) => void,
  onOpen: () => void,
  isFinished: () => boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const silence = new AbortController();
  const abort = () => silence.abort();
  signal.addEventListener("abort", abort);
  let timer = setTimeout(abort, SILENCE_MS);
  try {
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (seen >= 0) headers["Last-Event-ID"] = String(seen);
    const path = `/api/runs/${encodeURIComponent(id)}/events`;
    const response = await send("GET", path, { headers, signal: silence.signal });
    onOpen();
    if (response.status === 204) return true; // ended, and nothing came after what was seen
    const parser = createParser({
      onEvent: ({ event, data }) => onFrame(event ?? "message", data),
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    if (!reader) return false;
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return false;
      clearTimeout(timer);
      timer = setTimeout(abort, SILENCE_MS);
      parser.feed(value);
      if (isFinished()) return true;
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    silence.abort();
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
