import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { en } from "./en.ts";
import { t } from "./index.ts";

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sources(path);
    return /\.tsx?$/.test(path) && !/\.test\./.test(path) ? [path] : [];
  });
}

test("words on the screen come from the catalogue", () => {
  const written = />([^<>{}=();]*[A-Za-z]{3,}[^<>{}=();]*)<\/|\b(?:placeholder|aria-label|title)="[A-Za-z]/;
  for (const path of sources("src").filter((name) => name.endsWith(".tsx"))) {
    assert.equal(written.exec(readFileSync(path, "utf8"))?.[0], undefined, path);
  }
});

test("the catalogue holds no word that nothing shows", () => {
  const used = sources("src").filter((path) => !path.endsWith("en.ts")).map((path) => readFileSync(path, "utf8")).join();
  const families = ["status.", "ingest.", "doctor.", "theme.", "shortcut.", "nav.", "source.", "approval.", "engine.", "label.", "mode.", "rule.", "web.note."];
  const unused = Object.keys(en).filter(
    (key) => !used.includes(`"${key}"`) && !families.some((family) => key.startsWith(family)),
  );
  assert.deepEqual(unused, []);
});

test("plurals and values are filled in", () => {
  assert.equal(t("count.steps", { n: 1 }), "1 step");
  assert.equal(t("count.tokens", { n: 1234 }), "1,234 tokens");
  assert.equal(t("link.host", { host: "$& {x}" }), "↗ $& {x}");
});

test("no exclamation marks, no oops", () => {
  assert.doesNotMatch(JSON.stringify(en), /!|oops/i);
});
