import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyRun } from "../run/view.ts";
import { requestFor } from "./composer.tsx";
import { usableModel } from "./pickers.tsx";
import { routeOf } from "./router.tsx";
import { NO_WEB } from "./web-choice.tsx";

const asked = { text: "and now?", model: "qwen3", scope: ["kb"], choice: NO_WEB };

test("a first question goes alone", () => {
  assert.deepEqual(requestFor({ view: null, ...asked }), {
    model: "qwen3",
    messages: [{ role: "user", content: "and now?" }],
    knowledge: ["kb"],
    web: false,
  });
});

test("a follow-up carries what was said before, and the session", () => {
  const view = {
    ...emptyRun("r1"),
    answer: "two",
    messages: [
      { role: "system" as const, text: "never sent back" },
      { role: "user" as const, text: "one?" },
    ],
  };
  const request = requestFor({ view, ...asked });
  assert.equal(request.session, "r1");
  assert.deepEqual(
    request.messages.map((message) => [message.role, message.content]),
    [
      ["user", "one?"],
      ["assistant", "two"],
      ["user", "and now?"],
    ],
  );
});

test("research and asking first go with the one request that they were chosen for", () => {
  const choice = { mode: "research" as const, web: true, askFirst: true };
  const { web, strategy, approvals } = requestFor({ view: null, ...asked, choice });
  assert.deepEqual({ web, strategy, approvals }, { web: true, strategy: "research", approvals: { web_search: "ask" } });
  const off = requestFor({ view: null, ...asked, choice: { ...NO_WEB, askFirst: true } });
  assert.equal("approvals" in off || "strategy" in off, false);
});

test("a remembered model is used only while it can be", () => {
  const abilities = (tools: boolean | null) => ({ tools, thinking: null, context_tokens: null });
  const model = (id: string, tools: boolean | null, error: string | null = null) => ({
    id,
    provider: "ollama",
    model: id,
    abilities: abilities(tools),
    window: { configured: null, used: null, served: null },
    tool_mode: { configured: "auto" as const, found: null, because: null },
    seconds_per_1000_tokens: { read: null, write: null },
    note: null,
    error,
  });
  const list = { items: [model("a", false), model("b", true), model("c", null)], default: "c" };
  assert.equal(usableModel(list, "b"), "b");
  assert.equal(usableModel(list, "a"), "a");
  assert.equal(usableModel(list, "gone"), "c");
  assert.equal(usableModel({ ...list, default: "gone" }, null), "a");
  assert.equal(usableModel({ items: [model("x", true, "down")], default: "x" }, "x"), null);
});

test("addresses name their screens", () => {
  assert.deepEqual(routeOf("/approvals"), { screen: "approvals" });
  assert.deepEqual(routeOf("/"), { screen: "home" });
  assert.deepEqual(routeOf("/runs/a%2Fb"), { screen: "run", id: "a/b" });
  assert.deepEqual(routeOf("/models"), { screen: "models" });
  assert.deepEqual(routeOf("/models/x"), { screen: "missing" });
  assert.deepEqual(routeOf("/nowhere"), { screen: "missing" });
});
