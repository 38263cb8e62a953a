import type { Status } from "../api/types.ts";
import { t } from "../strings/index.ts";

const GLYPHS: Record<Status, string> = {
  queued: "○",
  running: "◌",
  waiting: "◐",
  complete: "●",
  incomplete: "◔",
  cancelled: "■",
  failed: "✕",
};

/** A glyph for the eye and its word for everybody else. */
export function StatusGlyph({ status, words }: { status: Status; words?: boolean }) {
  return (
    <span className={`status status-${status}`}>
      <span aria-hidden="true">{GLYPHS[status]}</span>
      <span className={words ? "status-word" : "sr"}>{t(`status.${status}`)}</span>
    </span>
  );
}
