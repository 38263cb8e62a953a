import { useCallback, useEffect, useState } from "react";

export interface Loaded<T> {
  data: T | null;
  error: Error | null;
  reload: () => void;
}

/** Loads on mount, on `reload` and for another `key`; what was there stays until the new is. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, key = 0): Loaded<T> {
  const [data, setData] = useState<T | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  useEffect(() => {
    const abort = new AbortController();
    load(abort.signal).then(
      (value) => {
        if (abort.signal.aborted) return;
        setData(value);
        setError(null);
      },
      (reason: unknown) => {
        if (!abort.signal.aborted) setError(asError(reason));
      },
    );
    return () => abort.abort();
  }, [load, round, key]);
  return { data, error, reload };
}

export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
