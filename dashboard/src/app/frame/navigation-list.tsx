import { Link, useRouterState } from "@tanstack/react-router";
import type { PersonJson } from "../../../../src/dashboard-api/schemas.ts";

const CURRENT_LOOK = "border-accent bg-surface font-medium text-ink";
const OTHER_LOOK = "border-transparent text-ink-soft hover:text-ink";

/** The sections of the app; the one we are in is marked at its left, like the line of an editor. */
export function Navigation({ person }: { person: PersonJson }) {
  const pathname = useRouterState({ select: (state) => state.location.pathname });
  return (
    <nav aria-label="Main" className="flex flex-col gap-5 pt-2 pb-4">
      {navigationOf(person).map((group) => (
        <div key={group.label}>
          <p className="column-label px-4 pb-1">{group.label}</p>
          <ul>
            {group.items.map(({ to, label, covers }) => (
              <li key={to}>
                <Link
                  to={to}
                  className="flex min-h-9 items-center border-l-3 px-3.25 text-base -outline-offset-2 hover:bg-hover md:min-h-8"
                  activeOptions={{ exact: covers !== undefined }}
                  activeProps={{ className: CURRENT_LOOK }}
                  inactiveProps={
                    covers !== undefined && pathname.startsWith(`${covers}/`)
                      ? { className: CURRENT_LOOK, "aria-current": "true" }
                      : { className: OTHER_LOOK }
                  }
                >
                  {label}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  );
}

// The entries of the sidebar for each audience.

type NavigationItem = {
  readonly to: string;
  readonly label: string;
  /** Other addresses below which it is current too; those below its own are then other items'. */
  readonly covers?: string;
};
type NavigationGroup = { readonly label: string; readonly items: readonly NavigationItem[] };

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

function navigationOf(person: PersonJson): readonly NavigationGroup[] {
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
