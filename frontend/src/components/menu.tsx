import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";

export interface Choice {
  id: string;
  label: string;
  detail?: ReactNode;
  chosen: boolean;
  /** Why it cannot be chosen; it can still be read. */
  disabledBecause?: string;
}

interface Properties {
  label: string;
  /** What the closed menu shows. */
  value: string;
  choices: readonly Choice[];
  onChoose: (id: string) => void;
  /** Several may be chosen: the menu stays open. */
  several?: boolean;
  note?: ReactNode;
}

export function Menu({ label, value, choices, onChoose, several, note }: Properties) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const trigger = useRef<HTMLButtonElement>(null);
  const items = () => [...(root.current?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? [])];

  useEffect(() => {
    if (!open) return;
    const onPointer = (event: PointerEvent) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", onPointer);
    return () => document.removeEventListener("pointerdown", onPointer);
  }, [open]);
  useEffect(() => {
    // Choices may come after the menu was opened; who went elsewhere meanwhile stays there.
    const isFree = [trigger.current, document.body].includes(document.activeElement as HTMLElement);
    if (!open || !isFree) return;
    const checked = items().find((item) => item.ariaChecked === "true");
    (checked ?? items()[0] ?? trigger.current)?.focus();
  }, [open, choices.length]);

  const close = () => {
    setOpen(false);
    trigger.current?.focus();
  };
  const choose = (choice: Choice) => {
    if (choice.disabledBecause) return;
    onChoose(choice.id);
    if (!several) close();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!open) return;
    const at = items().indexOf(document.activeElement as HTMLElement);
    const last = items().length - 1;
    const up = Math.max(at, 0) - 1;
    const target = { ArrowDown: at + 1, ArrowUp: up, Home: 0, End: last }[event.key];
    if (target !== undefined) {
      event.preventDefault();
      items()[(target + last + 1) % (last + 1)]?.focus();
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      close();
    } else if (event.key === "Tab") {
      setOpen(false);
    }
  };

  return (
    <div className="menu" ref={root} onKeyDown={onKeyDown}>
      <button
        ref={trigger}
        type="button"
        className="button button-plain menu-trigger"
        aria-haspopup="menu"
        aria-expanded={open}
        aria-label={value.includes(label) ? value : `${label}: ${value}`}
        onClick={() => setOpen(!open)}
      >
        <span className="menu-value">{value}</span> <span aria-hidden="true">▾</span>
      </button>
      {open && (
        <div className="menu-panel">
          {note && <p className="menu-note">{note}</p>}
          <div role="menu" aria-label={label}>
            {choices.map((choice) => (
              <button
                key={choice.id}
                type="button"
                role={several ? "menuitemcheckbox" : "menuitemradio"}
                aria-checked={choice.chosen}
                aria-disabled={choice.disabledBecause ? true : undefined}
                tabIndex={-1}
                className="menu-item"
                onClick={() => choose(choice)}
              >
                <span className="menu-mark" aria-hidden="true">
                  {choice.chosen ? "✓" : ""}
                </span>
                <span className="menu-label">
                  {choice.label}
                  {choice.disabledBecause && (
                    <span className="menu-why">{choice.disabledBecause}</span>
                  )}
                </span>
                {choice.detail && <span className="menu-detail">{choice.detail}</span>}
              </button>
            ))}
          </div>
        </div>
      )}
    </div>
  );
}
