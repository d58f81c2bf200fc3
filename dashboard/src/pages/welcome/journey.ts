// The way from a new account to the first order, as steps: which are done, which can be done now, and what
// the others wait for.
import type { KeyJson, PersonJson, StrategyJson } from "../../../../src/dashboard-api/schemas.ts";

import { isFreeKey } from "../../api/strategy.ts";

/** DONE; OPEN: can be done now; WAITING: somebody else has to do something; LATER: other steps come first. */
export type StepState = "DONE" | "OPEN" | "WAITING" | "LATER";

export type StepName =
  | "EMAIL"
  | "IDENTITY"
  | "APPROVAL"
  | "PROFILE"
  | "SECOND_FACTOR"
  | "KEY"
  | "STRATEGY"
  | "ORDER"
  | "VENUE_ACCOUNT"
  | "OFFER"
  | "SETTINGS"
  | "FOLLOWING";

export type Step = {
  readonly name: StepName;
  readonly state: StepState;
  readonly title: string;
  /** What it is for, or what it waits for. */
  readonly says: string;
};

export type JourneyParts = {
  readonly person: PersonJson;
  /** Empty for a person who is no trader. */
  readonly keys: readonly Pick<KeyJson, "revokedAt" | "strategy">[];
  readonly strategies: readonly Pick<StrategyJson, "status">[];
  /** Whether any strategy ever had an order. */
  readonly hasOrder: boolean;
};

export function journeyOf({ person, keys, strategies, hasOrder }: JourneyParts): readonly Step[] {
  const isApproved = person.kyc === "APPROVED";
  const isTrader = person.profile === "TRADER";
  const isReadyForKeys = isApproved && isTrader && person.hasSecondFactor;
  const liveKeys = keys.filter(({ revokedAt }) => revokedAt === null);
  const hasFreeKey = liveKeys.some(isFreeKey);
  // Whose strategy has lost its key has been here before: the strategy says what to do.
  const hasKey = liveKeys.length > 0 || strategies.length > 0;
  return [
    ...firstSteps(person, API),
    {
      name: "PROFILE",
      state: isTrader ? "DONE" : "OPEN",
      title: "Switch to the Trader profile",
      says: "It shows API keys and strategies. You can switch back at any time.",
    },
    factorStep(person, "Creating a key needs one of its codes."),
    {
      name: "KEY",
      state: hasKey ? "DONE" : isReadyForKeys ? "OPEN" : "LATER",
      title: "Create an API key",
      says: isReadyForKeys || hasKey ? "Your bot signs its requests with it." : afterwards(person),
    },
    {
      name: "STRATEGY",
      state: strategies.length > 0 ? "DONE" : isReadyForKeys && hasFreeKey ? "OPEN" : "LATER",
      title: "Create a strategy",
      says: "A virtual account, Spot or Futures, which the key trades on.",
    },
    {
      name: "ORDER",
      state: hasOrder ? "DONE" : strategies.some(({ status }) => status === "LIVE") ? "OPEN" : "LATER",
      title: "Send the first order",
      says: "With ccxt, python-binance or curl: the lines are on the strategy’s page.",
    },
  ];
}

const API = {
  opened: "The API is available to you.",
  closed: "Until then the API is not available.",
} as const;

/** What is to be done next; null when nothing is open. */
export function nextStep(steps: readonly Step[]): Step | null {
  return steps.find(({ state }) => state === "OPEN") ?? null;
}

/** Those of every person, until an operator has approved them, which opens something. */
export function firstSteps(person: PersonJson, opens: { opened: string; closed: string }): readonly Step[] {
  return [
    {
      name: "EMAIL",
      state: person.isEmailVerified ? "DONE" : "OPEN",
      title: "Verify your e-mail address",
      says: person.email,
    },
    { name: "IDENTITY", title: "Verify identity", ...identityStep(person) },
    { name: "APPROVAL", title: "Get approved by an operator", ...approvalStep(person, opens) },
  ];
}

/** The step of setting up a second factor, and what it is needed for. */
export function factorStep({ hasSecondFactor }: PersonJson, why: string): Step {
  return {
    name: "SECOND_FACTOR",
    state: hasSecondFactor ? "DONE" : "OPEN",
    title: "Set up a second factor",
    says: `An authenticator app. ${why}`,
  };
}

/** The step of saying who one is. */
function identityStep({ kyc }: PersonJson): Pick<Step, "state" | "says"> {
  switch (kyc) {
    case "NONE":
      return { state: "OPEN", says: "A form with your name, address and a document." };
    case "REJECTED":
      return { state: "OPEN", says: "It was rejected. Read why, and submit it again." };
    case "PENDING":
    case "APPROVED":
      return { state: "DONE", says: "Submitted." };
  }
}

/** The step of being approved, which opens something. */
function approvalStep(
  { kyc }: PersonJson,
  { opened, closed }: { opened: string; closed: string },
): Pick<Step, "state" | "says"> {
  switch (kyc) {
    case "APPROVED":
      return { state: "DONE", says: opened };
    case "PENDING":
      return {
        state: "WAITING",
        says: "An operator reviews your form. Continue with the other steps.",
      };
    case "NONE":
    case "REJECTED":
      return { state: "LATER", says: closed };
  }
}

/** What a key waits for. */
function afterwards(person: PersonJson): string {
  const missing = [
    ...(person.kyc === "APPROVED" ? [] : ["your identity is approved"]),
    ...(person.profile === "TRADER" ? [] : ["you are a trader"]),
    ...(person.hasSecondFactor ? [] : ["you have a second factor"]),
  ];
  return `Once ${new Intl.ListFormat("en-GB").format(missing)}.`;
}
