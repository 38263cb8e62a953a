import { useEffect } from "react";
import { Sheet } from "../components/sheet.tsx";
import { t } from "../strings/index.ts";
import type { Key } from "../strings/index.ts";
import { useSingleKeys } from "./settings.ts";

export type Act =
  | "shortcuts"
  | "new"
  | "search"
  | "composer"
  | "next_step"
  | "previous_step"
  | "approval"
  | "inspector"
  | "copy"
  | "stop";

interface Shortcut {
  act: Act;
  keys: string;
  /** One printing key alone: can be switched off in the settings (WCAG 2.1.4). */
  single: boolean;
  matches: (event: KeyboardEvent) => boolean;
}

const key = (name: string) => (event: KeyboardEvent) =>
  event.key === name && !event.ctrlKey && !event.metaKey && !event.altKey;
const command = (name: string) => (event: KeyboardEvent) =>
  event.key.toLowerCase() === name && (event.ctrlKey || event.metaKey);

const SHORTCUTS: readonly Shortcut[] = [
  { act: "shortcuts", keys: "?", single: true, matches: key("?") },
  { act: "shortcuts", keys: "Ctrl /", single: false, matches: command("/") },
  { act: "new", keys: "n", single: true, matches: key("n") },
  { act: "search", keys: "/", single: true, matches: key("/") },
  { act: "search", keys: "Ctrl K", single: false, matches: command("k") },
  { act: "composer", keys: "c", single: true, matches: key("c") },
  {
    act: "composer",
    keys: "Shift Esc",
    single: false,
    matches: (event) => event.key === "Escape" && event.shiftKey,
  },
  { act: "next_step", keys: "j", single: true, matches: key("j") },
  { act: "previous_step", keys: "k", single: true, matches: key("k") },
  { act: "approval", keys: "p", single: true, matches: key("p") },
  { act: "inspector", keys: "i", single: true, matches: key("i") },
  { act: "copy", keys: "y", single: true, matches: key("y") },
  {
    act: "stop",
    keys: "Esc",
    single: false,
    matches: (event) => event.key === "Escape" && !event.shiftKey,
  },
];

export function useShortcuts(onAct: (act: Act) => void): void {
  const [singleKeys] = useSingleKeys();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      // A dialog has its own keys; so has an input method that is composing.
      if (event.defaultPrevented || event.isComposing) return;
      if (document.querySelector("dialog[open]")) return;
      const usable = (shortcut: Shortcut) => !shortcut.single || (singleKeys && !isTyping(event));
      const found = SHORTCUTS.find((shortcut) => usable(shortcut) && shortcut.matches(event));
      if (!found) return;
      event.preventDefault();
      onAct(found.act);
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [onAct, singleKeys]);
}

function isTyping(event: KeyboardEvent): boolean {
  const target = event.target;
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName))
  );
}

export function ShortcutList({ onClose }: { onClose: () => void }) {
  const acts = [...new Set(SHORTCUTS.map((shortcut) => shortcut.act))];
  const keysOf = (act: Act) => SHORTCUTS.filter((shortcut) => shortcut.act === act);
  return (
    <Sheet title={t("shortcuts.title")} side="middle" onClose={onClose}>
      <dl className="shortcuts">
        {acts.map((act) => (
          <div key={act}>
            <dt>{t(`shortcut.${act}` as Key)}</dt>
            <dd>
              {keysOf(act).map(({ keys }) => (
                <kbd key={keys}>{keys}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
      <p className="hint">{t("shortcuts.note")}</p>
    </Sheet>
  );
}
