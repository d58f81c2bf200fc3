// What a lane may send at this moment, if anything: kill switches, rejected credentials, and how the copy stands decide. What was
// held back is remembered: once it may be sent again, the lane is to look at what it missed.
import type { Copy, Skip, SkipReason } from "../../domain/copying.ts";
import { skipOf } from "../scaling/skip.ts";
import type { AccountDoor } from "./account-door.ts";
import type { Halt } from "./switches.ts";
import { ENTRY_AGE_MAX_MS } from "./work.ts";

export class MaySend {
  readonly #door: AccountDoor;
  readonly #copy: () => Copy;
  readonly #haltOf: (of: { readonly personId: string; readonly venue: string }) => Halt | null;
  readonly #wallNow: () => number;
  #isBlocked = false;
  #mayHaveMissed = true;

  constructor(parts: {
    door: AccountDoor;
    /** As it stands. */
    copy: () => Copy;
    /** Why nothing may be sent for a copy to a venue: a kill switch. Null if it may. */
    halted: (of: { readonly personId: string; readonly venue: string }) => Halt | null;
    /** Wall time, Unix ms. */
    wallNow: () => number;
  }) {
    this.#door = parts.door;
    this.#copy = parts.copy;
    this.#haltOf = parts.halted;
    this.#wallNow = parts.wallNow;
  }

  /** Whether a kill switch or rejected credentials have kept something back since `unblock`. */
  get isBlocked(): boolean {
    return this.#isBlocked;
  }

  /** It is tried anew. */
  unblock(): void {
    this.#isBlocked = false;
  }

  /** Something was to be sent and could not be, or a cancel was refused: the next look makes up for it. */
  noteMissed(): void {
    this.#mayHaveMissed = true;
  }

  /** Whether something may have been missed since this was asked before. */
  takeMissed(): boolean {
    const mayHaveMissed = this.#mayHaveMissed;
    this.#mayHaveMissed = false;
    return mayHaveMissed;
  }

  /** Whether anything may be sent at all; not if the account cannot be read either. Never rejects. */
  async isFree(): Promise<boolean> {
    try {
      return (await this.stopped()) === null;
    } catch {
      return false;
    }
  }

  /** Why nothing at all may be sent; null if it may. */
  async stopped(): Promise<Skip | null> {
    return this.stoppedNow((await this.#door.open()).account.venue);
  }

  stoppedNow(venue: string): Skip | null {
    const skip = this.blockedNow(venue) ?? (this.#copy().status === "STOPPED" ? skipOf("PAUSED") : null);
    if (skip !== null) this.#mayHaveMissed = true;
    return skip;
  }

  /** The same, of what is sent for a copy that is stopped too. */
  blockedNow(venue: string): Skip | null {
    const { personId } = this.#copy();
    const isHalted = this.#haltOf({ personId, venue }) !== null;
    if (!isHalted && this.#door.isRejected !== true) return null;
    this.#isBlocked = true;
    return skipOf(isHalted ? "HALTED" : "CREDENTIALS");
  }

  /** Why nothing may be sent that opens something; `at` is when the strategy did it. */
  opensNot(at: number): SkipReason | null {
    if (this.#copy().status !== "FOLLOWING") return "PAUSED";
    return this.#wallNow() - at > ENTRY_AGE_MAX_MS ? "TOO_LATE" : null;
  }

  /** Whether the venue has rejected the credentials. */
  async isRejected(): Promise<boolean> {
    await this.#door.open();
    if (this.#door.isRejected === true) this.#isBlocked = true;
    return this.#door.isRejected === true;
  }

  /** Whether a kill switch is set. */
  async isHalted(): Promise<boolean> {
    const { account } = await this.#door.open();
    return this.blockedNow(account.venue)?.reason === "HALTED";
  }

  /** Whether not even a question may be sent. */
  async isBlind(): Promise<boolean> {
    if (await this.isRejected()) return true;
    const { account } = await this.#door.open();
    const { personId } = this.#copy();
    const isBlind = this.#haltOf({ personId, venue: account.venue }) === "VENUE";
    if (isBlind) this.#isBlocked = true;
    return isBlind;
  }
}
