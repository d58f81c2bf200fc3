// The server's time, from this machine's clock and the difference between both: the server takes a timestamp
// that is within 30 seconds of its own. The difference is measured before the first handshake of a stream,
// and whenever the server has refused a timestamp; until then this machine's clock is trusted.

import type { Environment } from "./environment.ts";
import { fetchText } from "./fetch-text.ts";

export class ServerClock {
  readonly #url: string;
  readonly #environment: Environment;
  #offsetMs = 0;
  #isMeasured = false;
  #measuring: Promise<void> | null = null;

  /** `origin` is the server's. */
  constructor(origin: string, environment: Environment) {
    this.#url = `${origin}/api/v3/time`;
    this.#environment = environment;
  }

  /** Server time by the last measurement, Unix ms. */
  now(): number {
    return Math.round(this.#environment.now() + this.#offsetMs);
  }

  /** The server has refused a timestamp: the difference is measured again before the next handshake. */
  distrust(): void {
    this.#isMeasured = false;
  }

  /** Measures unless that was done before. */
  async ensureMeasured(closing: AbortSignal): Promise<void> {
    if (!this.#isMeasured) await this.measure(closing);
  }

  /** Asks the server for its time. Does not reject: if there is no answer, what was known before is kept. */
  measure(closing: AbortSignal): Promise<void> {
    this.#measuring ??= this.#ask(closing).finally(() => {
      this.#measuring = null;
    });
    return this.#measuring;
  }

  async #ask(closing: AbortSignal): Promise<void> {
    const { now } = this.#environment;
    try {
      const askedAt = now();
      const { status, text } = await fetchText(
        this.#environment,
        this.#url,
        { method: "GET", headers: {} },
        closing,
      );
      const answeredAt = now();
      if (status !== 200) return;
      const { serverTime }: { serverTime?: unknown } = JSON.parse(text);
      if (typeof serverTime !== "number") return;
      this.#offsetMs = serverTime - (askedAt + answeredAt) / 2;
      this.#isMeasured = true;
    } catch {
      // The request that wanted to know will find out for itself whether the server is there.
    }
  }
}
