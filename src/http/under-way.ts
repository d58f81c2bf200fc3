// The requests that have been accepted and not answered yet: a server that closes lets them be answered first.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** A server that closes waits this long for the answers it owes, ms. */
const LAST_ANSWERS_MS_MAX = 3_000;

export class UnderWay {
  /** How many answers are owed on each connection. A map of requests would change with each, which costs memory. */
  readonly #owed = new WeakMap<Socket, { count: number }>();
  #count = 0;
  #whenNone: PromiseWithResolvers<void> | null = null;

  add(response: ServerResponse): void {
    const owed = this.#owedOn(response.req.socket);
    owed.count += 1;
    this.#count += 1;
    response.once("close", () => {
      owed.count -= 1;
      this.#count -= 1;
      if (this.#count === 0) this.#whenNone?.resolve();
    });
  }

  /** Whether a request that came over the socket is still to be answered. */
  isOn(socket: Socket): boolean {
    return this.#owedOn(socket).count > 0;
  }

  /** Resolves when all are answered, or when waiting for them has taken too long. */
  async none(): Promise<void> {
    if (this.#count === 0) return;
    this.#whenNone ??= Promise.withResolvers();
    const timer = setTimeout(this.#whenNone.resolve, LAST_ANSWERS_MS_MAX);
    await this.#whenNone.promise;
    clearTimeout(timer);
  }

  #owedOn(socket: Socket): { count: number } {
    const known = this.#owed.get(socket);
    if (known !== undefined) return known;
    const owed = { count: 0 };
    this.#owed.set(socket, owed);
    return owed;
  }
}
