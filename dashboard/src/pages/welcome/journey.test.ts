import { describe, expect, test } from "vitest";
import type { PersonJson } from "../../../../src/dashboard-api/schemas.ts";
import { type JourneyParts, journeyOf, nextStep } from "./journey.ts";

const NEW: PersonJson = {
  personId: "1",
  email: "ada@example.net",
  name: "Ada",
  role: "PERSON",
  profile: "COPIER",
  isEmailVerified: true,
  kyc: "NONE",
  kycReason: null,
  hasSecondFactor: false,
  lockedAt: null,
  closedAt: null,
  createdAt: 0,
};
const READY: PersonJson = { ...NEW, profile: "TRADER", kyc: "APPROVED", hasSecondFactor: true };
const FREE_KEY = { revokedAt: null, strategy: null };
const STRATEGY = { strategyId: "s", name: "grid", type: "SPOT", status: "LIVE" } as const;
const BOUND_KEY = { revokedAt: null, strategy: STRATEGY };

function statesOf(parts: Partial<JourneyParts>): string {
  const steps = journeyOf({ person: NEW, keys: [], strategies: [], hasOrder: false, ...parts });
  return steps.map(({ state }) => state).join(" ");
}

describe("the states of the steps, from e-mail to first order", () => {
  test.each<[string, Partial<JourneyParts>, string]>([
    ["a new person", {}, "DONE OPEN LATER OPEN OPEN LATER LATER LATER"],
    ["submitted", { person: { ...NEW, kyc: "PENDING" } }, "DONE DONE WAITING OPEN OPEN LATER LATER LATER"],
    ["rejected", { person: { ...NEW, kyc: "REJECTED" } }, "DONE OPEN LATER OPEN OPEN LATER LATER LATER"],
    ["approved", { person: { ...NEW, kyc: "APPROVED" } }, "DONE DONE DONE OPEN OPEN LATER LATER LATER"],
    ["ready for keys", { person: READY }, "DONE DONE DONE DONE DONE OPEN LATER LATER"],
    ["with a key", { person: READY, keys: [FREE_KEY] }, "DONE DONE DONE DONE DONE DONE OPEN LATER"],
    [
      "whose only key was revoked",
      { person: READY, keys: [{ ...FREE_KEY, revokedAt: 1 }] },
      "DONE DONE DONE DONE DONE OPEN LATER LATER",
    ],
    [
      "with a strategy",
      { person: READY, keys: [BOUND_KEY], strategies: [STRATEGY] },
      "DONE DONE DONE DONE DONE DONE DONE OPEN",
    ],
    [
      "at the end",
      { person: READY, keys: [BOUND_KEY], strategies: [STRATEGY], hasOrder: true },
      "DONE DONE DONE DONE DONE DONE DONE DONE",
    ],
    [
      "a demo's trader, who has no second factor",
      {
        person: { ...READY, hasSecondFactor: false },
        keys: [BOUND_KEY],
        strategies: [STRATEGY],
        hasOrder: true,
      },
      "DONE DONE DONE DONE OPEN DONE DONE DONE",
    ],
  ])("%s", (_who, parts, states) => {
    expect(statesOf(parts)).toBe(states);
  });
});

test("the next step is the first that is open, and none when there is nothing to do", () => {
  const parts = { keys: [BOUND_KEY], strategies: [STRATEGY], hasOrder: true };
  expect(nextStep(journeyOf({ ...parts, person: NEW }))?.name).toBe("IDENTITY");
  expect(nextStep(journeyOf({ ...parts, person: READY }))).toBeNull();
});

test("a key that can't be made says what it waits for", () => {
  const key = journeyOf({ person: NEW, keys: [], strategies: [], hasOrder: false }).find(
    ({ name }) => name === "KEY",
  );
  expect(key?.says).toBe("Once your identity is approved, you are a trader and you have a second factor.");
});
