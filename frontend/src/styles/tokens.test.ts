import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

// The tests run from frontend/.
const styles = (name: string) => readFileSync(`src/styles/${name}`, "utf8");

function block(css: string, start: string): string[] {
  const from = css.indexOf(start);
  assert.ok(from >= 0, start);
  const inside = css.slice(css.indexOf("{", from) + 1, css.indexOf("}", from));
  return inside.split(";").map((line) => line.trim()).filter(Boolean);
}

test("the dark theme is the same whether chosen or taken from the system", () => {
  const css = styles("tokens.css");
  const media = css.slice(css.indexOf("@media (prefers-color-scheme: dark)"));
  assert.deepEqual(
    block(css, ':root[data-theme="dark"]'),
    block(media, ':root[data-theme="system"]'),
  );
});

test("colours stand in the tokens and nowhere else", () => {
  for (const name of readdirSync("src/styles").filter((file) => file.endsWith(".css"))) {
    if (name === "tokens.css") continue;
    assert.doesNotMatch(styles(name), /#[0-9a-f]{3,8}\b|rgb\(|hsl\(/i, name);
  }
});

test("amber is used for what leaves the machine and for nothing else", () => {
  const users = ["components.css", "screens.css", "web.css", "base.css"].flatMap((name) =>
    styles(name).split("}").filter((rule) => rule.includes("--amber")),
  );
  const selectors = users.map((rule) => rule.slice(0, rule.indexOf("{")).trim());
  assert.deepEqual(selectors.sort(), [".badge-amber", ".web-on"]);
});
