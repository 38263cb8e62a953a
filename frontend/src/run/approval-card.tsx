// What will be sent if a person says yes, and afterwards what was decided.

import { type KeyboardEvent, type RefObject, useId, useLayoutEffect, useRef, useState } from "react";
import { api, ApiError } from "../api/client.ts";
import type { Decision, DecisionBody } from "../api/types.ts";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { ErrorBox } from "../components/error.tsx";
import { useData } from "../shell/data.tsx";
import { asError } from "../shell/use-load.ts";
import { t } from "../strings/index.ts";
import { ApprovalEdit, editable } from "./approval-edit.tsx";
import { Exact } from "./exact.tsx";
import { useNow } from "./live-line.tsx";
import { RequestList } from "./request-preview.tsx";
import type { ApprovalView } from "./view.ts";
import { between, clock, duration, tellingText } from "./words.ts";

interface Properties {
  /** The run whose call waits; a child's, too. */
  runId: string;
  approval: ApprovalView;
  /** The run has ended: what nobody decided cannot be decided any more. */
  ended?: boolean;
  /** It does not wait any more, and how it was decided is not known here. */
  gone?: boolean;
}

const GLYPHS: Record<Decision, string> = {
  approved: "✓",
  edited: "✎",
  denied: "⊘",
  timed_out: "◷",
  expired: "○",
};
const DECIDED = { approve: "approved", edit: "edited", deny: "denied" } as const;

