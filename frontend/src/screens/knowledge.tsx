import { type FormEvent, useCallback, useEffect, useState } from "react";
import { api } from "../api/client.ts";
import type { IngestResult, KnowledgeBase } from "../api/types.ts";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Card } from "../components/card.tsx";
import { Empty } from "../components/empty.tsx";
import { ErrorBox } from "../components/error.tsx";
import { Field } from "../components/field.tsx";
import { bytes, visible } from "../run/words.ts";
import { useData } from "../shell/data.tsx";
import { Link } from "../shell/router.tsx";
import { asError, useLoad } from "../shell/use-load.ts";
import { t } from "../strings/index.ts";

/** Vectors fill in behind the ingest; the figure is read again while they do. */
const WATCH_MS = 2_000;

export function KnowledgeScreen() {
  const { knowledge } = useData();
  const { data, error, reload } = knowledge;
  const local = data?.provider === "local";
  const filling = local && data.items.some((item) => item.embedded < item.chunks);
  useEffect(() => {
    if (!filling) return;
    const timer = setInterval(reload, WATCH_MS);
    return () => clearInterval(timer);
  }, [filling, reload]);
  return (
    <div className="scroll">
      <div className="column">
        <h1 tabIndex={-1}>{t("nav.knowledge")}</h1>
        <p className="lead">{t(data?.provider === "open-webui" ? "kb.lead.remote" : "kb.lead")}</p>
        {error && <ErrorBox error={error} onRetry={reload} />}
        {!data && !error && <p className="loading">{t("loading")}</p>}
        {data?.items.length === 0 && (
          <Empty title={t("kb.empty")}>
            {local ? (
              <p>{t("kb.empty.local")}</p>
            ) : (
              <p>
                {t("kb.empty.remote")} <Link to="/settings">{t("nav.settings")}</Link>
              </p>
            )}
          </Empty>
        )}
        {data?.items.map((item) => (
          <BaseCard key={item.id} base={item} local={local} onChanged={reload} />
        ))}
        {local && <CreateCard onCreated={reload} />}
      </div>
    </div>
  );
}

interface Progress {
  at: number;
  of: number;
}

interface BaseProperties {
  base: KnowledgeBase;
  local: boolean;
  onChanged: () => void;
}

function BaseCard({ base, local, onChanged }: BaseProperties) {
  const [results, setResults] = useState<IngestResult[]>([]);
  const [busy, setBusy] = useState<Progress | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [open, setOpen] = useState(false);
  const upload = async (files: readonly File[]) => {
    setError(null);
    setResults([]);
    try {
      // One by one: each file's fate shows at once, and one too large stops none before it.
      for (const [at, file] of files.entries()) {
        setBusy({ at: at + 1, of: files.length });
        const done = (await api.upload(base.id, file)).results;
        setResults((before) => [...before, ...done]);
      }
    } catch (reason) {
      setError(asError(reason));
    } finally {
      setBusy(null);
      onChanged();
    }
  };
  const name = visible(base.name);
  return (
    <Card
      title={`#${name}`}
      aside={base.label === "confidential" && <Badge>{t("knowledge.confidential")}</Badge>}
    >
      <p className="card-line">{figures(base, local)}</p>
      <div
        className="actions"
        onDragOver={(event) => local && event.preventDefault()}
        onDrop={(event) => {
          if (!local) return;
          event.preventDefault();
          void upload([...event.dataTransfer.files]);
        }}
      >
        {local && <UploadButton name={name} busy={busy} onFiles={(files) => void upload(files)} />}
        <Button small aria-expanded={open} onClick={() => setOpen(!open)}>
          {t(open ? "kb.files.hide" : "kb.files.show")}
          <span className="sr"> {name}</span>
        </Button>
      </div>
      {error && <ErrorBox error={error} />}
      <div role="status">{results.length > 0 && <Results results={results} />}</div>
      {open && <FileList key={base.files} id={base.id} />}
    </Card>
  );
}

function figures(base: KnowledgeBase, local: boolean): string {
  const words = [t("count.files", { n: base.files })];
  if (local) words.push(t("kb.chunks", { n: base.chunks }));
  if (local && base.embedded < base.chunks) {
    words.push(t("kb.embedding", { done: base.embedded, of: base.chunks }));
  }
  return words.join(" · ");
}

interface UploadProperties {
  name: string;
  busy: Progress | null;
  onFiles: (files: readonly File[]) => void;
}

function UploadButton({ name, busy, onFiles }: UploadProperties) {
  return (
    <label className={`button button-plain button-small upload ${busy ? "upload-busy" : ""}`}>
      {busy ? t("kb.uploading", { at: busy.at, of: busy.of }) : t("kb.upload")}
      <input
        type="file"
        multiple
        className="sr"
        disabled={busy !== null}
        aria-label={t("kb.upload.to", { name })}
        onChange={(change) => {
          onFiles([...(change.target.files ?? [])]);
          change.target.value = ""; // the same file may be chosen again
        }}
      />
    </label>
  );
}

function Results({ results }: { results: readonly IngestResult[] }) {
  return (
    <ul className="results">
      {results.map((result) => (
        <li key={result.name} className={result.outcome === "failed" ? "text-red" : ""}>
          <span aria-hidden="true">{result.outcome === "failed" ? "✕ " : "✓ "}</span>
          <bdi>{visible(result.name)}</bdi> — {t(`ingest.${result.outcome}`)}
          {result.detail && `: ${result.detail}`}
        </li>
      ))}
    </ul>
  );
}

function FileList({ id }: { id: string }) {
  const load = useCallback((signal: AbortSignal) => api.files(id, signal), [id]);
  const { data, error, reload } = useLoad(load);
  if (error) return <ErrorBox error={error} onRetry={reload} />;
  if (!data) return <p className="loading">{t("loading")}</p>;
  if (data.items.length === 0) return <p className="hint">{t("kb.files.none")}</p>;
  return (
    <ul className="files">
      {data.items.map((file) => (
        <li key={file.id}>
          <bdi>{visible(file.name)}</bdi>
          <span className="files-size">
            {file.size_bytes !== null && bytes(file.size_bytes)}
          </span>
        </li>
      ))}
    </ul>
  );
}

function CreateCard({ onCreated }: { onCreated: () => void }) {
  const [name, setName] = useState("");
  const [confidential, setConfidential] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setError(null);
    try {
      await api.createKnowledge(name.trim(), confidential ? "confidential" : "normal");
      setName("");
      setConfidential(false);
      onCreated();
    } catch (reason) {
      setError(asError(reason));
    }
  };
  return (
    <Card title={t("kb.create")}>
      <form onSubmit={(event) => void submit(event)}>
        <Field
          label={t("kb.name")}
          value={name}
          required
          maxLength={200}
          onChange={(change) => setName(change.target.value)}
        />
        <label className="check-label">
          <input
            type="checkbox"
            checked={confidential}
            onChange={(change) => setConfidential(change.target.checked)}
          />
          {t("kb.confidential")}
        </label>
        {error && <ErrorBox error={error} />}
        <div className="actions">
          <Button kind="primary" type="submit" disabled={name.trim() === ""}>
            {t("kb.create.button")}
          </Button>
        </div>
      </form>
    </Card>
  );
}
