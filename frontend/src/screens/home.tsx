import { Code } from "../components/code.tsx";
import { ErrorBox } from "../components/error.tsx";
import { useData } from "../shell/data.tsx";
import { Link } from "../shell/router.tsx";
import { t } from "../strings/index.ts";

export function HomeScreen() {
  const { models, knowledge } = useData();
  const noModel = models.data?.items.length === 0;
  const noKnowledge = knowledge.data?.items.length === 0;
  return (
    <div className="scroll">
      <div className="column home">
        <h1 tabIndex={-1}>{t("home.title")}</h1>
        <p className="lead">{t("home.lead")}</p>
        {models.error && <ErrorBox error={models.error} onRetry={models.reload} />}
        {noModel && <ThreeWays />}
        {noKnowledge && (
          <p>
            {t("home.no_knowledge")} <Link to="/knowledge">{t("home.add_knowledge")}</Link>
          </p>
        )}
      </div>
    </div>
  );
}

/** An empty model list teaches how to fill it. */
export function ThreeWays() {
  return (
    <section className="ways" aria-label={t("ways.title")}>
      <h2>{t("ways.title")}</h2>
      <ol>
        <li>
          <h3>{t("ways.ollama")}</h3>
          <p>{t("ways.ollama.text")}</p>
          <Code label={t("ways.terminal")} text={t("ways.ollama.command")} />
        </li>
        <li>
          <h3>{t("ways.server")}</h3>
          <p>{t("ways.server.text")}</p>
          <Code label={t("ways.config")} text={t("ways.server.config")} />
        </li>
        <li>
          <h3>{t("ways.demo")}</h3>
          <p>{t("ways.demo.text")}</p>
          <Code label={t("ways.terminal")} text={t("ways.demo.command")} />
        </li>
      </ol>
    </section>
  );
}
