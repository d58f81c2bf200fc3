// What surrounds every page of a signed-in person: on a desktop a sidebar, on a phone a bar with a drawer;
// below both a status line that says whether what is shown is live, and of which market.

import { Link, useRouterState } from "@tanstack/react-router";
import { Dialog as Parts } from "radix-ui";
import { type ReactNode, useEffect, useState } from "react";
import type { PersonJson } from "../../../../src/dashboard-api/schemas.ts";
import { useSession } from "../../api/session.ts";
import { silence } from "../../live/connection.ts";
import { useConnection, useSilentSince } from "../../live/use-live.ts";
import { MARKET_KINDS } from "../../markets/markets.ts";
import { SwitchProfileDialog } from "../../profile/switch-profile-dialog.tsx";
import { BirdMark } from "../../ui/bird-mark.tsx";
import { durationInWords } from "../../ui/figures/duration.ts";
import { formatTime } from "../../ui/figures/figures.tsx";
import { useIsPhone, useNow } from "../../ui/hooks.ts";
import { Menu, MenuItem, MenuLabel, MenuLine, MenuLink } from "../../ui/overlays/menu.tsx";
import { usePreloadedPages } from "../chunks.ts";
import { signOut } from "../sign-out.tsx";
import { Navigation } from "./navigation-list.tsx";
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

/** Bird and name; leads home. */
function Brand() {
  return (
    <Link to="/" className="flex items-center gap-2 rounded-md font-semibold text-lg tracking-tight">
      <span className="text-accent">
        <BirdMark />
      </span>
      Lyrebird
    </Link>
  );
}

type DrawerProps = { isOpen: boolean; onChange: (isOpen: boolean) => void; children: ReactNode };

const isOnLink = (target: EventTarget) => target instanceof Element && target.closest("a") !== null;

/** The navigation of a phone, from the right, and the button that opens it. */
function Drawer({ isOpen, onChange, children }: DrawerProps) {
  return (
    <Parts.Root open={isOpen} onOpenChange={onChange}>
      <Parts.Trigger className="flex min-h-9 items-center gap-2 rounded-md border border-line-strong px-3 font-medium text-sm">
        <span aria-hidden="true">☰</span> Menu
      </Parts.Trigger>
      <Parts.Portal>
        <div aria-hidden="true" className="fixed inset-0 z-30 bg-veil" />
        <Parts.Content
          aria-describedby={undefined}
          // Also the page that is there already is wanted, without the drawer before it.
          onClick={({ target }) => {
            if (isOnLink(target)) onChange(false);
          }}
          className="fixed inset-y-0 right-0 z-40 flex w-72 max-w-[85vw] flex-col overflow-y-auto border-line border-l bg-sunken"
        >
          <div className="flex h-14 shrink-0 items-center justify-between px-4">
            <Parts.Title className="font-semibold">Menu</Parts.Title>
            <Parts.Close
              aria-label="Close"
              className="size-9 rounded-md text-ink-soft hover:bg-hover hover:text-ink"
            >
              <span aria-hidden="true">✕</span>
            </Parts.Close>
          </div>
          {children}
        </Parts.Content>
      </Parts.Portal>
    </Parts.Root>
  );
}

// The line at the foot of every page, as an editor has one: is it live, which market is it, what time is it
// there.

function StatusLine() {
  const { server } = useSession();
  return (
    <footer className="sticky bottom-0 z-10 flex h-7 items-center gap-4 overflow-hidden whitespace-nowrap border-line border-t bg-sunken px-4 font-mono text-2xs text-ink-soft sm:px-6">
      <LiveState />
      <span>{MARKET_KINDS[server.market].name}</span>
      {server.isDemo && <span className="hidden sm:inline">demo data</span>}
      <span className="ml-auto hidden sm:inline">v{server.version}</span>
      <UtcClock />
    </footer>
  );
}

