// The audience of each page. The server decides what a person may read; this decides what is worth showing.
import type { LinkProps } from "@tanstack/react-router";
import type { PersonJson } from "../../../src/dashboard-api/schemas.ts";

/**
 * GUEST: who is not signed in; ANYONE: with or without a session. An operator is neither TRADER nor COPIER.
 */
export type Audience = "GUEST" | "ANYONE" | "SIGNED_IN" | "TRADER" | "COPIER" | "OPERATOR";

declare module "@tanstack/react-router" {
  interface StaticDataRouteOption {
    audience?: Audience;
  }
}

/** Why the page is not for this person, and what they may do instead. */
export type Refused = {
  readonly title: string;
  readonly why: string;
  readonly to: NonNullable<LinkProps["to"]>;
  readonly action: string;
};

/** Null if the page is for them. Guests are another matter: they are asked to sign in. */
export function refusedTo(audience: Audience, person: PersonJson): Refused | null {
  if (audience === "OPERATOR") return refusedToOperate(person);
  if (audience !== "TRADER" && audience !== "COPIER") return null;
  if (person.role === "OPERATOR") {
    return {
      title: "Operators don't trade",
      why: "This page is for people who trade or copy. Their strategies are on their own page under People.",
      to: "/operator/people",
      action: "Find a person",
    };
  }
  if (person.profile === audience) return null;
  const [own, other] = audience === "TRADER" ? ["Trader", "Copier"] : ["Copier", "Trader"];
  return {
    title: `This page belongs to the ${own} profile`,
    why: `You are using Lyrebird with the ${other} profile. You can switch in the account menu at any time.`,
    to: "/",
    action: `Continue as a ${other.toLowerCase()}`,
  };
}

function refusedToOperate(person: PersonJson): Refused | null {
  if (person.role !== "OPERATOR") {
    return {
      title: "This page is for operators",
      why: "Operators check identities and run this server. There is nothing of yours here.",
      to: "/",
      action: "Go to your own pages",
    };
  }
  if (person.hasSecondFactor) return null;
  return {
    title: "Operators need a second factor",
    why: "Before you see other people's data, protect your own sign-in with an authenticator app.",
    to: "/security",
    action: "Set up the second factor",
  };
}

/**
 * Where a person begins: at what is still to be done, or at their work. A trader's depends on whether there
 * is a strategy, which is undefined until it is known; the answer then is null.
 */
export function homeOf(
  person: PersonJson,
  hasStrategy: boolean | undefined,
): "/security" | "/operator/identity" | "/welcome" | "/copying" | "/strategies" | null {
  if (person.role === "OPERATOR") return person.hasSecondFactor ? "/operator/identity" : "/security";
  if (!person.isEmailVerified || person.kyc !== "APPROVED") return "/welcome";
  if (person.profile === "COPIER") return "/copying";
  if (hasStrategy === undefined) return null;
  return hasStrategy ? "/strategies" : "/welcome";
}
