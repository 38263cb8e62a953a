// Where a question is written: model, knowledge, web, mode, send. Stop stands where Send stood.

import { type FormEvent, type KeyboardEvent, type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import { api } from "../api/client.ts";
import type { RunRequest } from "../api/types.ts";
import { Button } from "../components/button.tsx";
import { ErrorBox } from "../components/error.tsx";
import { hasEnded, type RunView } from "../run/view.ts";
import { t } from "../strings/index.ts";
import { useData } from "./data.tsx";
import { KnowledgePicker, ModelPicker, usableModel } from "./pickers.tsx";
import { navigate, runPath } from "./router.tsx";
import { useChosenModel } from "./settings.ts";
import { asError } from "./use-load.ts";
import { ModeChoice, NO_WEB, type WebChoice, WebNotes, WebSwitch } from "./web-choice.tsx";

const DRAFT = "inglenook.draft";

interface Properties {
  /** The run on the screen: a new question goes on from it. */
  view: RunView | null;
  onStop: () => void;
  input: RefObject<HTMLTextAreaElement | null>;
}

export function Composer({ view, onStop, input }: Properties) {
  const { config, models, knowledge, runs } = useData();
  const [text, setText] = useState(() => sessionStorage.getItem(DRAFT) ?? "");
  const [scope, setScope] = useScope(view);
  const [choice, setChoice] = useState(NO_WEB);
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const [remembered, remember] = useChosenModel();
  const attempt = useRef({ body: "", id: "" });
  const model = usableModel(models.data, remembered);
  const going = view !== null && !hasEnded(view.status);
  const ready = text.trim() !== "" && model !== null && !sending && !going;

  useEffect(() => sessionStorage.setItem(DRAFT, text), [text]);
  useEffect(() => setChoice(NO_WEB), [view?.id]);
  useEffect(() => setError(null), [view?.id]);
  useLayoutEffect(() => fitHeight(input.current), [text, input]);

  const submit = async (event?: FormEvent) => {
    event?.preventDefault();
    if (!ready) return;
    const request = requestFor({ view, text: text.trim(), model, scope, choice });
    setChoice(NO_WEB); // whatever comes of it: the next send needs a new yes
    setSending(true);
    setError(null);
    try {
      const body = JSON.stringify(request);
      // The same request sent again after a lost answer must not start a second run.
      if (attempt.current.body !== body) attempt.current = { body, id: attemptId() };
      const run = await api.startRun(request, attempt.current.id);
      attempt.current = { body: "", id: "" };
      setText("");
      navigate(runPath(run.id));
      runs.reload();
    } catch (reason) {
      setError(asError(reason));
    } finally {
      setSending(false);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter that ends an input method's composition is not a send.
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void submit();
  };
  const example = config.data?.example_question;
  const useExample = () => {
    setText(example ?? "");
    setScope(config.data?.example_knowledge ?? []);
    input.current?.focus();
  };

  return (
    <form className="composer" aria-label={t("composer.title")} onSubmit={(e) => void submit(e)}>
      {error && <ErrorBox error={error} />}
      {view === null && model !== null && example && text === "" && (
        <Button kind="quiet" className="example" onClick={useExample}>
          <span className="example-mark">{t("composer.example")}</span> {example}
        </Button>
      )}
      <div className="composer-box">
        <textarea
          ref={input}
          rows={1}
          aria-label={t("composer.question")}
          placeholder={t(view ? "composer.follow_up" : "composer.placeholder")}
          value={text}
          onChange={(change) => setText(change.target.value)}
          onKeyDown={onKeyDown}
        />
        <WebNotes
          choice={choice}
          onChoose={setChoice}
          scope={(knowledge.data?.items ?? []).filter((base) => scope.includes(base.id))}
        />
        <div className="composer-bar">
          <ModelPicker models={models} chosen={model} onChoose={remember} />
          <KnowledgePicker knowledge={knowledge} scope={scope} onScope={setScope} />
          <WebSwitch choice={choice} onChoose={setChoice} />
          <ModeChoice choice={choice} onChoose={setChoice} />
          {going ? (
            <Button kind="danger" className="send" onClick={onStop}>
              <span aria-hidden="true">■ </span>
              {t("action.stop")}
            </Button>
          ) : (
            <Button kind="primary" className="send" type="submit" disabled={!ready}>
              {t("action.send")} <span aria-hidden="true">⏎</span>
            </Button>
          )}
        </div>
      </div>
    </form>
  );
}

interface Asked {
  view: RunView | null;
  text: string;
  model: string;
  scope: readonly string[];
  choice: WebChoice;
}

/** A question on a run's screen goes on from it: what was said before is sent along. */
export function requestFor({ view, text, model, scope, choice }: Asked): RunRequest {
  const before = (view?.messages ?? []).flatMap(({ role, text: said }) =>
    role === "user" || role === "assistant" ? [{ role, content: said }] : [],
  );
  if (view?.answer) before.push({ role: "assistant", content: view.answer });
  const session = view ? { session: view.session ?? view.id } : {};
  const messages = [...before, { role: "user" as const, content: text }];
  const { web, mode, askFirst } = choice;
  return {
    model,
    messages,
    knowledge: [...scope],
    web,
    ...(mode === "research" ? { strategy: "research" as const } : {}),
    ...(web && askFirst ? { approvals: { web_search: "ask" as const } } : {}),
    ...session,
  };
}

/** Knowledge bases of the next question: the shown run's, or none. */
function useScope(view: RunView | null) {
  const [scope, setScope] = useState<readonly string[]>([]);
  const known = view !== null && view.lastSeq >= 0;
  useEffect(() => setScope(known ? view.knowledge : []), [view?.id, known]);
  return [scope, setScope] as const;
}

function attemptId(): string {
  const random = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function fitHeight(area: HTMLTextAreaElement | null): void {
  if (!area) return;
  area.style.height = "auto";
  area.style.height = `${Math.min(area.scrollHeight, 200)}px`;
}
