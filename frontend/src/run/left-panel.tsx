import { api } from "../api/client.ts";
import type { LedgerItem } from "../api/types.ts";
import { LeavesBadge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { useToast } from "../components/toast.tsx";
import { Link, runPath } from "../shell/router.tsx";
import { asError } from "../shell/use-load.ts";
import { t } from "../strings/index.ts";
import { formsOf } from "./hosts.ts";
import { groupsOf, totalsOf } from "./ledger.ts";
import { Host } from "./request-preview.tsx";
import { saveFile } from "./save-file.ts";
import type { Ledger } from "./use-ledger.ts";
import type { RunView } from "./view.ts";
import { bytes, telling, visible } from "./words.ts";

/** The ledger of what left this machine, in this run and in those that it started. */
export function LeftPanel({ view, ledger }: { view: RunView; ledger: Ledger }) {
  const say = useToast();
  const groups = groupsOf(ledger.items, view.id);
  const onExport = async () => {
    try {
      const text = JSON.stringify(await api.egress(view.id), null, 2);
      saveFile(new Blob([text], { type: "application/json" }), `${view.id}-egress.json`);
    } catch (reason) {
      say(asError(reason).message);
    }
  };
  const totals = totalsOf(ledger.items);
  return (
    <>
      <div className="left-total">
        {totals.requests > 0 && <LeavesBadge />}
        <span>{sum(totals)}</span>
        <Button small onClick={() => void onExport()}>
          {t("left.export")}
        </Button>
      </div>
      {!ledger.whole && <p className="hint">{t("left.counting")}</p>}
      {groups.map((group) => (
        <section key={group.runId} className="left-group">
          {(groups.length > 1 || group.runId !== view.id) && (
            <h2>
              {group.runId === view.id ? t("left.own") : <ChildName view={view} id={group.runId} />}
              <span className="left-size">{sum(totalsOf(group.items))}</span>
            </h2>
          )}
          <ol className="left">
            {group.items.map((item) => (
              <Entry key={item.n} item={item} />
            ))}
          </ol>
        </section>
      ))}
    </>
  );
}

function sum({ requests, bytesOut, bytesIn }: ReturnType<typeof totalsOf>): string {
  return t("left.sum", { n: requests, sent: bytes(bytesOut), received: bytes(bytesIn) });
}

/** A child run is known by the call that started it. */
function ChildName({ view, id }: { view: RunView; id: string }) {
  const calls = view.steps.flatMap((step) => step.calls);
  const call = calls.find((row) => row.child?.id === id)?.call;
  return (
    <Link to={runPath(id)}>
      <bdi>{call ? `${call.name} · ${telling(call.arguments)}` : id}</bdi>
    </Link>
  );
}

function Entry({ item }: { item: LedgerItem }) {
  return (
    <li>
      <p className="left-host">
        <span>
          <Host forms={formsOf(item.host)} />
        </span>
        <span className="left-size">{t("left.out", { size: bytes(item.bytes_out) })}</span>
      </p>
      <p className="left-path">
        {item.method} <bdi>{visible(item.path)}</bdi>
      </p>
      <p className="left-why">
        {[visible(item.why), t("left.permission", { permission: visible(item.permission) }), ended(item)].join(" · ")}
      </p>
    </li>
  );
}

function ended({ sent, status, bytes_in }: LedgerItem): string {
  if (sent === null) return t("left.open");
  if (!sent) return t("left.unsent");
  if (status === null) return t("left.failed");
  return t("left.ended", { status: String(status), size: bytes(bytes_in ?? 0) });
}
