import { useEffect, useState } from "react";
import { t } from "../strings/index.ts";
import { hostForms } from "./hosts.ts";
import type { FollowedRun } from "./use-run.ts";
import type { CallView, RunView } from "./view.ts";
import { between, duration, telling } from "./words.ts";

/** What is going on now, and for how long. */
export function LiveLine({ run }: { run: FollowedRun }) {
  const { view } = run;
  const now = useNow();
  const since = sinceWhen(view);
  const waited = since === null ? "" : wholeSeconds(between(since, now));
  const step = view.steps.at(-1)?.n;
  const words = [
    step !== undefined && view.maxSteps !== null
      ? t("live.step_of", { step, of: view.maxSteps })
      : step !== undefined && t("live.step", { step }),
    t(...doing(view)),
    waited,
    !run.connected && t("live.reconnecting"),
  ];
  return (
    <p className="live-line">
      <span className="live-mark" aria-hidden="true">
        ◌
      </span>{" "}
      {words.filter(Boolean).join(" · ")}
    </p>
  );
}

function wholeSeconds(ms: number): string {
  return ms < 1_000 ? t("unit.seconds", { n: 0 }) : duration(Math.floor(ms / 1_000) * 1_000);
}

function doing(view: RunView): Parameters<typeof t> {
  const open = view.steps.at(-1)?.calls.filter((row) => row.finished === null) ?? [];
  if (view.status === "waiting") return [waitingWords(view.waitingFor)];
  const web = onTheWeb(open);
  if (web) return web;
  if (open.length > 0) return ["live.calls", { n: open.length, name: open[0]?.call.name ?? "" }];
  if (view.live.thinking) return ["live.thinking", { model: view.model }];
  if (view.live.text) return ["live.writing", { model: view.model }];
  if (view.live.modelSince) return ["live.model", { model: view.model }];
  return [view.steps.length > 0 ? "live.next" : "live.starting"];
}

/** Where every open call is on the web: what it looks for, or whom it reads. */
function onTheWeb(open: readonly CallView[]): Parameters<typeof t> | null {
  const texts = open.map(({ call }) => telling(call.arguments));
  const all = (name: string) => open.length > 0 && open.every(({ call }) => call.name === name);
  if (all("web_search")) return ["live.search", { query: texts.join(" · ") }];
  if (!all("visit_webpage")) return null;
  return ["live.read", { domain: texts.map((url) => hostForms(url)?.ascii ?? url).join(", ") }];
}

function waitingWords(reason: string | null) {
  if (reason === "needs_credential") return "live.waiting.credential" as const;
  return reason === "approval" ? ("live.waiting.approval" as const) : ("live.waiting" as const);
}

function sinceWhen(view: RunView): string | null {
  const step = view.steps.at(-1);
  const open = step?.calls.find((row) => row.finished === null);
  return open?.startedAt ?? view.live.modelSince ?? step?.startedAt ?? view.startedAt;
}

export function useNow(): string {
  const [now, setNow] = useState(() => new Date().toISOString());
  useEffect(() => {
    const timer = setInterval(() => setNow(new Date().toISOString()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
