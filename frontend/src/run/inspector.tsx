import { Tabs } from "../components/tabs.tsx";
import { t } from "../strings/index.ts";
import { EventsPanel } from "./events-panel.tsx";
import { LeftPanel } from "./left-panel.tsx";
import { SourcesPanel } from "./sources-panel.tsx";
import type { Ledger } from "./use-ledger.ts";
import type { RunView } from "./view.ts";

export type PanelId = "sources" | "left" | "events";

export interface Focus {
  panel: PanelId;
  /** Source to highlight. */
  source: number | null;
}

interface Properties {
  view: RunView;
  ledger: Ledger;
  focus: Focus | null;
  onFocus: (focus: Focus) => void;
}

/** What stands beside the run. A panel that has nothing is not shown. */
export function Inspector({ view, ledger, focus, onFocus }: Properties) {
  const panels = panelsOf(view, ledger);
  const wanted = focus?.panel;
  const selected = panels.find((panel) => panel.id === wanted) ?? panels[0];
  if (!selected) return null;
  return (
    <Tabs
      label={t("inspector.title")}
      tabs={panels}
      selected={selected.id}
      onSelect={(panel) => onFocus({ panel, source: null })}
    >
      {selected.id === "sources" && <SourcesPanel view={view} highlighted={focus?.source ?? null} />}
      {selected.id === "left" && <LeftPanel view={view} ledger={ledger} />}
      {selected.id === "events" && <EventsPanel events={view.events} />}
    </Tabs>
  );
}

export function panelsOf(view: RunView, ledger: Ledger): { id: PanelId; label: string; count: number }[] {
  return [
    { id: "sources" as const, label: t("inspector.sources"), count: view.sources.length },
    { id: "left" as const, label: t("inspector.left"), count: ledger.items.length },
    { id: "events" as const, label: t("inspector.events"), count: view.events.length },
  ].filter((panel) => panel.count > 0);
}
