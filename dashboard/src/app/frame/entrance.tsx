import type { ReactNode } from "react";
import { useSession } from "../../api/session.ts";
import { BirdMark } from "../../ui/bird-mark.tsx";
import { Note } from "../../ui/note.tsx";
import { ThemeSwitch } from "./theme-switch.tsx";

/** Around the pages for people who are not signed in. */
export function Entrance({ hasEnded, children }: { hasEnded: boolean; children: ReactNode }) {
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
