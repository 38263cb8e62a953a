import { useEffect, useMemo, useState } from "react";
import type { LoggedEvent } from "../api/types.ts";
import { Button } from "../components/button.tsx";
import { setAnchor } from "../shell/router.tsx";
import { t } from "../strings/index.ts";
import { StepRows } from "./step-row.tsx";
import type { RunView } from "./view.ts";

/** A long run shows its end; what came before is unfolded piece by piece. */
const SHOWN_STEPS = 100;

/** The steps, one line each, before the answer. */
export function Steps({ view, onOpen }: { view: RunView; onOpen: () => void }) {
  const { steps, events } = view;
  const [open, setOpen] = useState(() => anchorInAddress());
  const [extra, setExtra] = useState(0);
  const addressed = useMemo(() => stepIn(open), [open]);
  const from = firstShown(view, extra, addressed);

  useEffect(() => {
    const onAddress = () => setOpen(anchorInAddress());
    addEventListener("hashchange", onAddress);
    return () => removeEventListener("hashchange", onAddress);
  }, []);
  useEffect(() => {
    document.getElementById(anchorInAddress())?.scrollIntoView({ block: "center" });
  }, [view.id]);

  const show = (next: string) => {
    setOpen(next);
    setAnchor(next);
    if (next) onOpen();
  };
  if (steps.length === 0) return null;
  return (
    <section aria-label={t("steps.title")}>
      {from > 0 && (
        <Button small className="steps-earlier" onClick={() => setExtra(extra + SHOWN_STEPS)}>
          {t("steps.earlier", { n: Math.min(from, SHOWN_STEPS), all: from })}
        </Button>
      )}
      <ol className="steps" start={from + 1}>
        {steps.slice(from).map((step, at) => (
          <StepRows
            key={`${step.n}-${from + at}`}
            view={view}
            step={step}
            openAnchor={open}
            onToggle={show}
            eventAt={(seq) => eventAt(events, seq)}
          />
        ))}
      </ol>
    </section>
  );
}

function firstShown(view: RunView, extra: number, addressed: number | null): number {
  const from = Math.max(0, view.steps.length - SHOWN_STEPS - extra);
  if (addressed === null) return from;
  const at = view.steps.findIndex((step) => step.n === addressed);
  return at < 0 ? from : Math.min(from, at);
}

function anchorInAddress(): string {
  const hash = location.hash.slice(1);
  return hash.startsWith("step-") ? hash : "";
}

function stepIn(anchor: string): number | null {
  const match = /^step-(\d+)/.exec(anchor);
  return match ? Number(match[1]) : null;
}

/** Sequence numbers have no gaps, so the number is nearly always the place. */
function eventAt(events: readonly LoggedEvent[], seq: number): LoggedEvent | undefined {
  const guess = events[seq];
  return guess?.seq === seq ? guess : events.find((event) => event.seq === seq);
}
