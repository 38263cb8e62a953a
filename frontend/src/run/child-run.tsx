// A run that a call started, within the run that it belongs to.

import { useMemo } from "react";
import type { LoggedEvent, PendingApproval } from "../api/types.ts";
import { ErrorBox } from "../components/error.tsx";
import { StatusGlyph } from "../components/status.tsx";
import { useData } from "../shell/data.tsx";
import { Link, runPath } from "../shell/router.tsx";
import { t } from "../strings/index.ts";
import { ApprovalCard } from "./approval-card.tsx";
import { ownLedger, totalsOf } from "./ledger.ts";
import { LiveLine } from "./live-line.tsx";
import { StepRows } from "./step-row.tsx";
import { type FollowedRun, useRun } from "./use-run.ts";
import { useShown } from "./use-shown.ts";
import { type ApprovalView, approvalsOf, hasEnded, pendingApprovals, type RunView } from "./view.ts";
import { bytes } from "./words.ts";

interface Properties {
  child: { id: string; status: RunView["status"] | null };
  /** Its row is open: its steps are shown. */
  open: boolean;
  /** It goes on, and is the one that is watched although nobody opened it. */
  watched: boolean;
  /** The address of its row, before the addresses of its own steps. */
  anchor: string;
  openAnchor: string;
  onToggle: (anchor: string) => void;
}

export function ChildRun({ child, open, watched, anchor, openAnchor, onToggle }: Properties) {
  const { inbox } = useData();
  const goesOn = child.status === null;
  const run = useRun(open || (watched && goesOn) ? child.id : null);
  const pending = useMemo(() => {
    if (run?.loaded) return pendingApprovals(run.view);
    return inbox.items.filter((item) => item.run_id === child.id).map(asApproval);
  }, [run?.loaded, run?.view, inbox.items, child.id]);
  const shown = useShown(pending, keyOf);
  if (open) {
    return (
      <div className="child">
        {!run?.loaded && !run?.error && <p className="loading">{t("loading")}</p>}
        {run?.error && <ErrorBox error={run.error} onRetry={run.retry} />}
        {run?.loaded && <ChildSteps run={run} {...{ anchor, openAnchor, onToggle }} />}
      </div>
    );
  }
  const isLive = goesOn && run?.loaded && pending.length === 0 && !hasEnded(run.view.status);
  if (!isLive && shown.length === 0) return null;
  const known = new Map((run?.loaded ? approvalsOf(run.view) : []).map((each) => [keyOf(each), each]));
  const waiting = new Set(pending.map(keyOf));
  return (
    <div className="child">
      {shown.map((approval) => (
        <ApprovalCard
          key={keyOf(approval)}
          runId={child.id}
          approval={known.get(keyOf(approval)) ?? approval}
          gone={!waiting.has(keyOf(approval))}
        />
      ))}
      {isLive && <LiveLine run={run} />}
    </div>
  );
}

const keyOf = ({ call }: ApprovalView) => call.id;

type StepsProperties = Pick<Properties, "anchor" | "openAnchor" | "onToggle"> & { run: FollowedRun };

function ChildSteps({ run, anchor, openAnchor, onToggle }: StepsProperties) {
  const { view } = run;
  const ended = hasEnded(view.status);
  return (
    <>
      <p className="child-head">
        <StatusGlyph status={view.status} words />
        {[t("count.steps", { n: view.steps.length }), ...left(view)].map((words) => ` · ${words}`)}
        {" · "}
        <Link to={runPath(view.id)}>{t("child.open")}</Link>
      </p>
      {view.explanation && view.status !== "complete" && <p className="hint">{view.explanation}</p>}
      <ol className="steps steps-nested">
        {view.steps.map((step, at) => (
          <StepRows
            key={`${step.n}-${at}`}
            view={view}
            step={step}
            prefix={`${anchor}/`}
            openAnchor={openAnchor}
            onToggle={(next) => onToggle(next || anchor)}
            eventAt={(seq): LoggedEvent | undefined => view.events.find((event) => event.seq === seq)}
          />
        ))}
      </ol>
      {!ended && <LiveLine run={run} />}
    </>
  );
}

function left(view: RunView): string[] {
  const { requests, bytesOut, bytesIn } = totalsOf(ownLedger(view));
  if (requests === 0) return [t("left.nothing")];
  return [t("left.sum", { n: requests, sent: bytes(bytesOut), received: bytes(bytesIn) })];
}

/** An item of the inbox as the run's own log has it. */
export function asApproval(item: PendingApproval): ApprovalView {
  const { call, reason, requests, preview = "" } = item;
  return { call, reason, requests, preview, expiresAt: item.expires_at, decided: null };
}
