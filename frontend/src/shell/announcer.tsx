import { useEffect, useRef, useState } from "react";
import { t } from "../strings/index.ts";
import { outcome } from "../run/words.ts";
import { hasEnded, type RunView } from "../run/view.ts";

const EVERY_MS = 1_000;

/** Tells screen readers what a live run did: its steps and its end, never its tokens. */
export function Announcer({ view }: { view: RunView | null }) {
  const [text, setText] = useState("");
  const told = useRef<{ id: string; calls: number; ended: boolean } | null>(null);
  const pending = useRef<string[]>([]);
  useEffect(() => {
    const timer = setInterval(() => {
      if (pending.current.length > 0) setText(pending.current.splice(0).join(" "));
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => {
    if (!view || view.lastSeq < 0) return;
    const now = { id: view.id, calls: finishedCalls(view), ended: hasEnded(view.status) };
    const before = told.current;
    told.current = now;
    // The first look at a run is its past: nothing to announce.
    if (before?.id !== view.id) return;
    if (now.calls > before.calls) pending.current.push(lastCall(view));
    if (now.ended && !before.ended) {
      pending.current.push(t(`status.${view.status}`), view.explanation);
    }
  }, [view]);
  return (
    <div className="sr" aria-live="polite" data-testid="announcer">
      {text}
    </div>
  );
}

function finishedCalls(view: RunView): number {
  return view.steps.reduce(
    (sum, step) => sum + step.calls.filter((row) => row.finished !== null).length,
    0,
  );
}

function lastCall(view: RunView): string {
  const step = view.steps.at(-1);
  const row = step?.calls.findLast((call) => call.finished !== null);
  if (!step || !row) return "";
  const how = row.finished?.blocked
    ? t("badge.blocked")
    : row.finished?.isError
      ? t("badge.failed")
      : outcome(row) || t("announce.done");
  return t("announce.step", { step: step.n, name: row.call.name, how });
}
