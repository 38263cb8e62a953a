// What a web tool gave back without sending anything, and how old that is. The tools say so at a
// fixed place before any text of a page (src/inglenook/tools/web.py and web_page.py).

import { t } from "../strings/index.ts";
import type { CallView } from "./view.ts";
import { between } from "./words.ts";

const CHANGED = "(?:\\[The user changed this call[^\\n]*\\n\\n)?";
const SEARCH = new RegExp(`^${CHANGED}From the cache: [^\\n]* was asked this ([^\\n.]+)\\. Nothing was sent\\.`);
const PAGE = new RegExp(
  `^${CHANGED}\\[\\d+\\] [^\\n]*\\n[^\\n]*\\nRead (\\d{4}-\\d\\d-\\d\\d) (\\d\\d:\\d\\d) UTC, (out of the cache|earlier in this run); nothing was sent\\.`,
);

/** "from the cache, 3 days ago"; empty where the call was not answered that way. */
export function cachedWords({ call, startedAt, finished, network }: CallView): string {
  if (!finished || finished.isError || network) return "";
  if (call.name === "web_search") {
    const age = SEARCH.exec(finished.result)?.[1];
    return age ? t("call.cached", { age }) : "";
  }
  if (call.name !== "visit_webpage") return "";
  const [, day, time, how] = PAGE.exec(finished.result) ?? [];
  if (!how || !startedAt) return "";
  if (how !== "out of the cache") return t("call.read_before");
  return t("call.cached", { age: ago(between(`${day}T${time}:00Z`, startedAt)) });
}

const UNITS = [
  ["age.days", 86_400_000],
  ["age.hours", 3_600_000],
  ["age.minutes", 60_000],
] as const;

function ago(ms: number): string {
  const unit = UNITS.find(([, size]) => ms >= size);
  return unit ? t(unit[0], { n: Math.floor(ms / unit[1]) }) : t("age.now");
}
