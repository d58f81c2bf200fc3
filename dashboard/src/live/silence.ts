// The browser's own watch on the server: since when no message has come in. A frozen server cannot say that
// it is frozen, so this does not depend on any message. Elapsed time is the longer of two clocks: the
// monotonic one may stop while the machine sleeps, and the wall clock may be set back. A clock that jumps
// ahead costs one second of a false alarm, until the next heartbeat.
import { createListeners } from "../ui/listeners.ts";

/** The server sends a heartbeat every second; after so long without any message what is shown is not live. */
export const SILENT_AFTER_MS = 5_000;
/**
 * A connection that has been silent for so long is replaced; TCP alone notices a lost network after minutes.
 */
const RECONNECT_AFTER_MS = 15_000;
const CHECKED_EVERY_MS = 1_000;

type Clocks = {
  /** ms, from any beginning. */
  readonly monotonicNow: () => number;
  /** Unix ms. */
  readonly wallNow: () => number;
};

/** `reconnect` is called at each check from RECONNECT_AFTER_MS of silence on. */
export function createSilence({ monotonicNow, wallNow, reconnect }: Clocks & { reconnect: () => void }) {
  const { subscribe, notify } = createListeners();
  let heardAt: { readonly monotonic: number; readonly wall: number } | null = null;
  let since: number | null = null;
  let timer: ReturnType<typeof setInterval> | null = null;

  function become(next: number | null): void {
    if (since === next) return;
    since = next;
    notify();
  }

  /** A message has come in; the first call begins the watch. */
  function heard(): void {
    heardAt = { monotonic: monotonicNow(), wall: wallNow() };
    timer ??= setInterval(check, CHECKED_EVERY_MS);
    become(null);
  }

  /** Timers are throttled in a tab that is not visible: to be called as well when it becomes visible. */
  function check(): void {
    if (heardAt === null) return;
    const elapsedMs = Math.max(monotonicNow() - heardAt.monotonic, wallNow() - heardAt.wall);
    if (elapsedMs < SILENT_AFTER_MS) return;
    if (since === null) become(wallNow() - elapsedMs);
    if (elapsedMs >= RECONNECT_AFTER_MS) reconnect();
  }

  return {
    heard,
    check,
    /** Ends the watch. */
    end(): void {
      if (timer !== null) clearInterval(timer);
      timer = null;
      heardAt = null;
      become(null);
    },
    /** When the last message came in, Unix ms, if that is too long ago; null otherwise. */
    since: () => since,
    onChange: subscribe,
  };
}
