// Around every page: loads the session, decides whether the page is for this person, and what surrounds it.
// The page's own code loads at the same time.

import { Navigate, Outlet, useMatches } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import type { SessionJson } from "../../../../src/dashboard-api/schemas.ts";
import { queryClient } from "../../api/call.ts";
import { useSession, useSessionQuery } from "../../api/session.ts";
import { disconnect } from "../../live/connection.ts";
import { BirdMark } from "../../ui/bird-mark.tsx";
import { ErrorNote, Note } from "../../ui/card.tsx";
import { Toasts } from "../../ui/overlays/toast.tsx";
import { Instead } from "../../ui/page-header.tsx";
import { type Audience, refusedTo } from "../audience.ts";
import { safeNextPath } from "../next-path.ts";
import { type Search, stringifySearch } from "../search.ts";
import { SignOutFailed, useSignOutFailure } from "../sign-out.tsx";
import { Shell } from "./shell.tsx";
import { ThemeSwitch } from "./theme-switch.tsx";

export function Frame() {
  const failure = useSignOutFailure();
  return failure === null ? <FramedPage /> : <SignOutFailed error={failure} />;
}

function FramedPage() {
  const { data: session, error, refetch, isFetching } = useSessionQuery();
  if (session !== undefined) {
    return (
      <>
        <Framed session={session} />
        <Toasts />
      </>
    );
  }
  return (
    <main
      aria-busy={error === null}
      className="mx-auto flex min-h-dvh max-w-md flex-col justify-center gap-4 p-6"
    >
      <h1 className="flex items-center gap-2 font-semibold text-lg">
        <span className="text-accent">
          <BirdMark />
        </span>
        Lyrebird
      </h1>
      {error === null ? (
        <p className="text-ink-soft">Loading …</p>
      ) : (
        <ErrorNote error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
      )}
    </main>
  );
}

function Framed({ session: { person } }: { session: SessionJson }) {
  const { audience, address, search } = useCurrentPage();
  const hadPerson = useForgetting(person?.personId ?? null);
  if (person === null) {
    if (audience !== "GUEST" && audience !== "ANYONE") {
      const next = address === "/" ? {} : { next: address };
      return <Navigate to="/sign-in" search={{ ...next, ...(hadPerson ? { ended: "1" } : {}) }} replace />;
    }
    return (
      <Entrance hasEnded={search.ended !== undefined}>
        <Outlet />
      </Entrance>
    );
  }
  if (audience === "GUEST") return <Navigate to={safeNextPath(search.next)} replace />;
  const refused = refusedTo(audience, person);
  return <Shell person={person}>{refused === null ? <Outlet /> : <Instead {...refused} />}</Shell>;
}

/**
 * The page that is shown, which during a navigation is not yet the one of the address. What is no page is for
 * anyone.
 */
function useCurrentPage(): { audience: Audience; address: string; search: Search } {
  const match = useMatches().at(-1);
  const search: Search = match?.search ?? {};
  return {
    audience: match?.staticData.audience ?? "ANYONE",
    address: `${match?.pathname ?? "/"}${stringifySearch(search)}`,
    search,
  };
}

/**
 * Drops what belongs to a person when they are gone. Returns whether somebody was signed in on this page
 * before.
 */
function useForgetting(personId: string | null): boolean {
  const previous = useRef<string | null>(null);
  const hadPerson = previous.current !== null;
  useEffect(() => {
    if (previous.current !== null && previous.current !== personId) {
      disconnect();
      queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== "session" });
    }
    if (personId !== null) previous.current = personId;
  }, [personId]);
  return hadPerson;
}

/** Around the pages for people who are not signed in. */
function Entrance({ hasEnded, children }: { hasEnded: boolean; children: ReactNode }) {
  const { server } = useSession();
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="flex h-14 items-center justify-between gap-4 px-4 sm:px-6">
        <span className="flex items-center gap-2 font-semibold text-lg tracking-tight">
          <span className="text-accent">
            <BirdMark size={26} />
          </span>
          Lyrebird
        </span>
        <ThemeSwitch />
      </header>
      <main className="mx-auto w-full max-w-md grow px-4 pt-6 pb-12 sm:pt-[10dvh]">
        {hasEnded && (
          <div className="mb-5">
            <Note tone="warn" title="Your session has ended.">
              Sign in again; you come back to where you were.
            </Note>
          </div>
        )}
        {children}
      </main>
      <footer className="flex flex-wrap justify-between gap-x-4 px-4 py-3 font-mono text-ink-soft text-xs sm:px-6">
        <span>Trade a virtual account with the client you already have.</span>
        <span>v{server.version}</span>
      </footer>
    </div>
  );
}
