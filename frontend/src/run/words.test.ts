import assert from "node:assert/strict";
import { test } from "node:test";
import { bytes, day, duration, exactParts, telling, visible } from "./words.ts";

test("numbers have units", () => {
  assert.deepEqual([bytes(64), bytes(18_211), bytes(2_400_000)], ["64 B", "18.2 kB", "2.4 MB"]);
  assert.deepEqual(
    [duration(12), duration(9_400), duration(61_000)],
    ["12 ms", "9.4 s", "1 min 1 s"],
  );
});

test("days are named from today's side of midnight", () => {
  const now = new Date(2026, 10, 30, 0, 5);
  assert.equal(day(new Date(2026, 10, 30, 0, 1).toISOString(), now), "Today");
  assert.equal(day(new Date(2026, 10, 29, 23, 59).toISOString(), now), "Yesterday");
  assert.match(day(new Date(2026, 10, 1).toISOString(), now), /2026/);
});

test("what cannot be seen is spelt out", () => {
  assert.equal(visible("a\u202eb"), "a⟨U+202E⟩b");
  assert.equal(visible("x\u200by\u{e0041}"), "x⟨U+200B⟩y⟨U+E0041⟩");
  assert.equal(visible("two\nlines"), "two lines");
  assert.equal(visible("Köln 東京 🙂"), "Köln 東京 🙂");
});

test("of what will be sent, each character that cannot be seen is named", () => {
  const shown = (text: string) =>
    exactParts(text).map((part) => (part.isName ? `<${part.text}>` : part.text)).join("");
  assert.equal(shown("a\u202eb\u2066c"), "a<U+202E>b<U+2066>c");
  assert.equal(shown("two\nlines\tand\r"), "two<U+000A>lines<U+0009>and<U+000D>");
  assert.equal(shown("no\u00a0break\u3000wide plain"), "no<U+00A0>break<U+3000>wide plain");
  assert.equal(shown("tag\u{e0041}\ufe0f\u3164\u2800"), "tag<U+E0041><U+FE0F><U+3164><U+2800>");
  assert.equal(shown("\ud800 \ue000"), "<U+D800> <U+E000>");
  assert.equal(shown("Köln 東京 🙂 שלום"), "Köln 東京 🙂 שלום");
  assert.deepEqual(exactParts(""), []);
});

test("the argument that matters is found", () => {
  assert.equal(telling({ k: 5, query: "leave" }), "leave");
  assert.equal(telling({ other: [1] }), "[1]");
  assert.equal(telling({}), "");
});
