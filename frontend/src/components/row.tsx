import { type ReactNode, useId } from "react";

interface Properties {
  id?: string;
  open: boolean;
  onToggle: () => void;
  /** One line; phrasing content only, for it stands in a button. */
  summary: ReactNode;
  className?: string;
  /** Between the line and its details; shown whether the row is open or not. */
  inset?: ReactNode;
  children: ReactNode;
}

/** One line that opens to its details. */
export function Row({ id, open, onToggle, summary, className, inset, children }: Properties) {
  const panel = useId();
  return (
    <div id={id} className={`row ${open ? "row-open" : ""} ${className ?? ""}`}>
      <button
        type="button"
        className="row-line"
        aria-expanded={open}
        aria-controls={open ? panel : undefined}
        onClick={onToggle}
      >
        {summary}
        <span className="row-caret" aria-hidden="true">
          {open ? "▾" : "▸"}
        </span>
      </button>
      {inset}
      {open && (
        <div id={panel} className="row-body">
          {children}
        </div>
      )}
    </div>
  );
}
