// Limits the open connections per address, so that one address cannot use up the places of all others. An
// IPv6 /64 is one address (`holder.ts`). The counts are in this process's memory.
import { addressHolder } from "./holder.ts";

/** TCP connections of one address, those of streams among them. Many bots behind one NAT share an address. */
export const CONNECTIONS_PER_ADDRESS_DEFAULT = 2_000;
/** WebSocket connections of one address, to bots' streams and the dashboard together. */
export const STREAMS_PER_ADDRESS_DEFAULT = 1_000;
/** Attempts of one address, in five minutes, to connect to the exchange's sockets. */
export const STREAM_ATTEMPTS_PER_ADDRESS_DEFAULT = 300;

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
   * Counts a connection of an address. A connection beyond the limit is not counted; `isFirst` then says
   * whether it is the first refusal since the address last had none open, so that only that one is logged.
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
