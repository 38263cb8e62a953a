import { useCallback, useEffect, useRef, useState } from "react";
import { api } from "../api/client.ts";
import { followRun } from "../api/stream.ts";
import type { LiveFrame, LoggedEvent } from "../api/types.ts";
import { asError } from "../shell/use-load.ts";
import { dropLive, fold, foldLive } from "./fold.ts";
import { emptyRun, hasEnded, type RunView } from "./view.ts";

/** Frames that came in together are shown together: 20 pictures a second are enough to read. */
const SHOW_EVERY_MS = 50;

export interface FollowedRun {
  view: RunView;
  /** The log's present end has been read. */
  loaded: boolean;
  connected: boolean;
  error: Error | null;
  retry: () => void;
}

type Piece = { event: LoggedEvent } | { frame: LiveFrame } | { connected: boolean };

/** The run under `id`, kept up to date until it ends. null: no run is shown. */
export function useRun(id: string | null): FollowedRun | null {
  const [run, setRun] = useState<Omit<FollowedRun, "retry"> | null>(null);
  const [round, setRound] = useState(0);
  const retry = useCallback(() => setRound((before) => before + 1), []);
  const waiting = useRef<Piece[]>([]);

  useEffect(() => {
    if (id === null) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let state = { view: emptyRun(id), loaded: false, connected: true, error: null as Error | null };
    waiting.current = [];
    setRun(state);

    const show = (next: Partial<typeof state>) => {
      if (abort.signal.aborted) return;
      state = { ...state, ...next };
      setRun(state);
    };
    const flush = () => {
      timer = undefined;
      show(absorb(state, waiting.current.splice(0)));
    };
    const queue = (piece: Piece) => {
      waiting.current.push(piece);
      timer ??= setTimeout(flush, SHOW_EVERY_MS);
    };
    const follow = async () => {
      const view = fold(state.view, await api.events(id, abort.signal));
      show({ view, loaded: true });
      if (hasEnded(view.status)) return;
      const follower = {
        onEvent: (event: LoggedEvent) => queue({ event }),
        onLive: (frame: LiveFrame) => queue({ frame }),
        onConnection: (connected: boolean) => queue({ connected }),
      };
      await followRun(id, view.lastSeq, follower, abort.signal);
    };
    follow().catch((reason: unknown) => show({ error: asError(reason) }));
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [id, round]);

  return run && run.view.id === id ? { ...run, retry } : null;
}

interface State {
  view: RunView;
  connected: boolean;
}

/** Takes the pieces in their order, neighbouring events as one batch. */
function absorb({ view, connected }: State, pieces: readonly Piece[]): State {
  let events: LoggedEvent[] = [];
  for (const piece of pieces) {
    if ("event" in piece) {
      events.push(piece.event);
      continue;
    }
    view = fold(view, events);
    events = [];
    if ("frame" in piece) view = foldLive(view, piece.frame);
    else {
      connected = piece.connected;
      if (!connected) view = dropLive(view);
    }
  }
  return { view: fold(view, events), connected };
}
