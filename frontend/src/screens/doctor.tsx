import { useState } from "react";
import { api } from "../api/client.ts";
import type { Check } from "../api/types.ts";
import { Button } from "../components/button.tsx";
import { Code } from "../components/code.tsx";
import { ErrorBox } from "../components/error.tsx";
import { useLoad } from "../shell/use-load.ts";
import { t } from "../strings/index.ts";
import { WebCard } from "./engines.tsx";

const GLYPHS: Record<Check["state"], string> = { ok: "✓", warn: "!", fail: "✕" };

export function DoctorScreen() {
  const [round, setRound] = useState(0);
  const { data, error, reload } = useLoad(api.doctor, round);
  return (
    <div className="scroll">
      <div className="column">
        <div className="screen-head">
          <h1 tabIndex={-1}>{t("nav.doctor")}</h1>
          <Button small onClick={() => setRound(round + 1)}>
            {t("doctor.again")}
          </Button>
        </div>
        <p className="lead">{t("doctor.lead")}</p>
        {error && <ErrorBox error={error} onRetry={reload} />}
        {!data && !error && <p className="loading">{t("loading")}</p>}
        <ul className="checks">
          {data?.checks.map((check) => (
            <CheckItem key={check.name} check={check} />
          ))}
        </ul>
        <WebCard round={round} />
      </div>
    </div>
  );
}

function CheckItem({ check }: { check: Check }) {
  return (
    <li className={`check check-${check.state}`}>
      <p className="check-line">
        <span className="check-state">
          <span aria-hidden="true">{GLYPHS[check.state]} </span>
          {t(`doctor.${check.state}`)}
        </span>
        <strong>{check.name}</strong> <span className="check-why">{check.why}</span>
      </p>
      {check.fix && <Code label={t("doctor.fix")} text={check.fix} />}
    </li>
  );
}
