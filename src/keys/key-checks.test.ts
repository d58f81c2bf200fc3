// Look-ups of the keys of open sockets, on a store that answers at once that there is no such key.
import { afterEach, expect, test } from "vitest";
import { KEYS_CHECKED_AT_ONCE, KeyChecks } from "./key-checks.ts";

const lookedUp: string[] = [];
const checks = new KeyChecks({
  store: {
    findKey: async (apiKey) => {
      lookedUp.push(apiKey);
      return null;
    },
  },
  every: () => () => {},
  log: { error: () => {} },
});
afterEach(() => checks.close());

test("many keys are looked up in parts, and what else is due runs between them", async () => {
  const ended: string[] = [];
  const keys = Array.from({ length: 2 * KEYS_CHECKED_AT_ONCE + 1 }, (_, number) => `key-${number}`);
  for (const key of keys) checks.add(key, { strategyId: "one", end: () => ended.push(key) });
  const checked = checks.check();
  await new Promise((resolve) => setImmediate(resolve));
  expect(lookedUp).toHaveLength(KEYS_CHECKED_AT_ONCE);
  await checked;
  expect(lookedUp).toEqual(keys);
  expect(ended).toEqual(keys);
  expect(checks.streamsOf("key-0")).toBe(0);
});

test("a session is no stream of its key, and what ends with it does not end a second time", async () => {
  const ended: string[] = [];
  const endSession = () => {
    ended.push("session");
    cancel();
  };
  checks.add("key", { strategyId: null, end: endSession });
  const cancel = checks.add("key", { strategyId: "one", end: () => ended.push("stream") });
  expect(checks.streamsOf("key")).toBe(1);
  await checks.check();
  expect(ended).toEqual(["session"]);
});
