import { Link, useRouterState } from "@tanstack/react-router";
import type { PersonJson } from "../../../../src/dashboard-api/schemas.ts";
import { navigationOf } from "./navigation.ts";

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
