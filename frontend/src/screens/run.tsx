import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { Empty } from "../components/empty.tsx";
import { KeyWanted } from "../run/key-wanted.tsx";
import { ErrorBox } from "../components/error.tsx";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Answer } from "../markdown/answer.tsx";
import { panelsOf, type PanelId } from "../run/inspector.tsx";
import type { Ledger } from "../run/use-ledger.ts";
import { LiveLine } from "../run/live-line.tsx";
import { StatusLine } from "../run/status-line.tsx";
import { Steps } from "../run/steps.tsx";
import type { FollowedRun } from "../run/use-run.ts";
import { hasEnded, questionOf, type RunView } from "../run/view.ts";
import { clock, day, visible } from "../run/words.ts";
import { Link, runPath } from "../shell/router.tsx";
import { t } from "../strings/index.ts";

const NEAR_END_PX = 40;

interface Properties {
  run: FollowedRun;
  ledger: Ledger;
  /** Given where the inspector is a sheet: buttons that open it. */
  onInspect: ((panel: PanelId) => void) | null;
  onCite: (n: number) => void;
}

export function RunScreen({ run, ledger, onInspect, onCite }: Properties) {
  const { view } = run;
  const { setScroller, leave } = useFollowedEnd(view);
  if (run.error && !run.loaded) {
    return (
      <div className="column">
        <h1 tabIndex={-1}>{t("run.title")}</h1>
        <ErrorBox error={run.error} onRetry={run.retry} />
      </div>
    );
  }
  if (!run.loaded) return <p className="column loading">{t("loading")}</p>;
  const ended = hasEnded(view.status);
  return (
    <div className="scroll" ref={setScroller}>
      <article className="column run">
        <Question view={view} ledger={ledger} onInspect={onInspect} />
        <Steps key={view.id} view={view} onOpen={leave} />
        {!ended && <LiveLine run={run} />}
        {view.waitingFor === "needs_credential" && <KeyWanted id={view.id} />}
        {run.error && <ErrorBox error={run.error} onRetry={run.retry} />}
        <AnswerSection view={view} onCite={onCite} />
        {ended && <StatusLine key={view.id} view={view} ledger={ledger} />}
      </article>
    </div>
  );
}

function Question({ view, ledger, onInspect }: Pick<Properties, "ledger" | "onInspect"> & { view: RunView }) {
  const earlier = view.messages.slice(0, -1).filter((message) => message.role !== "system");
  return (
    <header className="question">
      {earlier.length > 0 && (
        <details className="earlier">
          <summary>{t("run.earlier", { n: earlier.length })}</summary>
          {earlier.map((message, at) => (
            <p key={at} className={`earlier-${message.role}`}>
              <strong>{t(message.role === "user" ? "run.you" : "run.answer")}</strong>{" "}
              {message.text}
            </p>
          ))}
        </details>
      )}
      <p className="question-by">{t("run.you")}</p>
      <h1 tabIndex={-1}>{questionOf(view) || t("run.title")}</h1>
      <p className="question-meta">
        {[
          visible(view.model),
          view.startedAt && `${day(view.startedAt, new Date())} ${clock(view.startedAt)}`,
        ]
          .filter(Boolean)
          .join(" · ")}
        {view.web && !view.noWebBecause && (
          <>
            {" "}
            <Badge>{t("run.web_allowed")}</Badge>
          </>
        )}
        {view.parent && (
          <>
            {" · "}
            <Link to={runPath(view.parent)}>{t("run.parent")}</Link>
          </>
        )}
      </p>
      {view.noWebBecause && (
        <p className="question-no-web">
          <Badge tone="red" glyph="⊘">
            {t("run.no_web")}
          </Badge>{" "}
          {view.noWebBecause}
        </p>
      )}
      {onInspect && (
        <div className="actions">
          {panelsOf(view, ledger).map((panel) => (
            <Button small key={panel.id} onClick={() => onInspect(panel.id)}>
              {panel.label} {panel.count}
            </Button>
          ))}
        </div>
      )}
    </header>
  );
}

function AnswerSection({ view, onCite }: { view: RunView; onCite: (n: number) => void }) {
  const ended = hasEnded(view.status);
  const text = ended ? view.answer : view.live.text;
  const known = view.sources.map((source) => source.n);
  if (!text) {
    if (!view.live.reasoning) return ended && !view.explanation ? <NoAnswer /> : null;
    return <Thoughts text={view.live.reasoning} />;
  }
  return (
    <section className="answer" aria-label={t("run.answer")}>
      {view.live.reasoning && <Thoughts text={view.live.reasoning} />}
      <Answer text={text} known={known} onCite={onCite} />
      {view.unsupported.length > 0 && (
        <div className="unsupported">
          <p>
            <Badge tone="red" glyph="✕">
              {t("run.unsupported", { n: view.unsupported.length })}
            </Badge>
          </p>
          <ul>
            {view.unsupported.map((claim) => (
              <li key={claim}>{claim}</li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

function Thoughts({ text }: { text: string }) {
  return (
    <details className="thoughts">
      <summary>{t("reply.reasoning")}</summary>
      <p>{text}</p>
    </details>
  );
}

function NoAnswer() {
  return (
    <Empty title={t("run.no_answer")}>
      <p>{t("run.no_answer.hint")}</p>
    </Empty>
  );
}

/** Keeps the end in sight while a run goes on, until the reader scrolls or opens something. */
function useFollowedEnd(view: RunView) {
  const [scroller, setScroller] = useState<HTMLDivElement | null>(null);
  const following = useRef(false);
  const seenTop = useRef(0);
  const live = view.lastSeq >= 0 && !hasEnded(view.status);
  useEffect(() => {
    if (live) following.current = true;
  }, [view.id, live]);
  useEffect(() => {
    if (!scroller) return;
    const onScroll = () => {
      const top = scroller.scrollTop;
      const below = scroller.scrollHeight - top - scroller.clientHeight;
      // We only ever scroll down: up, by however little, is the reader's wish to stay there.
      following.current = top < seenTop.current ? below < 1 : below < NEAR_END_PX;
      seenTop.current = top;
    };
    scroller.addEventListener("scroll", onScroll, { passive: true });
    return () => scroller.removeEventListener("scroll", onScroll);
  }, [scroller]);
  useLayoutEffect(() => {
    if (!scroller || !following.current) return;
    scroller.scrollTop = scroller.scrollHeight;
    seenTop.current = scroller.scrollTop;
  });
  const leave = useCallback(() => {
    following.current = false;
  }, []);
  return { setScroller, leave };
}
