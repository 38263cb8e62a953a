import { type FormEvent, useEffect, useState } from "react";
import { TOKEN_WANTED } from "../api/client.ts";
import { serverToken, setServerToken } from "../api/keys.ts";
import { Button } from "../components/button.tsx";
import { Field } from "../components/field.tsx";
import { Sheet } from "../components/sheet.tsx";
import { t } from "../strings/index.ts";

/** Asks for the server's token when the server does; `onGiven` loads everything again. */
export function TokenDialog({ onGiven }: { onGiven: () => void }) {
  const [wanted, setWanted] = useState(false);
  const [token, setToken] = useState("");
  const [refused, setRefused] = useState(false);
  useEffect(() => {
    const onWanted = () => {
      setRefused(serverToken() !== null);
      setWanted(true);
    };
    addEventListener(TOKEN_WANTED, onWanted);
    return () => removeEventListener(TOKEN_WANTED, onWanted);
  }, []);
  if (!wanted) return null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setServerToken(token.trim());
    setToken("");
    setWanted(false);
    onGiven();
  };
  return (
    <Sheet title={t("token.title")} side="middle" onClose={() => setWanted(false)}>
      <form onSubmit={submit}>
        <Field
          label={t("token.label")}
          type="password"
          autoComplete="off"
          autoFocus
          required
          value={token}
          onChange={(change) => setToken(change.target.value)}
          hint={t("token.hint")}
          error={refused ? t("token.refused") : null}
        />
        <div className="actions">
          <Button kind="primary" type="submit">
            {t("token.use")}
          </Button>
        </div>
      </form>
    </Sheet>
  );
}
