// Tabs that are links: each has an address of its own, opens in a new window and survives a reload.
import { Link, type LinkProps } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

export type Tab = Pick<LinkProps, "to" | "params" | "search"> & {
  readonly label: string;
  /** True of the tab that is the index of its parent, which would otherwise always be current. */
  readonly isExact?: boolean;
};

export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const list = useRef<HTMLUListElement>(null);
  // The current tab may lie outside of a narrow screen.
  useEffect(() => {
    list.current
      ?.querySelector("[aria-current=page]")
      ?.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
  return (
    <nav aria-label={label} className="mb-5 overflow-x-auto border-line border-b">
      <ul ref={list} className="flex min-w-max gap-1">
        {tabs.map(({ label: name, isExact = false, ...target }) => (
          <li key={name}>
            <Link
              {...target}
              activeOptions={{
                exact: isExact,
                explicitUndefined: true,
                includeSearch: target.search !== undefined,
              }}
              activeProps={{ className: "border-accent text-ink" }}
              inactiveProps={{
                className: "border-transparent text-ink-soft hover:text-ink hover:border-line-strong",
              }}
              className="block border-b-2 px-3 py-2 font-medium text-sm -outline-offset-2"
            >
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
