// The entries of the sidebar for each audience.
import type { PersonJson } from "../../../../src/dashboard-api/schemas.ts";

export type NavigationItem = {
  readonly to: string;
  readonly label: string;
  /** Other addresses below which it is current too; those below its own are then other items'. */
  readonly covers?: string;
};
export type NavigationGroup = { readonly label: string; readonly items: readonly NavigationItem[] };

const TRADING: NavigationGroup = {
  label: "Trading",
  items: [
    { to: "/strategies", label: "Strategies" },
    { to: "/keys", label: "API keys" },
  ],
};
const COPYING: NavigationGroup = {
  label: "Copying",
  items: [
    { to: "/copying", label: "Your copies", covers: "/copies" },
    { to: "/copying/strategies", label: "Strategies" },
    { to: "/copying/accounts", label: "Exchange accounts" },
  ],
};
const OPERATING: NavigationGroup = {
  label: "Operating",
  items: [
    { to: "/operator/identity", label: "Identity checks" },
    { to: "/operator/people", label: "People" },
    { to: "/operator/copying", label: "Copying" },
    { to: "/operator/health", label: "Health" },
    { to: "/operator/traffic", label: "Traffic" },
    { to: "/operator/security", label: "Defenses" },
    { to: "/operator/fidelity", label: "Fidelity" },
    { to: "/operator/audit", label: "Audit log" },
  ],
};

export function navigationOf(person: PersonJson): readonly NavigationGroup[] {
  if (person.role === "OPERATOR") {
    return [OPERATING, { label: "Account", items: [{ to: "/security", label: "Security" }] }];
  }
  const account = {
    label: "Account",
    items: [
      { to: "/welcome", label: "Getting started" },
      { to: "/identity", label: "Identity" },
      { to: "/security", label: "Security" },
    ],
  };
  return [person.profile === "TRADER" ? TRADING : COPYING, account];
}
