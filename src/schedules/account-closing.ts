// Finishes the closing of accounts: closes their strategies through the desk, and disconnects their exchange
// accounts once the orders of their copies are withdrawn. Reads the store each time, so that it continues
// after a restart. A server does it for the people in its slots; every step is idempotent.
import type { Logger } from "pino";
import { PeriodicTask } from "../concurrency/periodic-task.ts";
import type { Timers } from "../concurrency/time.ts";
import type { Desk } from "../desk/desk.ts";
import type { Store } from "../store/store.ts";

/** Interval between two passes over the accounts that are still closing, ms. */
const INTERVAL_MS = 2_000;
/**
 * How long an exchange that does not answer is waited for before its credentials are destroyed all the same,
 * ms.
 */
export const WITHDRAWAL_MS_MAX = 3_600_000;

type ClosingStore = {
  readonly people: Pick<Store["people"], "listClosingPeople" | "endClosing" | "listStrategiesOf">;
  readonly copying: Pick<Store["copying"], "isWithdrawing" | "listAccountsOf" | "disconnectAccount">;
};

type Parts = {
  readonly desk: Pick<Desk, "execute">;
  readonly store: ClosingStore;
  /** Whether a person is in a slot of this server. */
  readonly owns: (personId: string) => boolean;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly every: Timers["every"];
  readonly log: Pick<Logger, "error">;
};

export function createAccountClosing(parts: Parts): PeriodicTask {
  const { people } = parts.store;
  const onError = (error: unknown) =>
    parts.log.error(
      { err: error },
      "what belongs to a closed account could not be closed; it is tried again",
    );
  const closing: PeriodicTask = new PeriodicTask({
    every: parts.every,
    intervalMs: INTERVAL_MS,
    async task() {
      for (const person of await people.listClosingPeople()) {
        if (closing.isClosed || !parts.owns(person.personId)) continue;
        // The others do not wait for one that fails.
        try {
          if (await finish(parts, person)) await people.endClosing(person.personId);
        } catch (error) {
          onError(error);
        }
      }
    },
    onError,
  });
  return closing;
}

type ClosingPerson = { readonly personId: string; readonly closedAt: number };

/** Whether nothing is left to be closed. */
async function finish(parts: Parts, person: ClosingPerson): Promise<boolean> {
  const { desk, store } = parts;
  // First, since credentials must go although a strategy cannot be closed.
  const disconnected = await disconnect(parts, person);
  const strategies = await store.people.listStrategiesOf(person.personId);
  const live = strategies.filter(({ status }) => status === "LIVE");
  for (const { strategyId } of live) await desk.execute(strategyId, { type: "CloseStrategy" });
  return live.length === 0 && disconnected;
}

async function disconnect(
  { store, wallNow }: Parts,
  { personId, closedAt }: ClosingPerson,
): Promise<boolean> {
  const { copying } = store;
  const accounts = await copying.listAccountsOf(personId);
  const connected = accounts.filter(({ status }) => status !== "DISCONNECTED");
  if (connected.length === 0) return true;
  const at = wallNow();
  // Also of copies that were stopped before: what they have sent may still be open.
  if (at < closedAt + WITHDRAWAL_MS_MAX && (await copying.isWithdrawing(personId))) return false;
  for (const { accountId } of connected) {
    const about = { kind: "VENUE_ACCOUNT", id: accountId } as const;
    await copying.disconnectAccount(
      { accountId, personId, at },
      { who: { kind: "SERVICE" }, what: "VENUE_ACCOUNT_DISCONNECTED", about, at, details: {} },
    );
  }
  return true;
}
