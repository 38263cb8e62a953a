import { api } from "../api/client.ts";
import type { Engine, WebState } from "../api/types.ts";
import { Badge } from "../components/badge.tsx";
import { Card } from "../components/card.tsx";
import { ErrorBox } from "../components/error.tsx";
import { clock, day, visible } from "../run/words.ts";
import { useLoad } from "../shell/use-load.ts";
import { t } from "../strings/index.ts";

const GLYPHS: Record<Engine["state"], string> = {
  ok: "✓",
  blocked: "⊘",
  markup_changed: "✕",
  unreachable: "✕",
};

/** How the search engines did when they were last asked, and what else of the web is on. */
export function WebCard({ round }: { round: number }) {
  const { data, error, reload } = useLoad(api.web, round);
  return (
    <Card title={t("web.title")}>
      {error && <ErrorBox error={error} onRetry={reload} />}
      {!data && !error && <p className="loading">{t("loading")}</p>}
      {data && (
        <>
          {data.engines.length === 0 ? (
            <p className="card-line">{t("web.none")}</p>
          ) : (
            <Engines engines={data.engines} />
          )}
          <p className="card-line">{switches(data).join(" · ")}</p>
        </>
      )}
    </Card>
  );
}

function Engines({ engines }: { engines: readonly Engine[] }) {
  return (
    <table className="engines">
      <thead>
        <tr>
          <th scope="col">{t("web.engine")}</th>
          <th scope="col">{t("web.state")}</th>
          <th scope="col">{t("web.since")}</th>
        </tr>
      </thead>
      <tbody>
        {engines.map((engine) => (
          <tr key={engine.name}>
            <th scope="row">
              {visible(engine.name)} <span className="engine-host">{visible(engine.host)}</span>
            </th>
            <td>
              <State engine={engine} />
              {engine.detail && <span className="engine-detail">{visible(engine.detail)}</span>}
            </td>
            <td>
              {engine.since && moment(engine.since)}
              {engine.retry_at && (
                <span className="engine-detail">
                  {t("web.retry", { at: moment(engine.retry_at) })}
                </span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Since the server's start; an engine that nobody asked may be down for all it knows. */
function State({ engine }: { engine: Engine }) {
  if (engine.since === null) return <Badge glyph="–">{t("engine.unasked")}</Badge>;
  return (
    <Badge tone={engine.state === "ok" ? "plain" : "red"} glyph={GLYPHS[engine.state]}>
      {t(`engine.${engine.state}`)}
    </Badge>
  );
}

function moment(at: string): string {
  const now = new Date();
  const date = day(at, now);
  return date === t("day.today") ? clock(at) : `${date} ${clock(at)}`;
}

function switches({ browser, cache, approvals }: WebState): string[] {
  const on = (value: boolean) => t(value ? "web.on" : "web.off");
  const name = typeof browser === "string" ? browser : on(browser);
  return [
    t("web.browser", { state: visible(name) }),
    t("web.cache", { state: on(cache) }),
    t("web.searches", { rule: t(`rule.${approvals.web_search}`) }),
    t("web.confidential", { rule: t(`rule.${approvals.confidential}`) }),
  ];
}
