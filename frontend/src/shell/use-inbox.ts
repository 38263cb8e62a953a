import { useCallback, useEffect, useRef, useState } from "react";
import { api } from "../api/client.ts";
import type { PendingApproval } from "../api/types.ts";
import { asError } from "./use-load.ts";

const WATCH_MS = 5_000;

export interface Inbox {
  /** What waits for a person, oldest first. */
  items: readonly PendingApproval[];
  error: Error | null;
  reload: () => void;
}

/** Asked for while a run waits; with nothing waiting the server is left alone. */
export function useInbox(isWaiting: boolean): Inbox {
  const [items, setItems] = useState<readonly PendingApproval[]>([]);
  const [error, setError] = useState<Error | null>(null);
  const asked = useRef(0);

  const reload = useCallback(() => {
    const round = ++asked.current;
    api.approvals().then(
      (answer) => {
        if (round !== asked.current) return; // a later question has the newer answer
        setItems([...answer.items].sort((a, b) => a.created_at.localeCompare(b.created_at)));
        setError(null);
      },
      (reason: unknown) => round === asked.current && setError(asError(reason)),
    );
  }, []);
  useEffect(() => {
    if (!isWaiting) return;
    reload();
    const timer = setInterval(reload, WATCH_MS);
    addEventListener("focus", reload);
    return () => {
      clearInterval(timer);
      removeEventListener("focus", reload);
      reload(); // the last one was decided
    };
  }, [isWaiting, reload]);
  return { items, error, reload };
}
