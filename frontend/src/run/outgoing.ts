// One outgoing request, taken apart for a person: what it says, field by field.

import type { Outgoing } from "../api/types.ts";

export interface SentField {
  name: string;
  value: string;
}

/** The query's fields, decoded once, as the receiver reads them. */
export function queryFields(url: string): SentField[] {
  const query = /\?([^#]*)/.exec(url)?.[1];
  return query ? fieldsOf(query) : [];
}

/** The body's fields where it is a form; null: it is another text and shown as it is. */
export function bodyFields(body: string): SentField[] | null {
  return FORM.test(body) ? fieldsOf(body) : null;
}

const FORM = /^[\w.~%+*-]+=[^\s&"{}<>]*(?:&[\w.~%+*-]+=[^\s&"{}<>]*)*$/;

function fieldsOf(form: string): SentField[] {
  return [...new URLSearchParams(form)].map(([name, value]) => ({ name, value }));
}

/** What the request tells its receiver, as the ledger counts it: path, query and body. */
export function sentBytes({ url, body }: Outgoing): number {
  const path = /^[a-z][a-z+.-]*:\/\/[^/?#]*([^#]*)/i.exec(url)?.[1] || "/";
  return new TextEncoder().encode(path + (body ?? "")).length;
}
