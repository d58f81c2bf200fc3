// The requests that have been accepted and not answered yet: a server that closes lets them be answered first.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** A server that closes waits this long for the answers it owes, ms. */
const LAST_ANSWERS_MS_MAX = 3_000;

export class UnderWay {
  readonly #sockets = new Map<ServerResponse, Socket | null>();
  #whenNone: PromiseWithResolvers<void> | null = null;

  add(response: ServerResponse): void {
    this.#sockets.set(response, response.socket);
    response.once("close", () => {
      this.#sockets.delete(response);
      if (this.#sockets.size === 0) this.#whenNone?.resolve();
    });
  }

  /** Whether a request that came over the socket is still to be answered. */
  isOn(socket: Socket): boolean {
    return this.#sockets.values().some((each) => each === socket);
  }

  /** Resolves when all are answered, or when waiting for them has taken too long. */
  async none(): Promise<void> {
    if (this.#sockets.size === 0) return;
    this.#whenNone ??= Promise.withResolvers();
    const timer = setTimeout(this.#whenNone.resolve, LAST_ANSWERS_MS_MAX);
    await this.#whenNone.promise;
    clearTimeout(timer);
  }
}