/** Nothing where nothing on the page is live. */
function LiveState() {
  const connection = useConnection();
  const isSilent = useSilentSince() !== null;
  return (
    <span role="status" className="empty:hidden">
      {connection === "live" && !isSilent && (
        <span className="text-gain">
          <span aria-hidden="true">● </span>live
        </span>
      )}
      {connection === "connecting" && (
        <span>
          <span aria-hidden="true">○ </span>connecting
        </span>
      )}
      {(connection === "reconnecting" || connection === "refused") && (
        <span className="text-warn">
          <span aria-hidden="true">◌ </span>reconnecting
        </span>
      )}
      {connection === "live" && isSilent && (
        <span className="text-warn">
          <span aria-hidden="true">◌ </span>no answer
        </span>
      )}
    </span>
  );
}

function UtcClock() {
  return <span className="numeric ml-auto sm:ml-0">{formatTime(useNow(), "time")}</span>;
}

// Says at the top of every page that what it shows is not live, and since when. While it is shown, the root
// has the attribute that grays all figures (theme.css). That market data is stale is something else: the
// server says so, beside the figure.

const WHAT_HAPPENS = {
  off: "",
  connecting: "The server does not answer. Connecting …",
  live: "The server does not answer.",
  reconnecting: "The server does not answer. Reconnecting …",
  refused: "The server refuses live updates. Trying again …",
} as const;

function SilenceBand() {
  const since = useSilentSince();
  useEffect(() => {
    document.addEventListener("visibilitychange", silence.check);
    return () => document.removeEventListener("visibilitychange", silence.check);
  }, []);
  useEffect(() => {
    document.documentElement.toggleAttribute("data-silent", since !== null);
    return () => document.documentElement.removeAttribute("data-silent");
  }, [since]);
  return since === null ? null : <Band since={since} />;
}

function Band({ since }: { since: number }) {
  const connection = useConnection();
  const now = useNow();
  return (
    <section
      aria-label="Connection"
      className="sticky top-14 z-10 border-warn border-b bg-warn-soft px-4 py-2 font-medium text-warn sm:px-6 md:top-0"
    >
      <span role="alert">No data since {formatTime(since, "time")}</span>{" "}
      <span aria-hidden="true" className="tabular-nums">
        ({durationInWords((now - since) / 1_000)})
      </span>
      . <span role="status">{WHAT_HAPPENS[connection]}</span>
    </section>
  );
}

// Who is signed in, and what they can do about it: another profile, their security, signing out.

function AccountMenu({ person }: { person: PersonJson }) {
  const [isLeaving, setIsLeaving] = useState(false);
  const [isSwitching, setIsSwitching] = useState(false);
  const leave = () => {
    setIsLeaving(true);
    void signOut();
  };
  return (
    <>
      <Menu
        align="start"
        trigger={
          <button
            type="button"
            className="flex min-h-10 w-full min-w-0 items-center justify-between gap-2 rounded-md px-2 py-1 text-left hover:bg-hover"
            disabled={isLeaving}
          >
            <span className="min-w-0">
              <span title={person.name} className="block truncate font-medium text-sm">
                {person.name}
              </span>
              <span className="block text-ink-soft text-xs">{roleOf(person)}</span>
            </span>
            <span aria-hidden="true" className="text-ink-soft">
              ⋯
            </span>
          </button>
        }
      >
        <MenuLabel>{person.email}</MenuLabel>
        <MenuLine />
        {person.role === "PERSON" && (
          <MenuItem onSelect={() => setIsSwitching(true)}>
            Switch to {person.profile === "TRADER" ? "Copier" : "Trader"}
          </MenuItem>
        )}
        <MenuLink>
          <Link to="/security">Security</Link>
        </MenuLink>
        <MenuItem onSelect={leave}>Sign out</MenuItem>
      </Menu>
      <SwitchProfileDialog isOpen={isSwitching} onClose={() => setIsSwitching(false)} />
    </>
  );
}

function roleOf({ role, profile }: PersonJson): string {
  if (role === "OPERATOR") return "Operator";
  return profile === "TRADER" ? "Trader" : "Copier";
}
