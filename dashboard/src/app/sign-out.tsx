// Signing out. If the server cannot be reached, the person is still signed in; the page drops everything that
// it knows of them and says so, since they may be about to leave the machine to somebody else.
import { useState, useSyncExternalStore } from "react";
import { call, queryClient } from "../api/call.ts";
import { disconnect } from "../live/connection.ts";
import { ErrorNote } from "../ui/card.tsx";
import { createListeners } from "../ui/listeners.ts";

let failure: unknown = null;
const { subscribe, notify } = createListeners();

/** Ends the session and opens the sign-in page; if that fails, `useSignOutFailure` answers why. */
export async function signOut(): Promise<void> {
  try {
    await call("DELETE /session");
    // A new page: nothing of this person's stays in memory.
    window.location.assign("/sign-in");
  } catch (error) {
    failure = error;
    notify();
    disconnect();
    queryClient.clear();
    document.title = "Lyrebird";
    window.history.replaceState(null, "", "/");
  }
}

/**
 * Why the person could not be signed out; null if they did not ask for it. It lasts until the page is loaded
 * again.
 */
export function useSignOutFailure(): unknown {
  return useSyncExternalStore(subscribe, () => failure);
}

/** Instead of every page. */
export function SignOutFailed({ error }: { error: unknown }) {
  const [isRetrying, setIsRetrying] = useState(false);
  const retry = async () => {
    setIsRetrying(true);
    await signOut();
    setIsRetrying(false);
  };
  return (
    <main className="mx-auto flex min-h-dvh max-w-md flex-col justify-center gap-4 p-6">
      <h1 className="font-semibold text-lg">You are still signed in</h1>
      <p>
        This page shows nothing of yours any more, but your session in this browser goes on until the server
        ends it. Try again before you leave this machine.
      </p>
      <ErrorNote error={error} onRetry={() => void retry()} isRetrying={isRetrying} />
    </main>
  );
}
