import type { Model } from "../api/types.ts";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Card } from "../components/card.tsx";
import { ErrorBox } from "../components/error.tsx";
import { duration, visible } from "../run/words.ts";
import { useData } from "../shell/data.tsx";
import { inEnvelopes, ModelBadges, whyNot } from "../shell/pickers.tsx";
import { t } from "../strings/index.ts";
import { ThreeWays } from "./home.tsx";

export function ModelsScreen() {
  const { models } = useData();
  const items = models.data?.items ?? [];
  return (
    <div className="scroll">
      <div className="column">
        <div className="screen-head">
          <h1 tabIndex={-1}>{t("nav.models")}</h1>
          <Button small onClick={models.reload}>
            {t("action.reload")}
          </Button>
        </div>
        <p className="lead">{t("models.lead")}</p>
        {models.error && <ErrorBox error={models.error} onRetry={models.reload} />}
        {!models.data && !models.error && <p className="loading">{t("loading")}</p>}
        {models.data && items.length === 0 && <ThreeWays />}
        {items.map((model) => (
          <ModelCard
            key={model.id}
            model={model}
            isDefault={model.id === models.data?.default}
          />
        ))}
      </div>
    </div>
  );
}

function ModelCard({ model, isDefault }: { model: Model; isDefault: boolean }) {
  const why = whyNot(model);
  return (
    <Card title={<span className="mono">{visible(model.id)}</span>} aside={<ModelBadges model={model} />}>
      <p className="card-line">
        {t("models.served", { provider: model.provider, model: visible(model.model) })}{" "}
        {isDefault && <Badge>{t("models.default")}</Badge>}
      </p>
      {why && (
        <p className="card-why">
          <strong>{t("models.why_not")}</strong> {why}
        </p>
      )}
      {!why && model.note && <p className="card-line">{model.note}</p>}
      {!why && <Known model={model} />}
    </Card>
  );
}

/** What is configured, and what earlier calls have taught. */
function Known({ model }: { model: Model }) {
  const { read, write } = model.seconds_per_1000_tokens;
  const speeds = [
    read !== null && t("models.speed.read", { time: duration(read * 1000) }),
    write !== null && t("models.speed.write", { time: duration(write * 1000) }),
  ].filter((each) => each !== false);
  return (
    <>
      <p className="card-line">{windowWords(model)}</p>
      <p className="card-line">{t("models.calls", { how: callWords(model) })}</p>
      {inEnvelopes(model) && <p className="card-line">{t("model.envelope.text")}</p>}
      <p className="card-line">
        {t("models.speed", { how: speeds.join(", ") || t("models.speed.unknown") })}
      </p>
    </>
  );
}

function windowWords({ window: { configured, used, served } }: Model): string {
  const planned =
    configured !== null
      ? t("models.window.configured", { n: configured })
      : used !== null
        ? t("models.window.default", { n: used })
        : t("models.window.none");
  const seen =
    served !== null ? t("models.window.served", { n: served }) : t("models.window.unknown");
  return t("models.window", { configured: planned, served: seen });
}

const CONFIGURED = { native: "models.calls.native", envelope: "models.calls.envelope" } as const;
const FOUND = {
  native: "models.calls.found.native",
  envelope: "models.calls.found.envelope",
} as const;

function callWords({ tool_mode: { configured, found } }: Model): string {
  if (configured !== "auto") return t(CONFIGURED[configured]);
  return t(found === null ? "models.calls.auto" : FOUND[found]);
}
