import type { ReactNode } from "react";
import type { Outgoing } from "../api/types.ts";
import { t } from "../strings/index.ts";
import { Exact } from "./exact.tsx";
import { type HostForms, formsOf, hostForms } from "./hosts.ts";
import { bodyFields, queryFields, type SentField, sentBytes } from "./outgoing.ts";
import { bytes } from "./words.ts";

/** All that a call may send: these requests and no others. */
export function RequestList({ requests }: { requests: readonly Outgoing[] }) {
  return (
    <>
      {requests.length > 1 && <p>{t("approval.several", { n: requests.length })}</p>}
      {requests.map((request, at) => (
        <RequestPreview key={at} request={request} />
      ))}
    </>
  );
}

/** One request as it will be sent: nothing is left out, nothing is shortened. */
function RequestPreview({ request }: { request: Outgoing }) {
  const { method, url, body } = request;
  const query = queryFields(url);
  const form = body ? bodyFields(body) : null;
  return (
    <dl className="request">
      <Line name={t("request.host")}>
        <Host forms={hostForms(url) ?? formsOf(request.host ?? "")} />
      </Line>
      {query.length > 0 && (
        <Line name={t("request.query")}>
          <Fields fields={query} />
        </Line>
      )}
      {body && (
        <Line name={t("request.body")}>
          {form && <Fields fields={form} />}
          <div className={form ? "request-raw" : "mono"}>
            <Exact text={body} />
          </div>
        </Line>
      )}
      <Line name={method}>
        <div className="request-raw">
          <Exact text={url} />
        </div>
        <span className="request-size">{t("request.size", { size: bytes(sentBytes(request)) })}</span>
      </Line>
    </dl>
  );
}

function Line({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="request-line">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The name as it reads and as it is asked for; they differ where it is not plain ASCII. */
export function Host({ forms }: { forms: HostForms }) {
  return (
    <>
      <strong>
        <Exact text={forms.unicode} />
      </strong>
      {forms.unicode !== forms.ascii && (
        <span className="request-punycode">
          {t("request.punycode")} <Exact text={forms.ascii} />
        </span>
      )}
    </>
  );
}

function Fields({ fields }: { fields: readonly SentField[] }) {
  return (
    <ul className="request-fields">
      {fields.map(({ name, value }, at) => (
        <li key={at}>
          <span className="request-name">
            <Exact text={name} /> =
          </span>{" "}
          <Exact text={value} />
        </li>
      ))}
    </ul>
  );
}