export function ApprovalCard({ runId, approval, ended = false, gone = false }: Properties) {
  const card = useRef<HTMLDivElement>(null);
  const id = useId();
  const [editing, setEditing] = useState(false);
  const decision = useDecision(runId, approval);
  const { sent, error, isSettled } = decision;
  const decided = approval.decided?.decision ?? (ended ? "expired" : null);
  const isOpen = decided === null && sent === null && !isSettled && !gone;
  useFocusKept(card, `${isOpen} ${editing}`);

  const canEdit = editable(approval.call).length > 0;
  const acts: Record<string, () => void> = {
    a: () => decision.send({ decision: "approve" }),
    e: () => setEditing(canEdit),
    d: () => decision.send({ decision: "deny" }),
  };
  // A held key must not decide: what it repeats may come to stand on the next card.
  const onKeyDown = (event: KeyboardEvent) => {
    if (!isOpen || editing || event.repeat) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = acts[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act();
  };
  return (
    <div
      ref={card}
      role="group"
      tabIndex={-1}
      className={`approval ${isOpen ? "approval-open" : ""}`}
      aria-labelledby={isOpen ? `${id} ${id}-tool` : `${id}-tool`}
      onKeyDown={onKeyDown}
    >
      {isOpen && (
        <div className="approval-head">
          <h2 id={id}>{t("approval.title")}</h2>
          <Badge tone="amber" glyph="▲">
            {t("approval.leaves")}
          </Badge>
          <Expiry at={approval.expiresAt} />
        </div>
      )}
      <p className="approval-tool" id={`${id}-tool`}>
        <ToolLine
          name={approval.call.name}
          text={approval.preview || tellingText(approval.call.arguments)}
        />
      </p>
      {isOpen && approval.reason && (
        <p className="approval-why">{t("approval.why", { reason: approval.reason })}</p>
      )}
      {isOpen && !editing && <Requests approval={approval} />}
      {gone && !decided && !sent && !error && <p className="approval-why">{t("approval.elsewhere")}</p>}
      {!isOpen && <Outcome approval={approval} decided={decided} sent={sent} />}
      <p className="sr" role="status">
        {!isOpen && decided === null && sent && t(`approval.${DECIDED[sent.decision]}`)}
      </p>
      {error && <ErrorBox error={error} />}
      {isOpen &&
        (editing ? (
          <ApprovalEdit
            runId={runId}
            call={approval.call}
            busy={decision.busy}
            onSend={(changed) => decision.send({ decision: "edit", arguments: changed })}
            onCancel={() => setEditing(false)}
          />
        ) : (
          <Choices busy={decision.busy} canEdit={canEdit} acts={acts} />
        ))}
    </div>
  );
}

/** Stays whatever is decided: what was wanted is never hidden. */
function ToolLine({ name, text }: { name: string; text: string }) {
  return (
    <>
      <span className="approval-name">{t("approval.tool", { name })}</span>{" "}
      <Exact text={text} />
    </>
  );
}

function useDecision(runId: string, approval: ApprovalView) {
  const { inbox, runs } = useData();
  const [sent, setSent] = useState<DecisionBody | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const isSettled = error instanceof ApiError && error.status === 409;
  const send = (body: DecisionBody) => {
    if (busy) return;
    setBusy(true);
    setError(null);
    api
      .decide(runId, approval.call.id, body)
      .then(() => setSent(body))
      .catch((reason: unknown) => setError(asError(reason)))
      .finally(() => {
        setBusy(false);
        inbox.reload();
        runs.reload();
      });
  };
  return { send, sent, busy, error, isSettled };
}

/** What had the focus may go with its buttons; then reading goes on at the card itself. */
function useFocusKept(card: RefObject<HTMLElement | null>, state: string): void {
  const hadFocus = card.current?.contains(document.activeElement) ?? false;
  useLayoutEffect(() => {
    const element = card.current;
    if (!element || !hadFocus || element.contains(document.activeElement)) return;
    (element.querySelector<HTMLElement>("[data-edit]") ?? element).focus();
  }, [state]);
}

function Expiry({ at }: { at: string }) {
  const now = useNow();
  const left = between(now, at);
  const shown =
    left < 60_000
      ? duration(Math.ceil(left / 1_000) * 1_000)
      : t("unit.whole_minutes", { n: Math.ceil(left / 60_000) });
  return (
    <span className="approval-expiry">
      {left === 0 ? t("approval.time_up") : t("approval.expires", { at: clock(at), left: shown })}
    </span>
  );
}

function Requests({ approval }: { approval: ApprovalView }) {
  const { requests, call } = approval;
  // Of a version that does not say what a call sends: its arguments are all there is to see.
  if (requests.length === 0) {
    return (
      <dl className="request">
        {Object.entries(call.arguments).map(([name, value]) => (
          <div key={name} className="request-line">
            <dt>{name}</dt>
            <dd>
              <Exact text={typeof value === "string" ? value : JSON.stringify(value)} />
            </dd>
          </div>
        ))}
      </dl>
    );
  }
  return <RequestList requests={requests} />;
}

interface OutcomeProperties {
  approval: ApprovalView;
  decided: Decision | null;
  sent: DecisionBody | null;
}

function Outcome({ approval, decided, sent }: OutcomeProperties) {
  const state = decided ?? (sent && DECIDED[sent.decision]);
  const edited = approval.decided?.arguments ?? sent?.arguments;
  const by = approval.decided?.by;
  return (
    <>
      {state === "edited" && edited && (
        <p className="approval-tool">
          <ToolLine
            name={approval.call.name}
            text={approval.decided?.preview || tellingText(edited)}
          />
        </p>
      )}
      {state && (
        <p className="approval-state">
          <Badge tone={state === "denied" ? "red" : "plain"} glyph={GLYPHS[state]}>
            {t(`approval.${state}`)}
          </Badge>{" "}
          <span>
            {[
              t(`approval.${state}.text`),
              by && t("approval.by", { by }),
              approval.decided && clock(approval.decided.at),
              decided === null && t("approval.going_on"),
            ]
              .filter(Boolean)
              .join(" · ")}
          </span>
        </p>
      )}
      <details className="approval-asked">
        <summary>{t("approval.asked")}</summary>
        {approval.reason && <p>{t("approval.why", { reason: approval.reason })}</p>}
        <Requests approval={approval} />
      </details>
      {approval.decided && approval.decided.requests.length > 0 && (
        <details className="approval-asked">
          <summary>{t("approval.instead")}</summary>
          <RequestList requests={approval.decided.requests} />
        </details>
      )}
    </>
  );
}

interface ChoiceProperties {
  busy: boolean;
  canEdit: boolean;
  acts: Record<string, () => void>;
}

function Choices({ busy, canEdit, acts }: ChoiceProperties) {
  return (
    <div className="actions">
      <Button kind="primary" aria-disabled={busy} aria-keyshortcuts="A" onClick={acts.a}>
        {t("approval.approve")} <kbd aria-hidden="true">A</kbd>
      </Button>
      {canEdit && (
        <Button aria-disabled={busy} aria-keyshortcuts="E" data-edit onClick={acts.e}>
          {t("approval.edit")} <kbd aria-hidden="true">E</kbd>
        </Button>
      )}
      <Button kind="danger" aria-disabled={busy} aria-keyshortcuts="D" onClick={acts.d}>
        {t("approval.deny")} <kbd aria-hidden="true">D</kbd>
      </Button>
    </div>
  );
}
