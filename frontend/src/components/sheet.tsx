import { type MouseEvent, type ReactNode, useEffect, useId, useRef } from "react";
import { t } from "../strings/index.ts";
import { Button } from "./button.tsx";

interface Properties {
  title: string;
  side: "left" | "right" | "middle";
  onClose: () => void;
  children: ReactNode;
}

/** A modal dialog; the browser's own, which traps focus and gives it back when it closes. */
export function Sheet({ title, side, onClose, children }: Properties) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    element?.showModal();
    return () => {
      element?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  const onClick = (event: MouseEvent) => {
    if (event.target === dialog.current) onClose();
  };
  return (
    // biome-ignore lint: a click on the backdrop is a convenience; Esc and the button do the same
    <dialog
      ref={dialog}
      className={`sheet sheet-${side}`}
      aria-labelledby={heading}
      onClick={onClick}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div className="sheet-inside">
        <div className="sheet-head">
          <h2 id={heading}>{title}</h2>
          <Button kind="quiet" small aria-label={t("action.close")} onClick={onClose}>
            ✕
          </Button>
        </div>
        {children}
      </div>
    </dialog>
  );
}
