// Finishes the closing of accounts: closes their strategies through the desk, and disconnects their exchange accounts once the
// orders of their copies are withdrawn. Reads the store each time, so that it continues after a restart. Several servers may do
// the same work: every step is idempotent.
import type { Logger } from "pino";
import type { Desk } from "../desk/desk.ts";
import type { Store } from "../store/store.ts";

/** Interval between two passes over the accounts that are still closing, ms. */
const INTERVAL_MS = 2_000;
/** How long an exchange that does not answer is waited for before its credentials are destroyed all the same, ms. */
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

export class AccountClosing {
  readonly #desk: Pick<Desk, "execute">;
  readonly #store: ClosingStore;
  readonly #wallNow: () => number;
  readonly #log: Pick<Logger, "error">;
  readonly #stop: () => void;
  #underWay: Promise<void> | null = null;
  #isClosed = false;

  constructor(parts: {
    desk: Pick<Desk, "execute">;
    store: ClosingStore;
    /** Wall time, Unix ms. */
    wallNow: () => number;
    every: (intervalMs: number, callback: () => void) => () => void;
    log: Pick<Logger, "error">;
  }) {
    this.#desk = parts.desk;
    this.#store = parts.store;
    this.#wallNow = parts.wallNow;
    this.#log = parts.log;
    this.#stop = parts.every(INTERVAL_MS, () => void this.sweep());
  }

  /** Looks once at all of them, unless that is still under way. Never rejects. */
  async sweep(): Promise<void> {
    if (this.#isClosed) return;
    this.#underWay ??= this.#sweep().finally(() => {
      this.#underWay = null;
    });
    await this.#underWay;
  }

  /** Begins nothing any more, and resolves when what is under way is done. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    await this.#underWay;
  }

  async #sweep(): Promise<void> {
    try {
      for (const closing of await this.#store.people.listClosingPeople()) {
        if (!this.#isClosed && (await this.#finish(closing))) {
          await this.#store.people.endClosing(closing.personId);
        }
      }
    } catch (error) {
      this.#log.error(
        { err: error },
        "what belongs to a closed account could not be closed; it is tried again",
      );
    }
  }

  /** Whether nothing is left to be closed. */
  async #finish(closing: { readonly personId: string; readonly closedAt: number }): Promise<boolean> {
    const strategies = await this.#store.people.listStrategiesOf(closing.personId);
    const live = strategies.filter(({ status }) => status === "LIVE");
    for (const { strategyId } of live) await this.#desk.execute(strategyId, { type: "CloseStrategy" });
    const disconnected = await this.#disconnect(closing);
    return live.length === 0 && disconnected;
  }

  async #disconnect({ personId, closedAt }: { personId: string; closedAt: number }): Promise<boolean> {
    const { copying } = this.#store;
    const accounts = await copying.listAccountsOf(personId);
    const connected = accounts.filter(({ status }) => status !== "DISCONNECTED");
    if (connected.length === 0) return true;
    const at = this.#wallNow();
    if (at < closedAt + WITHDRAWAL_MS_MAX && (await this.#isWithdrawing(personId, closedAt))) return false;
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
  async #isWithdrawing(personId: string, since: number): Promise<boolean> {
    const { copying } = this.#store;
    for (const { copyId, endedAt } of await copying.listCopiesOf(personId)) {
      if ((endedAt ?? since) < since) continue;
      const requests = await copying.listRequests(copyId, REQUESTS_LISTED);
      if (requests.some(({ kind, doneAt }) => kind === "WITHDRAW" && doneAt === null)) return true;
    }
    return false;
  }
}
