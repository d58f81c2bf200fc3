import { expect, test } from "vitest";
import type { PersonJson } from "../../../src/dashboard-api/schemas.ts";
import { homeOf, refusedTo } from "./audience.ts";

const TRADER: PersonJson = {
  personId: "1",
  email: "ada@example.net",
  name: "Ada",
  role: "PERSON",
  profile: "TRADER",
  isEmailVerified: true,
  kyc: "APPROVED",
  kycReason: null,
  hasSecondFactor: true,
  lockedAt: null,
  closedAt: null,
  createdAt: 0,
};
const COPIER: PersonJson = { ...TRADER, profile: "COPIER" };
const OPERATOR: PersonJson = { ...TRADER, role: "OPERATOR", profile: "COPIER" };

test.each([
  ["a trader with a strategy", TRADER, true, "/strategies"],
  [
    "a trader with a strategy and no second factor",
    { ...TRADER, hasSecondFactor: false },
    true,
    "/strategies",
  ],
  ["a trader without one", TRADER, false, "/welcome"],
  ["a trader while it is not known", TRADER, undefined, null],
  ["a trader who is not approved", { ...TRADER, kyc: "PENDING" as const }, undefined, "/welcome"],
  ["a copier", COPIER, undefined, "/copying"],
  ["a copier who is not approved", { ...COPIER, kyc: "REJECTED" as const }, undefined, "/welcome"],
  ["an operator", OPERATOR, undefined, "/operator/identity"],
  ["an operator without second factor", { ...OPERATOR, hasSecondFactor: false }, undefined, "/security"],
])("%s begins where there is something to do", (_who, person, hasStrategy, path) => {
  expect(homeOf(person, hasStrategy)).toBe(path);
});

test.each([
  ["TRADER", TRADER, true],
  ["TRADER", COPIER, false],
  ["TRADER", OPERATOR, false],
  ["COPIER", COPIER, true],
  ["COPIER", TRADER, false],
  ["OPERATOR", OPERATOR, true],
  ["OPERATOR", { ...OPERATOR, hasSecondFactor: false }, false],
  ["OPERATOR", TRADER, false],
  ["SIGNED_IN", OPERATOR, true],
] as const)("a page for %s is shown to %o: %s", (audience, person, isShown) => {
  expect(refusedTo(audience, person) === null).toBe(isShown);
});
