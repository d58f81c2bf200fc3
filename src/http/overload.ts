// Load shedding (decision 18). Requests are handled in ticks of the event loop. A tick that takes too long
// delays all later ones, so the rest of its requests are refused before anything is read of them: 503, with
// Retry-After. Even a refusal costs time, so the server stops reading from a refused connection until then,
// and refuses the requests that were sent over it in between: a client that does not wait costs little more
// than one that does. These are refused once, without another pause: otherwise a client that always has a
// request in flight would never be handled again.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Requests of a tick that are always handled. */
const TICK_REQUESTS_MIN = 256;
/** Maximum duration of a tick at the start of its next request, ms. */
const TICK_MS_MAX = 50;
/**
 * How long a connection is paused, ms: less than the second of `Retry-After`, by more than a loop is ever
 * late.
 */
const REST_MS = 700;

/** A clock in ms, and a timer. */
type Timing = {
  readonly now: () => number;
  readonly later: (then: () => void, ms: number) => void;
};

const SYSTEM: Timing = {
  now: () => performance.now(),
  later: (then, ms) => void setTimeout(then, ms).unref(),
};

export class Overload {
  readonly #timing: Timing;
  #requests = 0;
  #tickBegan = 0;
  /** Connections that have just been read from again. */
  readonly #rested = new WeakSet<Socket>();

  constructor(timing: Timing = SYSTEM) {
    this.#timing = timing;
  }

  /** Whether the tick is too long for a request that has just been read; call it once for each. */
  isTickTooLong(): boolean {
    if (this.#requests === 0) {
      this.#tickBegan = this.#timing.now();
      setImmediate(() => {
        this.#requests = 0;
      });
    }
    this.#requests += 1;
    return this.#requests > TICK_REQUESTS_MIN && this.#timing.now() - this.#tickBegan > TICK_MS_MAX;
  }

  /** Whether a request that has just been read was sent while nothing was read from its connection. */
  wasSentTooSoon(socket: Socket): boolean {
    return this.#rested.has(socket);
  }

  /**
   * Reads nothing more from the connection of a refusal until its client may come back. The request should
   * have been read whole: what is left of it would start the reading again.
   */
  restAfter(refusal: ServerResponse): void {
    const { socket } = refusal.req;
    // The end of an answer also resumes reading, so the pause begins after it.
    refusal.once("close", () => {
      socket.pause();
      this.#timing.later(() => this.#resume(socket), REST_MS);
    });
  }

  /** Reads what the connection's buffers hold in the next tick. */
  #resume(socket: Socket): void {
    this.#rested.add(socket);
    socket.resume();
    setImmediate(() => setImmediate(() => this.#rested.delete(socket)));
  }
}
