import { useEffect } from "react";
import type { PendingApproval } from "../api/types.ts";
import { Empty } from "../components/empty.tsx";
import { ErrorBox } from "../components/error.tsx";
import { ApprovalCard } from "../run/approval-card.tsx";
import { asApproval } from "../run/child-run.tsx";
import { useShown } from "../run/use-shown.ts";
import { visible } from "../run/words.ts";
import { useData } from "../shell/data.tsx";
import { Link, runPath } from "../shell/router.tsx";
import { t } from "../strings/index.ts";

/** Everything that waits for a person, whichever run it is in. */
export function ApprovalsScreen() {
  const { inbox, runs } = useData();
  const shown = useShown(inbox.items, keyOf);
  const waiting = new Set(inbox.items.map(keyOf));
  const reload = inbox.reload;
  useEffect(reload, [reload]);
  const titleOf = (item: PendingApproval) =>
    visible(runs.items.find((run) => run.id === item.root_id)?.title ?? item.root_id);
  return (
    <div className="scroll">
      <div className="column">
        <h1 tabIndex={-1}>{t("nav.approvals")}</h1>
        <p className="lead">{t("approvals.lead")}</p>
        {inbox.error && <ErrorBox error={inbox.error} onRetry={reload} />}
        {shown.length === 0 && !inbox.error && (
          <Empty title={t("approvals.empty")}>
            <p>{t("approvals.empty.hint")}</p>
          </Empty>
        )}
        {shown.map((item) => (
          <div key={keyOf(item)} className="inbox-item">
            <p className="inbox-run">
              <Link to={runPath(item.root_id)}>{titleOf(item)}</Link>
            </p>
            <ApprovalCard
              runId={item.run_id}
              approval={asApproval(item)}
              gone={!waiting.has(keyOf(item))}
            />
          </div>
        ))}
      </div>
    </div>
  );
}

const keyOf = (item: PendingApproval) => `${item.run_id} ${item.call.id}`;
