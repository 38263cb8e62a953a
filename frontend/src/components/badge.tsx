import type { ReactNode } from "react";
import { t } from "../strings/index.ts";

interface Properties {
  tone?: "plain" | "amber" | "red" | "accent";
  glyph?: string;
  title?: string;
  children: ReactNode;
}

/** Colour is never alone: the glyph and the word say the same. */
export function Badge({ tone = "plain", glyph, title, children }: Properties) {
  return (
    <span className={`badge badge-${tone}`} title={title}>
      {glyph && <span aria-hidden="true">{glyph} </span>}
      {children}
    </span>
  );
}

/** The one use of amber. `short`: within something that says it in full. */
export function LeavesBadge({ short = false }: { short?: boolean }) {
  return (
    <Badge tone="amber" glyph="▲">
      {t(short ? "badge.leaves.short" : "badge.leaves")}
    </Badge>
  );
}
