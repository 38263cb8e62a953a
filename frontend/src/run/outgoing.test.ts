import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyFields, queryFields, sentBytes } from "./outgoing.ts";

test("a query's fields are decoded once", () => {
  assert.deepEqual(queryFields("https://e.test/s?q=a+b%26c&df=%2525#part"), [
    { name: "q", value: "a b&c" },
    { name: "df", value: "%25" },
  ]);
  assert.deepEqual(queryFields("https://e.test/"), []);
});

test("a form's fields are shown, any other body as it is", () => {
  assert.deepEqual(bodyFields("q=caf%C3%A9&kl="), [
    { name: "q", value: "café" },
    { name: "kl", value: "" },
  ]);
  assert.equal(bodyFields('{"q":"a=b"}'), null);
  assert.equal(bodyFields("two = words"), null);
});

test("what a request tells its receiver is counted as the ledger counts it", () => {
  const request = (url: string, body = "") => ({ method: "GET", url, body });
  assert.equal(sentBytes(request("https://e.test/s?q=1")), "/s?q=1".length);
  assert.equal(sentBytes(request("https://e.test")), 1);
  assert.equal(sentBytes(request("https://e.test/", "ü")), 3);
});
