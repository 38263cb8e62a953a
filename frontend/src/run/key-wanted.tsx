import { api } from "../api/client.ts";
import { knowledgeKey } from "../api/keys.ts";
import { Button } from "../components/button.tsx";
import { useToast } from "../components/toast.tsx";
import { asError } from "../shell/use-load.ts";
import { Link } from "../shell/router.tsx";
import { t } from "../strings/index.ts";

/** A resumed run lost its user's key, which is kept in memory only; here it gets it back. */
export function KeyWanted({ id }: { id: string }) {
  const say = useToast();
  const key = knowledgeKey();
  const give = () => {
    if (key) api.giveKey(id, key).catch((reason: unknown) => say(asError(reason).message));
  };
  return (
    <div className="notice">
      <p>{t("key.wanted")}</p>
      {key ? (
        <Button small onClick={give}>
          {t("key.give")}
        </Button>
      ) : (
        <Link to="/settings">{t("key.settings")}</Link>
      )}
    </div>
  );
}
