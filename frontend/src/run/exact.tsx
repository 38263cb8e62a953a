import { t } from "../strings/index.ts";
import { exactParts } from "./words.ts";

/** Text exactly as it is: nothing in it is invisible, turned around or folded away. */
export function Exact({ text }: { text: string }) {
  return (
    <bdi className="exact">
      {exactParts(text).map((part, at) =>
        part.isName ? (
          <span key={at} className="unseen" title={t("approval.unseen")}>
            {part.text}
          </span>
        ) : (
          part.text
        ),
      )}
    </bdi>
  );
}
