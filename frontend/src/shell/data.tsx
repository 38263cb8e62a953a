// What several screens need: the server's configuration, models and knowledge bases.

import { createContext, type ReactNode, useContext } from "react";
import { api } from "../api/client.ts";
import type { Config, KnowledgeList, ModelList } from "../api/types.ts";
import { type Inbox, useInbox } from "./use-inbox.ts";
import { type Loaded, useLoad } from "./use-load.ts";
import { type RunList, useRuns } from "./use-runs.ts";

interface Data {
  config: Loaded<Config>;
  models: Loaded<ModelList>;
  knowledge: Loaded<KnowledgeList>;
  runs: RunList;
  inbox: Inbox;
}

const DataContext = createContext<Data | null>(null);

export function useData(): Data {
  const data = useContext(DataContext);
  if (!data) throw new Error("useData outside DataProvider");
  return data;
}

export function DataProvider({ children }: { children: ReactNode }) {
  const config = useLoad(api.config);
  const models = useLoad(api.models);
  const knowledge = useLoad(api.knowledge);
  const runs = useRuns();
  const inbox = useInbox(runs.items.some((run) => run.status === "waiting"));
  return <DataContext value={{ config, models, knowledge, runs, inbox }}>{children}</DataContext>;
}
