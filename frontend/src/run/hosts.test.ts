import assert from "node:assert/strict";
import { test } from "node:test";
import { decodePunycode, formsOf, hostForms } from "./hosts.ts";

test("a host is shown as it reads and as it is asked for", () => {
  assert.deepEqual(hostForms("https://bücher.example/x?y"), {
    ascii: "xn--bcher-kva.example",
    unicode: "bücher.example",
  });
  assert.deepEqual(formsOf("xn--pypal-4ve.com"), { ascii: "xn--pypal-4ve.com", unicode: "pаypal.com" });
  assert.deepEqual(formsOf("lite.duckduckgo.com"), {
    ascii: "lite.duckduckgo.com",
    unicode: "lite.duckduckgo.com",
  });
});

test("a port that is not the usual one is part of the host, a user is not", () => {
  assert.equal(hostForms("https://example.org@evil.test:8443/")?.ascii, "evil.test:8443");
  assert.equal(hostForms("https://example.org:443/")?.ascii, "example.org");
});

test("what is no address has no host, and what is no punycode stays as it came", () => {
  assert.equal(hostForms("not an address"), null);
  assert.equal(formsOf("xn--\u0007").unicode, "xn--\u0007");
  assert.equal(decodePunycode("!"), null);
  assert.equal(decodePunycode("9999999999"), null);
});

// Source: RFC 3492, section 7.1.
test("the examples of RFC 3492 are decoded", () => {
  assert.equal(decodePunycode("ihqwcrb4cv8a8dqg056pqjye"), "他们为什么不说中文");
  assert.equal(decodePunycode("Proprostnemluvesky-uyb24dma41a"), "Pročprostěnemluvíčesky");
  assert.equal(decodePunycode("egbpdaj6bu4bxfgehfvwxn"), "ليهمابتكلموشعربي؟");
  assert.equal(decodePunycode("-> $1.00 <--"), "-> $1.00 <-");
});
