// The kill switches as they are set: whether anything may be sent for a copier, a strategy, to a venue.
import type { KillSwitch, SwitchKind } from "../../domain/copying.ts";

/** COPY: nothing is sent for the copy. VENUE: the venue is not even asked. */
export type Halt = "COPY" | "VENUE";

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

  /** What halts a copy; null if nothing does. */
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
