// Look-ups of the keys of open sockets, on a store that answers at once.
import { expect, test } from "vitest";
import { KEYS_CHECKED_AT_ONCE, KeyChecks } from "./key-checks.ts";

test("many keys are looked up in parts, and what else is due runs between them", async () => {
  const lookedUp: string[] = [];
  const ended: string[] = [];
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
  const keys = Array.from({ length: 2 * KEYS_CHECKED_AT_ONCE + 1 }, (_, number) => `key-${number}`);
  for (const key of keys) checks.add(key, { strategyId: null, end: () => ended.push(key) });
  const checked = checks.check();
  await new Promise((resolve) => setImmediate(resolve));
  expect(lookedUp).toHaveLength(KEYS_CHECKED_AT_ONCE);
  await checked;
  expect(lookedUp).toEqual(keys);
  expect(ended).toEqual(keys);
  expect(checks.countOf("key-0")).toBe(0);
  await checks.close();
});
