// Decides what a copy may send at this moment, by kill switches, rejected credentials and its status; a
// shutdown ends its waiting.
import type { Copy, KillSwitch, Skip, SkipReason, SwitchKind } from "../../domain/copying.ts";
import { skipOf } from "../sizing/skip.ts";
import type { VenueSession } from "./venue-session.ts";

/** An opening that could not be sent within this time of the strategy's commit is skipped, ms. */
export const ENTRY_AGE_MAX_MS = 60_000;

type GateParts = {
  readonly session: VenueSession;
  /** As it is now. */
  readonly copy: () => Copy;
  /** Why nothing may be sent for a copy to a venue: a kill switch. Null if it may. */
  readonly halted: (of: { readonly personId: string; readonly venue: string }) => Halt | null;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
};

/**
 * Decides what a copy may send at this moment, by kill switches, rejected credentials and the copy's status.
 */
export class Gate {
  readonly #parts: GateParts;

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  /** Opens the session, which the gate has to know the venue of. Throws as that does. */
  async ready(): Promise<void> {
    await this.#parts.session.open();
  }

  /** Why nothing at all may be sent; null if it may. */
  stopped(): Skip | null {
    return this.blocked() ?? (this.#parts.copy().status === "STOPPED" ? skipOf("PAUSED") : null);
  }

  /** The same, of what is sent for a copy that is stopped too: kill switches and credentials. */
  blocked(): Skip | null {
    if (this.#halt() !== null) return skipOf("HALTED");
    return this.#parts.session.isRejected === true ? skipOf("CREDENTIALS") : null;
  }

  /** Why nothing may be sent that opens something, given when the strategy did it; null if it may. */
  opensNot(at: number): SkipReason | null {
    if (this.#parts.copy().status !== "FOLLOWING") return "PAUSED";
    return this.#parts.wallNow() - at > ENTRY_AGE_MAX_MS ? "TOO_LATE" : null;
  }

  /** Whether not even a question may be sent. */
  isBlind(): boolean {
    return this.#parts.session.isRejected === true || this.#halt() === "VENUE";
  }

  #halt(): Halt | null {
    const { session, halted, copy } = this.#parts;
    const venue = session.opened?.account.venue;
    return venue === undefined ? null : halted({ personId: copy().personId, venue });
  }
}

/** COPY: nothing is sent for the copy. VENUE: the venue is not even queried. */
export type Halt = "COPY" | "VENUE";

/** The kill switches as they are set: whether anything may be sent for a copier, a strategy, to a venue. */
export class Switches {
  readonly #isAllowed: (origin: string) => boolean;
  #set = new Set<string>();

  /** `isAllowed`: whether the operator allows a venue; any other is halted. */
  constructor(isAllowed: (origin: string) => boolean) {
    this.#isAllowed = isAllowed;
  }

  replace(switches: readonly KillSwitch[]): void {
    this.#set = new Set(switches.map(({ kind, id }) => nameOf(kind, id)));
  }

  /** The kill switch that halts a copy; null if none does. */
  halted(of: {
    readonly strategyId: string;
    readonly personId: string;
    readonly venue: string;
  }): Halt | null {
    if (!this.#isAllowed(of.venue) || this.#set.has(nameOf("VENUE", of.venue))) return "VENUE";
    const isHalted =
      this.#set.has(nameOf("COPIER", of.personId)) || this.#set.has(nameOf("STRATEGY", of.strategyId));
    return isHalted ? "COPY" : null;
  }
}

function nameOf(kind: SwitchKind, id: string): string {
  return `${kind} ${id}`;
}
