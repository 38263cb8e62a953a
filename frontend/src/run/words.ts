// Numbers with units, and untrusted text made safe to look at.

import { locale, t } from "../strings/index.ts";
import type { CallView } from "./view.ts";

const number = (value: number, digits = 0) =>
  new Intl.NumberFormat(locale(), { maximumFractionDigits: digits }).format(value);

export function bytes(size: number): string {
  if (size < 1_000) return t("unit.bytes", { n: number(size) });
  if (size < 1_000_000) return t("unit.kilobytes", { n: number(size / 1_000, 1) });
  return t("unit.megabytes", { n: number(size / 1_000_000, 1) });
}

export function duration(ms: number): string {
  if (ms < 1_000) return t("unit.milliseconds", { n: number(ms) });
  if (ms < 60_000) return t("unit.seconds", { n: number(ms / 1_000, ms < 10_000 ? 1 : 0) });
  const seconds = Math.round(ms / 1_000);
  return t("unit.minutes", { n: number(Math.floor(seconds / 60)), s: number(seconds % 60) });
}

export function between(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from));
}

export function clock(at: string): string {
  return new Intl.DateTimeFormat(locale(), { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(
    new Date(at),
  );
}

/** Today, yesterday or the date. */
export function day(at: string, now: Date): string {
  const date = new Date(at);
  const start = (value: Date) => new Date(value).setHours(0, 0, 0, 0);
  const days = Math.round((start(now) - start(date)) / 86_400_000);
  if (days === 0) return t("day.today");
  if (days === 1) return t("day.yesterday");
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium" }).format(date);
}

// Controls, soft hyphens, zero-width and bidirectional marks, tags, variation selectors.
const INVISIBLE =
  /[\p{Cc}\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** Text of unknown origin on one line, with what cannot be seen spelt out: `⟨U+202E⟩`. */
export function visible(text: string): string {
  return text.replace(/[\n\t]+/g, " ").replace(INVISIBLE, (char) => {
    return `⟨${nameOf(char)}⟩`;
  });
}

// Everything that a reader could miss or take for another character: controls, format characters,
// private use, unassigned, blanks that are no plain space, letters and marks without a shape.
const UNSEEN =
  /[\p{C}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\u{e0100}-\u{e01ef}]|(?! )\p{Zs}/gu;

export interface ExactPart {
  text: string;
  /** `text` is the name of a character that cannot be seen. */
  isName: boolean;
}

/** All of a text, each character that cannot be seen by its name: `U+202E`. */
export function exactParts(text: string): ExactPart[] {
  const parts: ExactPart[] = [];
  let from = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > from) parts.push({ text: text.slice(from, match.index), isName: false });
    parts.push({ text: nameOf(match[0]), isName: true });
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), isName: false });
  return parts;
}

function nameOf(char: string): string {
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

const TELLING = ["query", "name", "expression", "path", "url", "command", "pattern", "task", "text"];

/** The one argument that says what a call is about, as it is. */
export function tellingText(argumentsOf: Record<string, unknown>): string {
  const key = TELLING.find((name) => argumentsOf[name] !== undefined);
  const value = key === undefined ? Object.values(argumentsOf)[0] : argumentsOf[key];
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** The same on one line, shortened. */
export function telling(argumentsOf: Record<string, unknown>): string {
  return visible(tellingText(argumentsOf)).slice(0, 300);
}

/** A report from memory says so in its JSON (research/web_research.py). */
const NOT_RESEARCHED = /"researched": ?false/;

const SOURCES_OF = {
  web_search: "outcome.results",
  visit_webpage: "outcome.read",
  web_research: "outcome.sources",
  delegate: "outcome.sources",
} as const;

/** What came of a call, in a few words. */
export function outcome(row: CallView): string {
  const end = row.finished;
  if (!end || end.blocked || end.isError) return "";
  if (row.call.name === "web_research" && NOT_RESEARCHED.test(end.result)) {
    return t("outcome.not_researched");
  }
  if (end.sources.length > 0) {
    const key = SOURCES_OF[row.call.name as keyof typeof SOURCES_OF] ?? "outcome.passages";
    return t(key, { n: end.sources.length });
  }
  const firstLine = visible(end.result.trim().split("\n", 1)[0] ?? "");
  return firstLine.length > 0 && firstLine.length <= 40 ? firstLine : "";
}
