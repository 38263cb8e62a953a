// How the next question is worked on, and what it may send. Nothing here outlives the send.

import { useEffect, useId, useState } from "react";
import { api } from "../api/client.ts";
import type { KnowledgeBase, WebState } from "../api/types.ts";
import { LeavesBadge } from "../components/badge.tsx";
import { useToast } from "../components/toast.tsx";
import { visible } from "../run/words.ts";
import { t } from "../strings/index.ts";

export interface WebChoice {
  mode: "ask" | "research";
  web: boolean;
  /** Every search waits for this person's yes. */
  askFirst: boolean;
}

export const NO_WEB: WebChoice = { mode: "ask", web: false, askFirst: false };

const MODES = ["ask", "research", "deep"] as const;

interface Properties {
  choice: WebChoice;
  onChoose: (choice: WebChoice) => void;
}

export function ModeChoice({ choice, onChoose }: Properties) {
  const name = useId();
  const say = useToast();
  const pick = (mode: (typeof MODES)[number]) => {
    if (mode === "deep") say(t("mode.deep.why"));
    else onChoose({ ...choice, mode, web: mode === "research" || choice.web });
  };
  return (
    <div className="modes" role="radiogroup" aria-label={t("mode.title")}>
      {MODES.map((mode) => (
        <label key={mode} className={mode === "deep" ? "mode mode-off" : "mode"} title={t(`mode.${mode}.why`)}>
          <input
            type="radio"
            className="sr"
            name={name}
            checked={choice.mode === mode}
            aria-disabled={mode === "deep"}
            aria-describedby={mode === "deep" ? `${name}-why` : undefined}
            onChange={() => pick(mode)}
          />
          {t(`mode.${mode}`)}
        </label>
      ))}
      <span id={`${name}-why`} className="sr">
        {t("mode.deep.why")}
      </span>
    </div>
  );
}

/** Research is nothing without the web: switching that off goes back to asking. */
export function WebSwitch({ choice, onChoose }: Properties) {
  const on = choice.web;
  return (
    <button
      type="button"
      role="switch"
      aria-checked={on}
      className={`button web-switch ${on ? "web-on" : ""}`}
      title={t("composer.web.title")}
      onClick={() => onChoose(on ? NO_WEB : { ...choice, web: true })}
    >
      {on && <span aria-hidden="true">▲ </span>}
      {t(on ? "composer.web.on" : "composer.web.off")}
    </button>
  );
}

interface NoteProperties extends Properties {
  /** The knowledge bases that the question may read. */
  scope: readonly KnowledgeBase[];
}

/** What the switched-on web means for this one send. */
export function WebNotes({ choice, onChoose, scope }: NoteProperties) {
  const web = useWebState(choice.web);
  if (!choice.web) return null;
  const confidential = scope.filter((base) => base.label === "confidential");
  const names = confidential.map((base) => `#${visible(base.name)}`).join(", ");
  const rule = web?.approvals.confidential ?? "ask";
  const isBlocked = web?.approvals.web_search === "block";
  const alwaysAsks = web?.approvals.web_search === "ask";
  return (
    <div className="web-notes">
      <p>
        <LeavesBadge /> {t(choice.mode === "research" ? "web.note.research" : "web.note.ask")}
      </p>
      {isBlocked && <p>{t("web.note.blocked")}</p>}
      {confidential.length > 0 && <p>{t(`web.note.confidential.${rule}`, { names })}</p>}
      {alwaysAsks ? (
        <p>{t("web.note.asks")}</p>
      ) : (
        <label className="check-label">
          <input
            type="checkbox"
            checked={choice.askFirst}
            onChange={(change) => onChoose({ ...choice, askFirst: change.target.checked })}
          />
          {t("web.ask_first")}
        </label>
      )}
    </div>
  );
}

/** How the server handles the web, asked for when somebody wants to use it. */
function useWebState(wanted: boolean): WebState | null {
  const [state, setState] = useState<WebState | null>(null);
  useEffect(() => {
    if (!wanted) return;
    const abort = new AbortController();
    api.web(abort.signal).then(setState, () => {}); // the notes then say what holds by default
    return () => abort.abort();
  }, [wanted]);
  return state;
}
