import { useState } from "react";
import { api, ApiError } from "../api/client.ts";
import type { Replay } from "../api/types.ts";
import { Button } from "../components/button.tsx";
import { copyText } from "../components/copy.ts";
import { StatusGlyph } from "../components/status.tsx";
import { useToast } from "../components/toast.tsx";
import { t } from "../strings/index.ts";
import { totalsOf } from "./ledger.ts";
import { saveFile } from "./save-file.ts";
import type { Ledger } from "./use-ledger.ts";
import type { RunView } from "./view.ts";
import { between, bytes, duration } from "./words.ts";

/** How the run ended, the sentence that explains it, what it cost, what one can do next. */
export function StatusLine({ view, ledger }: { view: RunView; ledger: Ledger }) {
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
      saveFile(await api.exportRun(view.id), `${view.id}.jsonl`);
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
      <p className="status-figures">{figures(view, ledger).join(" · ")}</p>
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

function figures(view: RunView, ledger: Ledger): string[] {
  const tokens = view.inputTokens + view.outputTokens;
  const words = [
    t("count.steps", { n: view.steps.length }),
    view.startedAt && view.finishedAt ? duration(between(view.startedAt, view.finishedAt)) : "",
    tokens > 0 ? t("count.tokens", { n: tokens }) : "",
    left(ledger),
  ];
  return words.filter(Boolean);
}

function left({ items, whole }: Ledger): string {
  const { requests, bytesOut, bytesIn } = totalsOf(items);
  if (!whole) return t("left.counting");
  if (requests === 0) return t("left.nothing");
  return t("left.total", { n: requests, sent: bytes(bytesOut), received: bytes(bytesIn) });
}
