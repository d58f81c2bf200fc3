// What is refused when more comes in than can be carried out. Everything that has arrived is handled in turns of the event
// loop; a turn that has lasted too long keeps all later ones waiting, so the rest of it is refused, before anything is
// looked at: 503, and come back later.
//
// Even that costs time. So the connection of who was refused is not read from until then, and what was sent over it
// meanwhile is refused as well: a client that does not wait costs no more than one that does.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Requests of a turn that are handled in any case. */
const TURN_REQUESTS_MIN = 256;
/** How long a turn may have lasted when the next of its requests is handled, ms. */
const TURN_MS_MAX = 50;
/** How long a connection rests, ms: less than the second that `Retry-After` says by more than a loop is ever late. */
const REST_MS = 700;

/** A clock in ms of its own, and a time later than now by so many. */
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
  #turnBegan = 0;
  /** Connections that have just been read from again. */
  readonly #rested = new WeakSet<Socket>();

  constructor(timing: Timing = SYSTEM) {
    this.#timing = timing;
  }

  /** Whether a request that has just been read is to be refused; to be asked once for each. */
  refuses(socket: Socket): boolean {
    return this.#isTurnTooLong() || this.#rested.has(socket);
  }

  /**
   * Reads nothing more from the connection of a refusal until its client may come back. The request should have been read
   * whole: what is left of it would start the reading again.
   */
  restAfter(refusal: ServerResponse): void {
    const { socket } = refusal.req;
    // The end of an answer starts reading again too: the rest begins behind it.
    refusal.once("close", () => {
      socket.pause();
      this.#timing.later(() => this.#resume(socket), REST_MS);
    });
  }

  #isTurnTooLong(): boolean {
    if (this.#requests === 0) {
      this.#turnBegan = this.#timing.now();
      setImmediate(() => {
        this.#requests = 0;
      });
    }
    this.#requests += 1;
    return this.#requests > TURN_REQUESTS_MIN && this.#timing.now() - this.#turnBegan > TURN_MS_MAX;
  }

  /** What the connection's buffers hold is read in the next turn. */
  #resume(socket: Socket): void {
    this.#rested.add(socket);
    socket.resume();
    setImmediate(() => setImmediate(() => this.#rested.delete(socket)));
  }
}
