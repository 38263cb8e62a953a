// The page's words by key. Another language is another catalogue of the same shape.

import { en } from "./en.ts";

export type Key = keyof typeof en;
type Plural = { one: string; other: string };
export type Catalogue = { readonly [K in Key]: string | Plural };
type Parameters = Readonly<Record<string, string | number>>;

const catalogue: Catalogue = en;
const plurals = new Intl.PluralRules("en");

export function locale(): string {
  return "en";
}

/** `{name}` in the text is replaced; a plural is chosen by the number `n`. */
export function t(key: Key, parameters: Parameters = {}): string {
  const entry = catalogue[key];
  const text = typeof entry === "string" ? entry : entry[form(parameters.n)];
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => shown(parameters[name], whole));
}

function form(n: string | number | undefined): "one" | "other" {
  return typeof n === "number" && plurals.select(n) === "one" ? "one" : "other";
}

function shown(value: string | number | undefined, otherwise: string): string {
  if (value === undefined) return otherwise;
  return typeof value === "number" ? new Intl.NumberFormat(locale()).format(value) : value;
}
