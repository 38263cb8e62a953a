import type { Model } from "../api/types.ts";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { Card } from "../components/card.tsx";
import { ErrorBox } from "../components/error.tsx";
import { visible } from "../run/words.ts";
import { useData } from "../shell/data.tsx";
import { ModelBadges, whyNot } from "../shell/pickers.tsx";
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
    </Card>
  );
}
