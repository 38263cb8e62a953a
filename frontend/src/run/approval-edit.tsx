import { type FormEvent, type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { api } from "../api/client.ts";
import type { EditPreview, ToolCall } from "../api/types.ts";
import { Button } from "../components/button.tsx";
import { ErrorBox } from "../components/error.tsx";
import { asError } from "../shell/use-load.ts";
import { t } from "../strings/index.ts";
import { Exact } from "./exact.tsx";
import { RequestList } from "./request-preview.tsx";
import { exactParts } from "./words.ts";

/** After the last key, so that a word typed is one question to the server. */
const PREVIEW_MS = 250;

/** The arguments that are text, and so can be edited as text. */
export function editable({ arguments: all }: ToolCall): [string, string][] {
  return Object.entries(all).filter((entry): entry is [string, string] => typeof entry[1] === "string");
}

interface Properties {
  runId: string;
  call: ToolCall;
  busy: boolean;
  /** All arguments, the edited among them. */
  onSend: (changed: Record<string, unknown>) => void;
  onCancel: () => void;
}

export function ApprovalEdit({ runId, call, busy, onSend, onCancel }: Properties) {
  const original = editable(call);
  const [texts, setTexts] = useState(() => Object.fromEntries(original));
  const form = useRef<HTMLFormElement>(null);
  const isChanged = original.some(([name, text]) => texts[name] !== text);
  const changed = { ...call.arguments, ...texts };
  const { preview, error, isCurrent } = usePreview(runId, call.id, changed);
  // Only what has been shown can be approved.
  const isReady = isChanged && isCurrent && preview !== null && !busy;
  useEffect(() => {
    const first = form.current?.querySelector("textarea");
    first?.focus();
    first?.select();
  }, []);
  const submit = (event?: FormEvent) => {
    event?.preventDefault();
    if (isReady) onSend(changed);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      event.preventDefault(); // the page's Escape would stop the run
      onCancel();
    } else if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      if (!(event.target instanceof HTMLTextAreaElement)) return;
      event.preventDefault();
      submit();
    }
  };
  return (
    <form ref={form} className="approval-edit" onSubmit={submit} onKeyDown={onKeyDown}>
      {original.map(([name]) => (
        <EditedText
          key={name}
          name={name}
          text={texts[name] ?? ""}
          onChange={(text) => setTexts({ ...texts, [name]: text })}
        />
      ))}
      {preview && <RequestList requests={preview.requests} />}
      {error && <ErrorBox error={error} />}
      <p className="hint">{t("approval.edit.hint")}</p>
      <div className="actions">
        <Button kind="primary" type="submit" disabled={!isReady}>
          {t("approval.edit.send")} <span aria-hidden="true">⏎</span>
        </Button>
        <Button onClick={onCancel}>{t("action.cancel")}</Button>
      </div>
    </form>
  );
}

interface Shown {
  /** The arguments that it is about. */
  key: string;
  preview: EditPreview | null;
  error: Error | null;
}

/** What the call would send with these arguments, as the server would make it. */
function usePreview(runId: string, callId: string, given: Record<string, unknown>) {
  const [shown, setShown] = useState<Shown>({ key: "", preview: null, error: null });
  const key = JSON.stringify(given);
  useEffect(() => {
    const abort = new AbortController();
    const ask = () =>
      api.previewEdit(runId, callId, JSON.parse(key), abort.signal).then(
        (preview) => setShown({ key, preview, error: null }),
        (reason: unknown) => {
          if (!abort.signal.aborted) setShown({ key, preview: null, error: asError(reason) });
        },
      );
    const timer = setTimeout(() => void ask(), PREVIEW_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [runId, callId, key]);
  return { ...shown, isCurrent: shown.key === key };
}

interface TextProperties {
  name: string;
  text: string;
  onChange: (text: string) => void;
}

function EditedText({ name, text, onChange }: TextProperties) {
  const id = useId();
  const hides = exactParts(text).some((part) => part.isName);
  return (
    <div className="field">
      <label htmlFor={id}>{name}</label>
      <textarea id={id} rows={2} value={text} onChange={(change) => onChange(change.target.value)} />
      {hides && (
        <p className="field-hint">
          {t("approval.edit.reads")} <Exact text={text} />
        </p>
      )}
    </div>
  );
}
