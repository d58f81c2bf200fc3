// What is refused when more comes in than can be carried out. Everything that has arrived is handled in turns of the event
// loop; a turn that has lasted too long keeps all later ones waiting, so the rest of it is refused, which is cheap: 503, and
// come back later. The connection of who was refused is not read from until then, so that a client that does not wait costs
// no more than one that does.
import type { Socket } from "node:net";

/** Requests of a turn that are handled in any case. */
const TURN_REQUESTS_MIN = 256;
/** How long a turn may have lasted when the next of its requests is handled, ms. */
const TURN_MS_MAX = 50;

/** When the client may come back, s. */
export const OVERLOAD_RETRY_AFTER_SECONDS = 1;

export class Overload {
  #requests = 0;
  #turnBegan = 0;

  /** Whether the present turn has lasted too long; to be asked once for every request. */
  isOver(): boolean {
    if (this.#requests === 0) {
      this.#turnBegan = performance.now();
      setImmediate(() => {
        this.#requests = 0;
      });
    }
    this.#requests += 1;
    return this.#requests > TURN_REQUESTS_MIN && performance.now() - this.#turnBegan > TURN_MS_MAX;
  }

  /** Reads nothing more from a connection until its client may come back. */
  rest(socket: Socket): void {
    socket.pause();
    setTimeout(() => socket.resume(), OVERLOAD_RETRY_AFTER_SECONDS * 1_000).unref();
  }
}
