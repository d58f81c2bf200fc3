// A lane's dealings with the venue: one and the same for as long as the credentials are. With them goes what was sent and is not
// recorded, and by when all of that was sent.
import type { Logger } from "pino";
import type { AccountDoor } from "./account-door.ts";
import { Dealings } from "./dealings.ts";
import type { Pauses } from "./pauses.ts";

/** What was sent without being recorded, and by which credentials. */
export type Sent = { readonly dealings: Dealings | null; readonly unrecorded: number };

type DealingsParts = {
  readonly copyId: string;
  readonly door: AccountDoor;
  readonly pauses: Pauses;
  readonly mayRun: () => boolean;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly journal: Pick<Logger, "warn">;
};

export class DealingsNow {
  readonly #parts: DealingsParts;
  #now: { readonly of: unknown; readonly dealings: Dealings } | null = null;
  #sentBefore: number;

  constructor(parts: DealingsParts, takenAt: number) {
    this.#parts = parts;
    this.#sentBefore = takenAt;
  }

  /** By the credentials of now. Throws as opening the account does. */
  async open(): Promise<Dealings> {
    const { copyId, door, pauses, mayRun, wallNow, journal } = this.#parts;
    const { venue, client, looker } = await door.open();
    if (this.#now?.of !== client) {
      const dealings = new Dealings({
        venue,
        client,
        looker,
        sentBefore: () => this.#sentBefore,
        mayRun,
        wallNow,
        pause: (ms) => pauses.pause(ms),
        onStuck: (reason) =>
          journal.warn({ copyId, reason }, "a venue does not say what became of a request"),
      });
      this.#now = { of: client, dealings };
    }
    return this.#now.dealings;
  }

  get sent(): Sent {
    const { dealings = null } = this.#now ?? {};
    return { dealings, unrecorded: dealings?.unrecorded ?? 0 };
  }

  /** Whether anything was sent since that is not recorded; from now on nothing of it is sent any more without having been asked about. */
  hasSentSince(before: Sent): boolean {
    const { dealings, unrecorded } = this.sent;
    if (unrecorded === (dealings === before.dealings ? before.unrecorded : 0)) return false;
    this.#sentBefore = this.#parts.wallNow();
    return true;
  }
}
