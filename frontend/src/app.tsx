// The frame: runs on the left, the screen in the middle, the inspector beside a run.

import { type ReactNode, useCallback, useEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { api } from "./api/client.ts";
import { Button } from "./components/button.tsx";
import { copyText } from "./components/copy.ts";
import { Empty } from "./components/empty.tsx";
import { ErrorBox } from "./components/error.tsx";
import { Guard } from "./components/guard.tsx";
import { Sheet } from "./components/sheet.tsx";
import { useToast } from "./components/toast.tsx";
import { type Focus, Inspector, panelsOf } from "./run/inspector.tsx";
import { type Ledger, useLedger } from "./run/use-ledger.ts";
import { type FollowedRun, useRun } from "./run/use-run.ts";
import { hasEnded, openChildren, questionOf } from "./run/view.ts";
import { ApprovalsScreen } from "./screens/approvals.tsx";
import { DoctorScreen } from "./screens/doctor.tsx";
import { HomeScreen } from "./screens/home.tsx";
import { KnowledgeScreen } from "./screens/knowledge.tsx";
import { ModelsScreen } from "./screens/models.tsx";
import { RunScreen } from "./screens/run.tsx";
import { SettingsScreen } from "./screens/settings.tsx";
import { Announcer } from "./shell/announcer.tsx";
import { Composer } from "./shell/composer.tsx";
import { useData } from "./shell/data.tsx";
import { Link, navigate, type Route, routeOf, setAnchor, takeFocusRequest, usePath } from "./shell/router.tsx";
import { type Act, ShortcutList, useShortcuts } from "./shell/shortcuts.tsx";
import { Sidebar } from "./shell/sidebar.tsx";
import { asError } from "./shell/use-load.ts";
import { MIDDLE, useMedia, WIDE } from "./shell/use-media.ts";
import { t } from "./strings/index.ts";

export function App() {
  const path = usePath();
  const route = routeOf(path);
  const run = useRun(route.screen === "run" ? route.id : null);
  const ledger = useLedger(run?.loaded ? run.view : null);
  const wide = useMedia(WIDE);
  const middle = useMedia(MIDDLE);
  const [focus, setFocus] = useInspectorFocus(run);
  const [sheet, setSheet] = useState<"runs" | "inspector" | "shortcuts" | null>(null);
  const search = useRef<HTMLInputElement>(null);
  const input = useRef<HTMLTextAreaElement>(null);
  const stop = useStop(run);

  useScreenChange(path, run, () => setSheet(null));
  useRunsRefresh(run);
  useChildApprovals(run);
  const copyAnswer = useCopyAnswer(run);
  const onAct = (act: Act) => {
    const acts: Record<Act, () => void> = {
      shortcuts: () => setSheet("shortcuts"),
      new: () => {
        flushSync(() => navigate("/")); // not every screen has a composer
        input.current?.focus();
      },
      search: () => (middle ? search.current?.focus() : setSheet("runs")),
      composer: () => input.current?.focus(),
      next_step: () => focusStep(1),
      previous_step: () => focusStep(-1),
      approval: focusApproval,
      inspector: () => (wide ? focusInspector() : run && setSheet("inspector")),
      copy: copyAnswer,
      stop,
    };
    acts[act]();
  };
  useShortcuts(onAct);

  const onCite = useCallback(
    (n: number) => {
      setFocus({ panel: "sources", source: n });
      setAnchor(`source-${n}`);
      if (!wide) setSheet("inspector");
    },
    [wide, setFocus],
  );
  const inspector = run?.loaded && panelsOf(run.view, ledger).length > 0 && (
    <Inspector view={run.view} ledger={ledger} focus={focus} onFocus={setFocus} />
  );
  const asks = route.screen === "home" || route.screen === "run";
  return (
    <div className={`frame ${wide && route.screen === "run" ? "frame-inspector" : ""}`}>
      {middle ? (
        <Sidebar path={path} search={search} />
      ) : (
        <TopBar onMenu={() => setSheet("runs")} />
      )}
      <main className={route.screen === "home" ? "main main-home" : "main"}>
        <Guard key={path} fallback={(error) => <Broken error={error} />}>
          <Screen
            route={route}
            run={run}
            ledger={ledger}
            onCite={onCite}
            onInspect={
              wide
                ? null
                : (panel) => {
                    setFocus({ panel, source: null });
                    setSheet("inspector");
                  }
            }
          />
        </Guard>
        {asks && <Composer view={run?.view ?? null} onStop={stop} input={input} />}
      </main>
      {wide && route.screen === "run" && (
        <aside className="inspector" aria-label={t("inspector.title")}>
          {inspector}
        </aside>
      )}
      {sheet === "runs" && (
        <Sheet title={t("nav.title")} side="left" onClose={() => setSheet(null)}>
          <Sidebar path={path} search={search} />
        </Sheet>
      )}
      {sheet === "inspector" && !wide && (
        <Sheet title={t("inspector.title")} side="right" onClose={() => setSheet(null)}>
          {inspector}
        </Sheet>
      )}
      {sheet === "shortcuts" && <ShortcutList onClose={() => setSheet(null)} />}
      <Announcer view={run?.view ?? null} inbox={useData().inbox.items} />
    </div>
  );
}

interface ScreenProperties {
  route: Route;
  run: FollowedRun | null;
  ledger: Ledger;
  onCite: (n: number) => void;
  onInspect: ((panel: Focus["panel"]) => void) | null;
}

function Screen({ route, run, ledger, onCite, onInspect }: ScreenProperties): ReactNode {
  switch (route.screen) {
    case "home":
      return <HomeScreen />;
    case "run":
      return run && <RunScreen run={run} ledger={ledger} onCite={onCite} onInspect={onInspect} />;
    case "approvals":
      return <ApprovalsScreen />;
    case "knowledge":
      return <KnowledgeScreen />;
    case "models":
      return <ModelsScreen />;
    case "doctor":
      return <DoctorScreen />;
    case "settings":
      return <SettingsScreen />;
    case "missing":
      return (
        <div className="column">
          <h1 tabIndex={-1}>{t("missing.title")}</h1>
          <Empty title={t("missing.text")}>
            <Link to="/">{t("nav.new")}</Link>
          </Empty>
        </div>
      );
  }
}

function Broken({ error }: { error: Error }) {
  return (
    <div className="column">
      <h1 tabIndex={-1}>{t("broken.title")}</h1>
      <ErrorBox error={error} onRetry={() => location.reload()} />
      <p className="hint">{t("broken.hint")}</p>
    </div>
  );
}

function TopBar({ onMenu }: { onMenu: () => void }) {
  const { inbox } = useData();
  return (
    <header className="topbar">
      <Button small onClick={onMenu} aria-haspopup="dialog">
        <span aria-hidden="true">☰ </span>
        {t("nav.menu")}
      </Button>
      <Link to="/" className="brand">
        {t("brand")}
      </Link>
      {inbox.items.length > 0 && (
        <Link to="/approvals" className="topbar-approvals">
          {t("approvals.count", { n: inbox.items.length })}
        </Link>
      )}
    </header>
  );
}

/** Which panel is shown, and which source stands out; a source's address opens it. */
function useInspectorFocus(run: FollowedRun | null) {
  const id = run?.view.id;
  const loaded = run?.loaded ?? false;
  const [focus, setFocus] = useState<Focus | null>(null);
  useEffect(() => {
    const match = /^#source-(\d+)$/.exec(location.hash);
    setFocus(match ? { panel: "sources", source: Number(match[1]) } : null);
  }, [id, loaded]);
  return [focus, setFocus] as const;
}

function useStop(run: FollowedRun | null): () => void {
  const say = useToast();
  return () => {
    if (!run || hasEnded(run.view.status)) return; // one that is not loaded yet can be stopped, too
    api.cancel(run.view.id).catch((reason: unknown) => say(asError(reason).message));
  };
}

function useCopyAnswer(run: FollowedRun | null): () => void {
  const say = useToast();
  return () => {
    if (!run?.view.answer) return;
    void copyText(run.view.answer).then((done) => say(t(done ? "copied" : "copy.failed")));
  };
}

/** Title of the tab, focus on the new screen's heading, sheets closed. */
function useScreenChange(path: string, run: FollowedRun | null, onChange: () => void): void {
  useEffect(() => {
    onChange();
    if (takeFocusRequest()) document.querySelector<HTMLElement>("main h1")?.focus();
  }, [path]);
  const question = run?.loaded ? questionOf(run.view).slice(0, 80) : "";
  const waiting = useData().inbox.items.length;
  useEffect(() => {
    const title = question ? t("title.run", { question }) : t("brand");
    document.title = waiting > 0 ? t("title.waiting", { n: waiting, title }) : title;
  }, [question, waiting]);
}

/** The list of runs shows a run's new status as soon as this page knows it. */
function useRunsRefresh(run: FollowedRun | null): void {
  const { runs } = useData();
  const status = run?.loaded ? run.view.status : null;
  const reload = runs.reload;
  useEffect(() => {
    if (status) reload();
  }, [run?.view.id, status, reload]);
}

const CHILD_WATCH_MS = 3_000;

/** A child run may wait for a person, also while those beside it keep its parent running. */
function useChildApprovals(run: FollowedRun | null): void {
  const reload = useData().inbox.reload;
  const status = run?.view.status;
  const watch = run !== null && openChildren(run.view).length > 0;
  useEffect(() => {
    if (!watch) return;
    reload();
    const timer = setInterval(reload, CHILD_WATCH_MS);
    return () => clearInterval(timer);
  }, [watch, status, reload]);
}

function focusApproval(): void {
  document.querySelector<HTMLElement>("main .approval-open")?.focus();
}

function focusStep(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>(".steps .row-line")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const next = at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by;
  rows[next]?.focus();
}

function focusInspector(): void {
  document.querySelector<HTMLElement>(".inspector [role=tab][aria-selected=true]")?.focus();
}
