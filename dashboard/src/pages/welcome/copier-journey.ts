// The way from a new account to the first copy, as steps.
import type { PersonJson } from "../../../../src/dashboard-api/schemas.ts";
import { factorStep, firstSteps, type Step } from "./journey.ts";

export type CopierParts = {
  readonly person: PersonJson;
  /** Whether an exchange account is connected. */
  readonly hasAccount: boolean;
  /** Whether anything is, or ever was, copied. */
  readonly hasCopy: boolean;
};

const COPYING = {
  opened: "You may connect an exchange account.",
  closed: "Until then no exchange account can be connected.",
} as const;

export function copierJourneyOf({ person, hasAccount, hasCopy }: CopierParts): readonly Step[] {
  const isReady = person.kyc === "APPROVED" && person.hasSecondFactor;
  return [
    ...firstSteps(person, COPYING),
    factorStep(person, "Connecting an exchange account needs one of its codes."),
    ...firstCopySteps({ isReady, hasAccount, hasCopy }),
  ];
}

type FirstCopyParts = Omit<CopierParts, "person"> & { readonly isReady: boolean };

/** The remaining steps of a person who may connect an account. */
export function firstCopySteps({ isReady, hasAccount, hasCopy }: FirstCopyParts): readonly Step[] {
  const begun = hasCopy ? "DONE" : "LATER";
  return [
    {
      name: "VENUE_ACCOUNT",
      state: hasAccount || hasCopy ? "DONE" : isReady ? "OPEN" : "LATER",
      title: "Connect an exchange account",
      says: "With an API key that may read and trade, and may not withdraw. It is checked at once.",
    },
    {
      name: "OFFER",
      state: hasCopy ? "DONE" : hasAccount && isReady ? "OPEN" : "LATER",
      title: "Choose a strategy",
      says: "Compare results, age and the balance that its orders need.",
    },
    {
      name: "SETTINGS",
      state: begun,
      title: "Choose the settings, with a preview",
      says: "Share of the balance, maximum per order and stop loss. The preview shows what your account would have copied.",
    },
    {
      name: "FOLLOWING",
      state: begun,
      title: "Follow",
      says: "From its next order on. Every line of the log says what was copied, or why it was not.",
    },
  ];
}
