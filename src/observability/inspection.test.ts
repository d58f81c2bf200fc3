// What is observed when a request could not be answered at all, and when the store is not there to ask about a refused one.
import { expect, test } from "vitest";
import type { BoundKey } from "../domain/strategy.ts";
import { Budgets } from "../rate-limits/budgets.ts";
import { StoreUnavailable } from "../store/store.ts";
import { createInspection, type InspectionParts } from "./inspection.ts";
import type { SeenRequest } from "./sighting.ts";

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

/** An inspection over a store that is out of reach; a ms of the monotonic clock passes between two looks at it. */
function stage() {
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
  return { inspection: createInspection(parts as unknown as InspectionParts), warnings };
}

test.each([
  [new StoreUnavailable("out of reach"), 503, "The database could not be reached."],
  [new Error("a bug"), 500, "Something went wrong on our side."],
])("a request that fails of %s is recorded as %i", async (error, status, message) => {
  const { inspection } = stage();
  const sighting = inspection.sight();
  sighting.path = "/api/v3/account";
  sighting.apiKey = KEY.key.apiKey;
  sighting.key = KEY;
  inspection.failed(sighting, REQUEST, error);
  expect(inspection.requests.requestsOf(KEY.key.apiKey)).toMatchObject([
    { at: 5_000, status, code: null, message, latencyMs: 1 },
  ]);
  expect(inspection.traffic.minutes(5_000)).toEqual([{ at: 0, count: 1, errors: 1 }]);
  await inspection.close();
});

test("what cannot be looked up stays unexplained, and is no trouble to anybody", async () => {
  const { inspection, warnings } = stage();
  const sighting = inspection.sight();
  sighting.apiKey = "lyre_bot_unknown";
  sighting.failed = "HEADER";
  inspection.answered(sighting, REQUEST, { status: 401 });
  await inspection.explained();
  expect(inspection.requests.knows("lyre_bot_unknown")).toBe(false);
  expect(warnings).toContain("a refused request could not be looked into");
  await inspection.close();
});
