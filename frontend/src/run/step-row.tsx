// The rows of one step: its calls, its reply, what a guardrail said.

import type { LoggedEvent, Status } from "../api/types.ts";
import { Badge, LeavesBadge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Code } from "../components/code.tsx";
import { copyText } from "../components/copy.ts";
import { Row } from "../components/row.tsx";
import { useToast } from "../components/toast.tsx";
import { t } from "../strings/index.ts";
import { ApprovalCard } from "./approval-card.tsx";
import { cachedWords } from "./cached.ts";
import { ChildRun } from "./child-run.tsx";
import { type CallView, hasEnded, openChildren, type RunView, type StepView } from "./view.ts";
import { bytes, duration, outcome, telling } from "./words.ts";

/** `step-3` or, for its second call, `step-3.2`: also the end of the row's address. */
export function anchorOf(step: StepView, call: number): string {
  return call === 0 ? `step-${step.n}` : `step-${step.n}.${call + 1}`;
}

interface RowsProperties {
  view: RunView;
  step: StepView;
  /** Of a child run: the address of the row that it stands in. */
  prefix?: string;
  openAnchor: string;
  onToggle: (anchor: string) => void;
  eventAt: (seq: number) => LoggedEvent | undefined;
}

export function StepRows(properties: RowsProperties) {
  const { view, step, prefix = "", openAnchor, onToggle, eventAt } = properties;
  const reply = step.reply;
  const ownRow = reply !== null && !reply.askedForCalls;
  const replyAnchor = prefix + anchorOf(step, step.calls.length);
  // A browser keeps few connections to one server: who waits for a person is in the inbox.
  const [watched] = view.status === "running" ? openChildren(view) : [];
  return (
    <>
      {step.calls.map((row, at) => {
        const anchor = prefix + anchorOf(step, at);
        const open = isOpen(openAnchor, anchor);
        const inset = (row.approval || row.child) && (
          <>
            {row.approval && (
              <ApprovalCard runId={view.id} approval={row.approval} ended={hasEnded(view.status)} />
            )}
            {row.child && (
              <ChildRun
                child={row.child}
                open={open}
                watched={row.child.id === watched}
                {...{ anchor, openAnchor, onToggle }}
              />
            )}
          </>
        );
        return (
          <li key={row.call.id} className={bracket(step.calls, at)}>
            <Row
              id={anchor}
              open={open}
              onToggle={() => onToggle(open ? "" : anchor)}
              summary={<CallLine number={at === 0 ? step.n : null} row={row} view={view} />}
              inset={inset}
            >
              <CallDetails step={step} row={row} eventAt={eventAt} />
            </Row>
          </li>
        );
      })}
      {ownRow && (
        <li>
          <Row
            id={replyAnchor}
            open={openAnchor === replyAnchor}
            onToggle={() => onToggle(openAnchor === replyAnchor ? "" : replyAnchor)}
            summary={
              <>
                <span className="step-number">{step.calls.length === 0 ? step.n : ""}</span>
                <span className="step-verb step-quiet">{t(reply.malformedCall ? "step.unreadable" : "step.replied")}</span>
                <span className="step-argument" />
                <span className="step-meta">
                  {reply.outputTokens !== null && t("count.tokens", { n: reply.outputTokens })}
                </span>
              </>
            }
          >
            <ReplyDetails step={step} eventAt={eventAt} />
          </Row>
        </li>
      )}
      {step.objections.map((objection) => (
        <li key={objection.seq} className="step-objection">
          <span aria-hidden="true">! </span>
          {t("step.objection", objection)}
        </li>
      ))}
    </>
  );
}

/** A row is open, too, where a row of its child run is. */
function isOpen(openAnchor: string, anchor: string): boolean {
  return openAnchor === anchor || openAnchor.startsWith(`${anchor}/`);
}

/** The class that draws the bracket around calls that ran side by side. */
function bracket(calls: readonly CallView[], at: number): string {
  const group = calls[at]?.group;
  const before = calls[at - 1]?.group === group;
  const after = calls[at + 1]?.group === group;
  if (!before && !after) return "";
  return `side-by-side ${before ? "" : "side-first"} ${after ? "" : "side-last"}`;
}

