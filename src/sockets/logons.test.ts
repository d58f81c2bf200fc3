import { expect, test } from "vitest";
import { USED_SIGNATURES_MAX } from "./limits.ts";
import { UsedSignatures, unreadByLogon } from "./logons.ts";

const paramsOf = (signature: string, others: Readonly<Record<string, string>> = {}) =>
  new Map(Object.entries({ apiKey: "key", timestamp: "1", signature, ...others }));

test("a signature logs on from one address, in either case of its digits, and if nothing else has used it", () => {
  const used = new UsedSignatures();
  expect(used.use(paramsOf("ab"), "one")).toBe(false);
  expect(used.use(paramsOf("AB"), "one")).toBe(false);
  for (let again = 0; again < 2; again += 1) expect(used.use(paramsOf("AB"), "other")).toBe(true);
  const account = paramsOf("cd", { recvWindow: "5000", returnRateLimits: "false" });
  expect(used.use(account, null)).toBe(false);
  expect(used.use(account, "one")).toBe(true);
});

test("so many signatures are remembered, then the oldest is forgotten", () => {
  const used = new UsedSignatures();
  for (let count = 0; count < USED_SIGNATURES_MAX; count += 1) used.use(paramsOf(`s${count}`), null);
  expect([used.use(paramsOf("s0"), "one"), used.use(paramsOf("s1"), "one")]).toEqual([true, true]);
  used.use(paramsOf("one more"), null);
  expect([used.use(paramsOf("s0"), "one"), used.use(paramsOf("s2"), "one")]).toEqual([false, true]);
});

test("a request that could not log on is not remembered", () => {
  const used = new UsedSignatures();
  const order = paramsOf("ab", { symbol: "BTCUSDT" });
  expect(unreadByLogon(order)).toEqual({ refusal: "PARAMETERS_UNREAD", readCount: 3, sentCount: 4 });
  expect([used.use(order, null), used.use(order, "one")]).toEqual([false, false]);
});
