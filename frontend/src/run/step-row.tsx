// The rows of one step: its calls, its reply, what a guardrail said.

import type { LoggedEvent } from "../api/types.ts";
import { Badge, LeavesBadge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Code } from "../components/code.tsx";
import { copyText } from "../components/copy.ts";
import { Row } from "../components/row.tsx";
import { useToast } from "../components/toast.tsx";
import { t } from "../strings/index.ts";
import type { CallView, StepView } from "./view.ts";
import { bytes, duration, outcome, telling } from "./words.ts";

/** `step-3` or, for its second call, `step-3.2`: also the end of the row's address. */
export function anchorOf(step: StepView, call: number): string {
  return call === 0 ? `step-${step.n}` : `step-${step.n}.${call + 1}`;
}

interface RowsProperties {
  step: StepView;
  openAnchor: string;
  onToggle: (anchor: string) => void;
  eventAt: (seq: number) => LoggedEvent | undefined;
}

export function StepRows({ step, openAnchor, onToggle, eventAt }: RowsProperties) {
  const reply = step.reply;
  const ownRow = reply !== null && !reply.askedForCalls;
  return (
    <>
      {step.calls.map((row, at) => {
        const anchor = anchorOf(step, at);
        return (
          <li key={row.call.id} className={bracket(step.calls, at)}>
            <Row
              id={anchor}
              open={openAnchor === anchor}
              onToggle={() => onToggle(anchor)}
              summary={<CallLine number={at === 0 ? step.n : null} row={row} />}
            >
              <CallDetails step={step} row={row} eventAt={eventAt} />
            </Row>
          </li>
        );
      })}
      {ownRow && (
        <li>
          <Row
            id={anchorOf(step, step.calls.length)}
            open={openAnchor === anchorOf(step, step.calls.length)}
            onToggle={() => onToggle(anchorOf(step, step.calls.length))}
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

/** The class that draws the bracket around calls that ran side by side. */
function bracket(calls: readonly CallView[], at: number): string {
  const group = calls[at]?.group;
  const before = calls[at - 1]?.group === group;
  const after = calls[at + 1]?.group === group;
  if (!before && !after) return "";
  return `side-by-side ${before ? "" : "side-first"} ${after ? "" : "side-last"}`;
}

function CallLine({ number, row }: { number: number | null; row: CallView }) {
  return (
    <>
      <span className="step-number">{number ?? ""}</span>
      <span className="step-verb">{row.call.name}</span>
      <span className="step-argument">
        <bdi>{telling(row.call.arguments)}</bdi>
      </span>
      <span className="step-meta">
        <CallMarks row={row} />
      </span>
    </>
  );
}

function CallMarks({ row }: { row: CallView }) {
  const end = row.finished;
  const words = [
    end ? !end.blocked && duration(end.durationMs) : t("call.running"),
    end?.fromMemory ? t("call.from_memory") : "",
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
      {row.network && <LeavesBadge />}
      <span>
        {!row.network && !end?.blocked && `${t("call.local")} · `}
        {words.filter(Boolean).join(" · ")}
      </span>
    </>
  );
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
