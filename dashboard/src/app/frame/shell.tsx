// What surrounds every page of a signed-in person: on a desktop a sidebar, on a phone a bar with a drawer;
// below both a status line that says whether what is shown is live, and of which market.

import { useRouterState } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import type { PersonJson } from "../../../../src/dashboard-api/schemas.ts";
import { useIsPhone } from "../../ui/hooks.ts";
import { usePreloadedPages } from "../chunks.ts";
import { AccountMenu } from "./account-menu.tsx";
import { Brand } from "./brand.tsx";
import { Drawer } from "./drawer.tsx";
import { Navigation } from "./navigation-list.tsx";
import { SilenceBand } from "./silence-band.tsx";
import { StatusLine } from "./status-line.tsx";
import { ThemeSwitch } from "./theme-switch.tsx";

type ShellProps = { person: PersonJson; children: ReactNode };

export function Shell({ person, children }: ShellProps) {
  usePreloadedPages(person);
  const Surround = useIsPhone() ? PhoneTop : Sidebar;
  return (
    <div className="min-h-dvh md:grid md:grid-cols-[13.5rem_minmax(0,1fr)]">
      <a
        href="#page"
        className="fixed top-2 left-2 z-50 -translate-y-20 rounded-md border border-accent bg-surface px-3 py-2 font-medium focus:translate-y-0"
      >
        Skip to the page
      </a>
      <Surround person={person} />
      <div className="flex min-h-[calc(100dvh-3.5rem)] min-w-0 flex-col md:min-h-dvh">
        <SilenceBand />
        <main id="page" tabIndex={-1} className="w-full max-w-[96rem] grow px-4 py-5 outline-none sm:px-6">
          {children}
        </main>
        <StatusLine />
      </div>
    </div>
  );
}

function Sidebar({ person }: { person: PersonJson }) {
  return (
    <header className="sticky top-0 z-20 flex h-dvh flex-col border-line border-r bg-sunken">
      <div className="flex h-14 shrink-0 items-center px-4">
        <Brand />
      </div>
      <div className="min-h-0 grow overflow-y-auto pb-4">
        <Navigation person={person} />
      </div>
      <div className="flex flex-col gap-2 border-line border-t p-3">
        <ThemeSwitch />
        <AccountMenu person={person} />
      </div>
    </header>
  );
}

function PhoneTop({ person }: { person: PersonJson }) {
  const [isOpen, setIsOpen] = useState(false);
  const pathname = useRouterState({ select: (state) => state.location.pathname });
  // A person who follows a link of the drawer wants to see the page.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the path is what closes it.
  useEffect(() => setIsOpen(false), [pathname]);
  return (
    <header className="sticky top-0 z-20 flex h-14 items-center justify-between gap-3 border-line border-b bg-sunken px-4">
      <Brand />
      <Drawer isOpen={isOpen} onChange={setIsOpen}>
        <Navigation person={person} />
        <div className="mt-auto flex flex-col gap-2 border-line border-t p-3">
          <ThemeSwitch />
          <AccountMenu person={person} />
        </div>
      </Drawer>
    </header>
  );
}
