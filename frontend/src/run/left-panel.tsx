import { LeavesBadge } from "../components/badge.tsx";
import { t } from "../strings/index.ts";
import { type EgressView, hasLeft } from "./view.ts";
import { bytes, visible } from "./words.ts";

/** The ledger of what left this machine. */
export function LeftPanel({ egress }: { egress: readonly EgressView[] }) {
  const sent = egress.reduce((sum, entry) => sum + entry.bytesOut, 0);
  const received = egress.reduce((sum, entry) => sum + (entry.finished?.bytesIn ?? 0), 0);
  return (
    <>
      <p className="left-total">
        <LeavesBadge />{" "}
        {t("left.sum", { n: egress.filter(hasLeft).length, sent: bytes(sent), received: bytes(received) })}
      </p>
      <ol className="left">
        {egress.map((entry) => (
          <li key={entry.n}>
            <p className="left-host">
              <bdi>{visible(entry.host)}</bdi>
              <span className="left-size">{bytes(entry.bytesOut)}</span>
            </p>
            <p className="left-path">
              {entry.method} <bdi>{visible(entry.path)}</bdi>
            </p>
            <p className="left-why">{[visible(entry.why), ended(entry)].join(" · ")}</p>
          </li>
        ))}
      </ol>
    </>
  );
}

function ended({ finished }: EgressView): string {
  if (!finished) return t("left.open");
  if (!finished.sent) return t("left.unsent");
  if (finished.status === null) return t("left.failed");
  return t("left.ended", { status: String(finished.status), size: bytes(finished.bytesIn) });
}
