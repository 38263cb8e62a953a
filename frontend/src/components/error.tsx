import { ApiError } from "../api/client.ts";
import { t } from "../strings/index.ts";
import { Button } from "./button.tsx";

interface Properties {
  error: Error;
  onRetry?: () => void;
}

/** What happened, why, and what to do. */
export function ErrorBox({ error, onRetry }: Properties) {
  const hint = error instanceof ApiError ? error.hint : null;
  return (
    <div className="error" role="alert">
      <p>
        <span aria-hidden="true">✕ </span>
        {error.message}
      </p>
      {hint && <p className="error-hint">{hint}</p>}
      {onRetry && (
        <Button small onClick={onRetry}>
          {t("action.retry")}
        </Button>
      )}
    </div>
  );
}
