import { describe, expect, test } from "vitest";
import type { PersonJson } from "../../../../src/dashboard-api/schemas.ts";
import { type CopierParts, copierJourneyOf } from "./copier-journey.ts";
import { nextStep } from "./journey.ts";

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
const READY: PersonJson = { ...NEW, kyc: "APPROVED", hasSecondFactor: true };

describe("the states of the steps, from e-mail to following", () => {
  test.each<[string, Partial<CopierParts>, string]>([
    ["a new person", {}, "DONE OPEN LATER OPEN LATER LATER LATER LATER"],
    ["submitted", { person: { ...NEW, kyc: "PENDING" } }, "DONE DONE WAITING OPEN LATER LATER LATER LATER"],
    ["approved", { person: { ...NEW, kyc: "APPROVED" } }, "DONE DONE DONE OPEN LATER LATER LATER LATER"],
    ["ready", { person: READY }, "DONE DONE DONE DONE OPEN LATER LATER LATER"],
    ["connected", { person: READY, hasAccount: true }, "DONE DONE DONE DONE DONE OPEN LATER LATER"],
    ["following", { person: READY, hasCopy: true }, "DONE DONE DONE DONE DONE DONE DONE DONE"],
  ])("%s", (_who, parts, states) => {
    const steps = copierJourneyOf({ person: NEW, hasAccount: false, hasCopy: false, ...parts });
    expect(steps.map(({ state }) => state).join(" ")).toBe(states);
  });
});

test("approval opens exchange accounts, and nothing is next for who follows", () => {
  const steps = copierJourneyOf({ person: READY, hasAccount: true, hasCopy: true });
  expect(steps.find(({ name }) => name === "APPROVAL")?.says).toBe("You may connect an exchange account.");
  expect(nextStep(steps)).toBeNull();
});
