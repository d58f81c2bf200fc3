// What is observed when a request could not be answered at all, and when the store is not there to ask about
// a refused one.
import { expect, test } from "vitest";
import type { BoundKey } from "../domain/strategy.ts";
import { Budgets } from "../rate-limits/budgets.ts";
import { StoreUnavailable } from "../store/store.ts";
import { createObservability, type ObservabilityDeps } from "./observability.ts";
import type { SeenRequest } from "./request-context.ts";

const KEY = {
  key: { keyId: "id", apiKey: "lyre_bot_1", revokedAt: null, ownerId: null },
  strategy: { strategyId: "one", type: "SPOT", status: "LIVE" },
} as BoundKey;
const REQUEST: SeenRequest = {
  method: "GET",
  path: "/api/v3/account",
  query: "timestamp=1",
  target: "/api/v3/account?timestamp=1",
  headers: {},
  body: "",
  address: "192.0.2.7",
};

/**
 * Observability over a store that is out of reach; the monotonic clock advances a ms each time it is read.
 */
function createFixture() {
  const outOfReach = async () => {
    throw new StoreUnavailable("out of reach");
  };
  let ms = 0;
  const warnings: string[] = [];
  const parts = {
    store: { findKey: outOfReach, people: { noteKeyUses: outOfReach, listKeyUses: async () => new Map() } },
    storeKind: "SQLite",
    budgets: new Budgets(),
    wallNow: () => 5_000,
    monotonicNow: () => {
      ms += 1;
      return ms;
    },
    every: () => () => {},
    log: { warn: (_: object, text: string) => warnings.push(text) },
  };
  return { observability: createObservability(parts as unknown as ObservabilityDeps), warnings };
}

test.each([
  [new StoreUnavailable("out of reach"), 503, "The database could not be reached."],
  [new Error("a bug"), 500, "Something went wrong on our side."],
])("a request that fails of %s is recorded as %i", async (error, status, message) => {
  const { observability } = createFixture();
  const context = observability.received();
  context.path = "/api/v3/account";
  context.apiKey = KEY.key.apiKey;
  context.key = KEY;
  observability.failed(context, REQUEST, error);
  expect(observability.requests.requestsOf(KEY.key.apiKey)).toMatchObject([
    { at: 5_000, status, code: null, message, latencyMs: 1 },
  ]);
  expect(observability.traffic.minutes(5_000)).toEqual([{ at: 0, count: 1, errors: 1 }]);
  await observability.close();
});

test("in a flood of requests that fail authentication nothing is examined or recorded", async () => {
  const { observability } = createFixture();
  for (const status of [429, 418]) {
    const context = observability.received();
    context.apiKey = KEY.key.apiKey;
    context.key = KEY;
    context.failed = "SIGNATURE";
    observability.answered(context, REQUEST, { status });
  }
  await observability.explained();
  expect(observability.requests.knows(KEY.key.apiKey)).toBe(false);
  await observability.close();
});

test("what cannot be looked up stays unexplained, and is no trouble to anybody", async () => {
  const { observability, warnings } = createFixture();
  const context = observability.received();
  context.apiKey = "lyre_bot_unknown";
  context.failed = "HEADER";
  observability.answered(context, REQUEST, { status: 401 });
  await observability.explained();
  expect(observability.requests.knows("lyre_bot_unknown")).toBe(false);
  expect(warnings).toContain("a refused request could not be looked into");
  await observability.close();
});
