// How many connections an address may have open at once, so that one address cannot take the places of all others. An IPv6
// /64 is one address (`holder.ts`). Counted in the memory of this process.
import { addressHolder } from "./holder.ts";

/** TCP connections of one address, those of streams among them. Many bots behind one NAT share an address. */
export const CONNECTIONS_PER_ADDRESS_DEFAULT = 2_000;
/** WebSocket connections of one address, to bots' streams and the dashboard together. */
export const STREAMS_PER_ADDRESS_DEFAULT = 1_000;

/** Whether a connection was admitted: then `leave` must be called once, when it has closed. */
export type Admission =
  | { readonly isAdmitted: true; readonly leave: () => void }
  | { readonly isAdmitted: false; readonly isFirst: boolean };

type Held = { count: number; hasRefused: boolean };

export class ConnectionBound {
  readonly #most: number;
  readonly #held = new Map<string, Held>();
  #refusedCount = 0;

  /** `most` connections of one address at once. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Connections that were refused since the start. */
  get refusedCount(): number {
    return this.#refusedCount;
  }

  /**
   * Counts a connection of an address. If it is one too many it is not counted, and `isFirst` says whether it is the first that
   * was refused since the address last had none open: what is logged once must not be logged for each.
   */
  admit(address: string): Admission {
    const holder = addressHolder(address);
    const held = this.#held.get(holder) ?? { count: 0, hasRefused: false };
    if (held.count >= this.#most) {
      this.#refusedCount += 1;
      const isFirst = !held.hasRefused;
      held.hasRefused = true;
      return { isAdmitted: false, isFirst };
    }
    held.count += 1;
    this.#held.set(holder, held);
    return {
      isAdmitted: true,
      leave: () => {
        held.count -= 1;
        if (held.count === 0) this.#held.delete(holder);
      },
    };
  }
}