function CallLine({ number, row, view }: { number: number | null; row: CallView; view: RunView }) {
  return (
    <>
      <span className="step-number">{number ?? ""}</span>
      <span className="step-verb">{row.call.name}</span>
      <span className="step-argument">
        <bdi>{telling(row.call.arguments)}</bdi>
      </span>
      <span className="step-meta">
        <CallMarks row={row} view={view} />
      </span>
    </>
  );
}

function CallMarks({ row, view }: { row: CallView; view: RunView }) {
  const end = row.finished;
  const isAsked = row.approval !== null && row.approval.decided === null;
  const words = [
    end ? !end.blocked && duration(end.durationMs) : goingOn(isAsked, view.status),
    end?.fromMemory ? t("call.from_memory") : "",
    cachedWords(row),
    row.bytesOut > 0 ? t("call.sent", { size: bytes(row.bytesOut) }) : "",
    outcome(row),
  ];
  return (
    <>
      {end?.blocked && (
        <Badge tone="red" glyph="⊘">
          {t("badge.blocked")}
        </Badge>
      )}
      {end?.isError && !end.blocked && (
        <Badge tone="red" glyph="✕">
          {t("badge.failed")}
        </Badge>
      )}
      {row.network && <LeavesBadge short={view.parent !== null} />}
      <span>
        {isLocal(row) && `${t("call.local")} · `}
        {words.filter(Boolean).join(" · ")}
      </span>
    </>
  );
}

/** Surely nothing of it leaves: not by itself, not by a child run that goes on. */
function isLocal(row: CallView): boolean {
  const mayLeave = row.network || row.approval !== null || (row.child !== null && !row.finished);
  return !mayLeave && !row.finished?.blocked;
}

/** What becomes of a call that has no result yet. */
function goingOn(isAsked: boolean, status: Status): string {
  if (hasEnded(status)) return t("call.unfinished");
  return t(isAsked || status === "waiting" ? "call.waiting" : "call.running");
}

interface DetailProperties {
  step: StepView;
  row: CallView;
  eventAt: (seq: number) => LoggedEvent | undefined;
}

function CallDetails({ step, row, eventAt }: DetailProperties) {
  const end = row.finished;
  return (
    <>
      <Code label={t("call.arguments")} text={JSON.stringify(row.call.arguments, null, 2)} />
      {end && end.coerced.length > 0 && (
        <div>
          <p className="detail-label">{t("call.coerced")}</p>
          <ul className="detail-list">
            {end.coerced.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </div>
      )}
      {end && (
        <Code label={t(end.isError ? "call.error" : "call.result")} text={end.result} />
      )}
      {end?.truncatedTo != null && (
        <p className="detail-note">{t("call.truncated", { n: end.truncatedTo })}</p>
      )}
      {end?.labels.map((label) => (
        <p key={label} className="detail-note">
          {t(`label.${label}`)}
        </p>
      ))}
      <ReplyDetails step={step} eventAt={eventAt} />
      <CopyEvent event={eventAt(row.seq)} />
    </>
  );
}

/** The model's words for this step, and how its reply was read. */
function ReplyDetails({ step, eventAt }: Omit<DetailProperties, "row">) {
  const reply = step.reply;
  if (!reply) return null;
  const event = eventAt(reply.seq);
  const notes = [
    reply.recoveredFrom && t("reply.recovered", { where: reply.recoveredFrom }),
    reply.malformedCall,
    reply.toolMode !== "native" && t("reply.mode", { mode: reply.toolMode }),
    ...reply.repairs,
  ].filter((note): note is string => Boolean(note));
  return (
    <>
      {notes.length > 0 && (
        <ul className="detail-list">
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
      {reply.askedForCalls && reply.text && <Code label={t("reply.said")} text={reply.text} />}
      {reply.reasoning && <Code label={t("reply.reasoning")} text={reply.reasoning} />}
      {event && (
        <details className="raw">
          <summary>{t("reply.raw")}</summary>
          <Code label={t("reply.raw")} text={JSON.stringify(event, null, 2)} />
        </details>
      )}
    </>
  );
}

function CopyEvent({ event }: { event: LoggedEvent | undefined }) {
  const say = useToast();
  if (!event) return null;
  const copy = () =>
    void copyText(JSON.stringify(event, null, 2)).then((done) =>
      say(t(done ? "copied" : "copy.failed")),
    );
  return (
    <Button small onClick={copy}>
      {t("action.copy_json")}
    </Button>
  );
}
