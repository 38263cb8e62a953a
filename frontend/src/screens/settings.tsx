import { type FormEvent, useState } from "react";
import { knowledgeKey, knowledgeKeyKept, serverToken, setKnowledgeKey, setServerToken } from "../api/keys.ts";
import { Button } from "../components/button.tsx";
import { Card } from "../components/card.tsx";
import { Field } from "../components/field.tsx";
import { useToast } from "../components/toast.tsx";
import { useData } from "../shell/data.tsx";
import { THEMES, useSingleKeys, useTheme } from "../shell/settings.ts";
import { t } from "../strings/index.ts";

export function SettingsScreen() {
  const { config } = useData();
  return (
    <div className="scroll">
      <div className="column">
        <h1 tabIndex={-1}>{t("nav.settings")}</h1>
        <ThemeCard />
        <KeyboardCard />
        {config.data?.knowledge_provider === "open-webui" && <OpenWebuiCard />}
        {config.data?.token_required && <TokenCard />}
        {config.data && (
          <p className="hint">{t("settings.version", { version: config.data.version })}</p>
        )}
      </div>
    </div>
  );
}

function ThemeCard() {
  const [theme, choose] = useTheme();
  return (
    <Card title={t("settings.theme")}>
      <div className="radios" role="radiogroup" aria-label={t("settings.theme")}>
        {THEMES.map((option) => (
          <label key={option}>
            <input
              type="radio"
              name="theme"
              checked={theme === option}
              onChange={() => choose(option)}
            />
            {t(`theme.${option}`)}
          </label>
        ))}
      </div>
    </Card>
  );
}

function KeyboardCard() {
  const [on, setOn] = useSingleKeys();
  return (
    <Card title={t("settings.keyboard")}>
      <label className="check-label">
        <input type="checkbox" checked={on} onChange={(change) => setOn(change.target.checked)} />
        {t("settings.single_keys")}
      </label>
    </Card>
  );
}

/** The user's own key for their knowledge; sent with each request that reads documents. */
function OpenWebuiCard() {
  const { knowledge } = useData();
  const say = useToast();
  const [key, setKey] = useState("");
  const [keep, setKeep] = useState(knowledgeKeyKept());
  const [present, setPresent] = useState(knowledgeKey() !== null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setKnowledgeKey(key.trim(), keep);
    setPresent(key.trim() !== "");
    setKey("");
    say(t(key.trim() ? "openwebui.used" : "openwebui.dropped"));
    knowledge.reload();
  };
  return (
    <Card title={t("openwebui.title")}>
      <form onSubmit={submit}>
        <Field
          label={t("openwebui.label")}
          type="password"
          autoComplete="off"
          value={key}
          placeholder={present ? t("openwebui.present") : ""}
          onChange={(change) => setKey(change.target.value)}
          hint={t("openwebui.hint")}
        />
        <label className="check-label">
          <input
            type="checkbox"
            checked={keep}
            onChange={(change) => setKeep(change.target.checked)}
          />
          {t("openwebui.keep")}
        </label>
        <div className="actions">
          <Button kind="primary" type="submit">
            {t(key || !present ? "openwebui.use" : "openwebui.drop")}
          </Button>
        </div>
      </form>
    </Card>
  );
}

function TokenCard() {
  const say = useToast();
  const [present, setPresent] = useState(serverToken() !== null);
  const forget = () => {
    setServerToken("");
    setPresent(false);
    say(t("token.forgotten"));
  };
  return (
    <Card title={t("token.title")}>
      <p className="card-line">{t(present ? "token.present" : "token.absent")}</p>
      {present && (
        <Button small onClick={forget}>
          {t("token.forget")}
        </Button>
      )}
    </Card>
  );
}
