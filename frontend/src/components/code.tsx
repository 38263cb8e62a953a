import { useState } from "react";
import { t } from "../strings/index.ts";
import { Button } from "./button.tsx";
import { copyText } from "./copy.ts";
import { useToast } from "./toast.tsx";

/** Long results would freeze the layout; the rest comes on request. */
const SHOWN_CHARACTERS = 8_000;

interface Properties {
  label: string;
  text: string;
  /** Not copied together with others: shows its own button. */
  copy?: boolean;
}

/** Text as it is, monospace, to be copied. */
export function Code({ label, text, copy = true }: Properties) {
  const [whole, setWhole] = useState(false);
  const say = useToast();
  const cut = !whole && text.length > SHOWN_CHARACTERS;
  return (
    <div className="code">
      <div className="code-head">
        <span className="code-label">{label}</span>
        {copy && (
          <Button
            kind="quiet"
            small
            aria-label={t("action.copy.what", { what: label })}
            onClick={() => void copyText(text).then((done) => say(t(done ? "copied" : "copy.failed")))}
          >
            {t("action.copy")}
          </Button>
        )}
      </div>
      {/* Scrolls by itself, so the keyboard must reach it. */}
      <pre tabIndex={0} role="group" aria-label={label}>
        {cut ? text.slice(0, SHOWN_CHARACTERS) : text}
      </pre>
      {cut && (
        <Button small onClick={() => setWhole(true)}>
          {t("code.rest", { n: text.length - SHOWN_CHARACTERS })}
        </Button>
      )}
    </div>
  );
}
