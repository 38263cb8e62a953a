import { useEffect, useRef, useState } from "react";
import type { PendingApproval, ToolCall } from "../api/types.ts";
import { t } from "../strings/index.ts";
import { outcome, telling } from "../run/words.ts";
import { type CallView, hasEnded, pendingApprovals, type RunView, type StepView } from "../run/view.ts";

const EVERY_MS = 1_000;

interface Properties {
  view: RunView | null;
  inbox: readonly PendingApproval[];
}

/** Tells screen readers what a live run did and what waits for them; never its tokens. */
export function Announcer({ view, inbox }: Properties) {
  const [text, setText] = useState("");
  const told = useRef({ id: "", calls: new Set<string>(), ended: false });
  const pending = useRef<string[]>([]);
  useEffect(() => {
    const timer = setInterval(() => {
      if (pending.current.length > 0) setText(pending.current.splice(0).join(" "));
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => {
    if (!view || view.lastSeq < 0) return;
    const { id, calls, ended } = told.current;
    // The first look at a run is its past: nothing to announce.
    const isPast = id !== view.id;
    const fresh = finishedCalls(view).filter(([key]) => isPast || !calls.has(key));
    const known = new Set([...(isPast ? [] : calls), ...fresh.map(([key]) => key)]);
    told.current = { id: view.id, calls: known, ended: hasEnded(view.status) };
    if (isPast) return;
    for (const [, step, row] of fresh) pending.current.push(words(step, row));
    if (told.current.ended && !ended) {
      pending.current.push(t(`status.${view.status}`), view.explanation);
    }
  }, [view]);
  const asked = useRef(new Set<string>());
  useEffect(() => {
    const wanted = waiting(view, inbox);
    for (const [key, { name, arguments: given }] of wanted) {
      if (asked.current.has(key)) continue;
      pending.current.push(t("announce.approval", { name, what: telling(given) }));
    }
    asked.current = new Set(wanted.map(([key]) => key));
  }, [view, inbox]);
  return (
    <div className="sr" aria-live="polite">
      {text}
    </div>
  );
}

/** Calls that wait for a person, in the shown run and in every other. */
function waiting(view: RunView | null, inbox: readonly PendingApproval[]): [string, ToolCall][] {
  const shown = view ? pendingApprovals(view).map(({ call }) => ({ run_id: view.id, call })) : [];
  const calls = [...shown, ...inbox].map(({ run_id, call }) => [`${run_id} ${call.id}`, call] as const);
  return [...new Map(calls)];
}

function finishedCalls(view: RunView): [string, StepView, CallView][] {
  return view.steps.flatMap((step) =>
    step.calls
      .filter((row) => row.finished !== null)
      .map((row): [string, StepView, CallView] => [`${step.n} ${row.call.id}`, step, row]),
  );
}

function words(step: StepView, row: CallView): string {
  const how = row.finished?.blocked
    ? t("badge.blocked")
    : row.finished?.isError
      ? t("badge.failed")
      : outcome(row) || t("announce.done");
  return t("announce.step", { step: step.n, name: row.call.name, how });
}
