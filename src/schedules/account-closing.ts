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
/** More than one request of a kind is never pending; done ones are not of interest. */
const REQUESTS_LISTED = 10;

type ClosingStore = {
  readonly people: Pick<Store["people"], "listClosingPeople" | "endClosing" | "listStrategiesOf">;
  readonly copying: Pick<
    Store["copying"],
    "listCopiesOf" | "listRequests" | "listAccountsOf" | "disconnectAccount"
  >;
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
  const closing: PeriodicTask = new PeriodicTask({
    every: parts.every,
    intervalMs: INTERVAL_MS,
    async task() {
      for (const person of await people.listClosingPeople()) {
        if (closing.isClosed || !parts.owns(person.personId)) continue;
        if (await finish(parts, person)) await people.endClosing(person.personId);
      }
    },
    onError: (error) =>
      parts.log.error(
        { err: error },
        "what belongs to a closed account could not be closed; it is tried again",
      ),
  });
  return closing;
}

type ClosingPerson = { readonly personId: string; readonly closedAt: number };

/** Whether nothing is left to be closed. */
async function finish(parts: Parts, person: ClosingPerson): Promise<boolean> {
  const { desk, store } = parts;
  const strategies = await store.people.listStrategiesOf(person.personId);
  const live = strategies.filter(({ status }) => status === "LIVE");
  for (const { strategyId } of live) await desk.execute(strategyId, { type: "CloseStrategy" });
  const disconnected = await disconnect(parts, person);
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
  if (at < closedAt + WITHDRAWAL_MS_MAX && (await isWithdrawing(copying, personId, closedAt))) return false;
  for (const { accountId } of connected) {
    const about = { kind: "VENUE_ACCOUNT", id: accountId } as const;
    await copying.disconnectAccount(
      { accountId, personId, at },
      { who: { kind: "SERVICE" }, what: "VENUE_ACCOUNT_DISCONNECTED", about, at, details: {} },
    );
  }
  return true;
}

/** Whether orders of the person's copies may still be open because of a request that is not done. */
async function isWithdrawing(
  copying: ClosingStore["copying"],
  personId: string,
  since: number,
): Promise<boolean> {
  for (const { copyId, endedAt } of await copying.listCopiesOf(personId)) {
    if ((endedAt ?? since) < since) continue;
    const requests = await copying.listRequests(copyId, REQUESTS_LISTED);
    if (requests.some(({ kind, doneAt }) => kind === "WITHDRAW" && doneAt === null)) return true;
  }
  return false;
}
