import { type RefObject, useEffect, useMemo, useState } from "react";
import type { RunSummary } from "../api/types.ts";
import { ErrorBox } from "../components/error.tsx";
import { StatusGlyph } from "../components/status.tsx";
import { VirtualList } from "../components/virtual-list.tsx";
import { clock, day, visible } from "../run/words.ts";
import { t } from "../strings/index.ts";
import { useData } from "./data.tsx";
import { Link, runPath } from "./router.tsx";

const RUN_PX = 48;
const DAY_PX = 30;

type Line = { kind: "day"; text: string } | { kind: "run"; run: RunSummary };

interface Properties {
  path: string;
  search: RefObject<HTMLInputElement | null>;
}

/** What waits for a person, past runs by day, and the ways to the other screens. */
export function Sidebar({ path, search }: Properties) {
  const { runs, inbox } = useData();
  const [wanted, setWanted] = useState("");
  const lines = useMemo(() => linesOf(runs.items, wanted), [runs.items, wanted]);
  // A search that looks at the first page only would lie: it reads on until the end.
  useEffect(() => {
    if (wanted && runs.more) runs.loadMore();
  }, [wanted, runs]);
  return (
    <nav className="sidebar" aria-label={t("nav.title")}>
      <Link to="/" className="button button-plain new-run" aria-current={here(path, "/")}>
        <span aria-hidden="true">+ </span>
        {t("nav.new")}
      </Link>
      <input
        ref={search}
        type="search"
        className="search"
        aria-label={t("runs.search")}
        placeholder={t("runs.search")}
        value={wanted}
        onChange={(change) => setWanted(change.target.value)}
      />
      {runs.error && <ErrorBox error={runs.error} onRetry={runs.reload} />}
      {runs.loaded && !runs.error && lines.length === 0 && (
        <p className="sidebar-empty">{t(wanted ? "runs.not_found" : "runs.empty")}</p>
      )}
      <VirtualList
        label={t("runs.title")}
        className="runs"
        items={lines}
        heightOf={heightOf}
        keyOf={keyOf}
        onEnd={runs.loadMore}
        render={(line) =>
          line.kind === "day" ? (
            <h2 className="runs-day">{line.text}</h2>
          ) : (
            <RunLink run={line.run} path={path} />
          )
        }
      />
      <div className="sidebar-foot">
        <Link to="/approvals" aria-current={here(path, "/approvals")}>
          {t("nav.approvals")}
          {inbox.items.length > 0 && <span className="count">{inbox.items.length}</span>}
        </Link>
        {(["knowledge", "models", "doctor", "settings"] as const).map((screen) => (
          <Link key={screen} to={`/${screen}`} aria-current={here(path, `/${screen}`)}>
            {t(`nav.${screen}`)}
          </Link>
        ))}
        <a href="/docs">{t("nav.docs")}</a>
      </div>
    </nav>
  );
}

function RunLink({ run, path }: { run: RunSummary; path: string }) {
  const to = runPath(run.id);
  const needsMe = run.status === "waiting" || run.status === "incomplete";
  const title = visible(run.title);
  return (
    <Link to={to} className="run-link" aria-current={here(path, to)} title={title}>
      <StatusGlyph status={run.status} />
      <span className="run-title">{title}</span>
      <span className="run-detail">
        {[clock(run.created_at), needsMe ? t(`status.${run.status}`) : visible(run.model)].join(" · ")}
      </span>
    </Link>
  );
}

function here(path: string, to: string): "page" | undefined {
  return path === to ? "page" : undefined;
}

const heightOf = (line: Line) => (line.kind === "day" ? DAY_PX : RUN_PX);
const keyOf = (line: Line) => (line.kind === "day" ? `day ${line.text}` : line.run.id);

function linesOf(runs: readonly RunSummary[], wanted: string): Line[] {
  const now = new Date();
  const needle = wanted.trim().toLowerCase();
  const shown = runs.filter((run) => {
    const text = `${run.title} ${run.id} ${run.model}`.toLowerCase();
    // A child is shown inside the run that started it.
    return run.parent === null && (!needle || text.includes(needle));
  });
  const waits = (run: RunSummary) => run.status === "waiting";
  const lines: Line[] = [];
  let last = "";
  for (const run of [...shown.filter(waits), ...shown.filter((each) => !waits(each))]) {
    const date = waits(run) ? t("runs.waiting") : day(run.created_at, now);
    if (date !== last) lines.push({ kind: "day", text: date });
    last = date;
    lines.push({ kind: "run", run });
  }
  return lines;
}
