import { useState } from "react";
import { api, ApiError } from "../api/client.ts";
import type { Replay } from "../api/types.ts";
import { Button } from "../components/button.tsx";
import { copyText } from "../components/copy.ts";
import { StatusGlyph } from "../components/status.tsx";
import { useToast } from "../components/toast.tsx";
import { t } from "../strings/index.ts";
import { hasLeft, type RunView } from "./view.ts";
import { between, bytes, duration } from "./words.ts";

/** How the run ended, the sentence that explains it, what it cost, what one can do next. */
export function StatusLine({ view }: { view: RunView }) {
  const [replay, setReplay] = useState<Replay | "going" | null>(null);
  const say = useToast();
  const fail = (error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    say([error.message, error.hint].filter(Boolean).join(" "));
  };
  const onReplay = async () => {
    setReplay("going");
    try {
      setReplay(await api.replay(view.id));
    } catch (error) {
      setReplay(null);
      fail(error);
    }
  };
  const onExport = async () => {
    try {
      save(await api.exportRun(view.id), `${view.id}.jsonl`);
    } catch (error) {
      fail(error);
    }
  };
  const onCopy = () =>
    void copyText(view.answer).then((done) => say(t(done ? "copied" : "copy.failed")));
  return (
    <footer className="status-line">
      <p>
        <StatusGlyph status={view.status} words />
        {view.explanation && <span className="status-why"> — {view.explanation}</span>}
      </p>
      <p className="status-figures">{figures(view).join(" · ")}</p>
      <div className="actions">
        {view.answer && (
          <Button small onClick={onCopy}>
            {t("action.copy_answer")}
          </Button>
        )}
        <Button small onClick={() => void onReplay()} disabled={replay === "going"}>
          {t("action.replay")}
        </Button>
        <Button small onClick={() => void onExport()}>
          {t("action.export")}
        </Button>
        <span role="status" className="replay-result">
          {replay === "going" && t("replay.going")}
          {replay && replay !== "going" && <ReplayResult replay={replay} />}
        </span>
      </div>
    </footer>
  );
}

function ReplayResult({ replay }: { replay: Replay }) {
  if (replay.identical) return <>✓ {t("replay.identical")}</>;
  return (
    <span className="text-red">
      ✕ {t("replay.differs", { difference: replay.difference ?? "" })}
    </span>
  );
}

function figures(view: RunView): string[] {
  const sent = view.egress.reduce((sum, entry) => sum + entry.bytesOut, 0);
  const tokens = view.inputTokens + view.outputTokens;
  const words = [
    t("count.steps", { n: view.steps.length }),
    view.startedAt && view.finishedAt ? duration(between(view.startedAt, view.finishedAt)) : "",
    tokens > 0 ? t("count.tokens", { n: tokens }) : "",
    view.egress.some(hasLeft)
      ? t("left.total", { size: bytes(sent) })
      : t(someCallLeft(view) ? "left.some" : "left.nothing"),
  ];
  return words.filter(Boolean);
}

/** A call did that the ledger does not hold: a child run's requests are in its own. */
function someCallLeft(view: RunView): boolean {
  const unsent = new Set(view.egress.map((entry) => entry.callId));
  const calls = view.steps.flatMap((step) => step.calls);
  return calls.some((row) => row.network && !unsent.has(row.call.id));
}

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
