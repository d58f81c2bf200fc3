// How a venue has fared of late: what is shown to operators and copiers. Nothing is decided by it.
import type { Attempt } from "./signed-rest.ts";
import type { VenueHealth } from "./venue.ts";

type Parts = {
  readonly wallNow: () => number;
  readonly pausedUntil: () => number;
  readonly shareUsed: () => number;
  readonly clockOffsetMs: () => number;
};

export class Health {
  readonly #parts: Parts;
  readonly #answers = { ok: 0, refused: 0, limited: 0, unknown: 0 };
  #isReachable = true;
  #lastAnswerAt: number | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** What became of a request for which a connection was asked for. */
  count(answer: Attempt): void {
    const isAnswered =
      answer.kind !== "UNKNOWN" && !(answer.kind === "DELAYED" && answer.why === "UNREACHABLE");
    this.#isReachable = isAnswered;
    if (isAnswered) this.#lastAnswerAt = this.#parts.wallNow();
    switch (answer.kind) {
      case "OK":
        this.#answers.ok += 1;
        break;
      case "REFUSED":
      case "REJECTED":
      case "TIMESTAMP":
        this.#answers.refused += 1;
        break;
      case "DELAYED":
        if (isAnswered) this.#answers.limited += 1;
        break;
      case "UNKNOWN":
        this.#answers.unknown += 1;
        break;
    }
  }

  now(): VenueHealth {
    const { pausedUntil, shareUsed, clockOffsetMs } = this.#parts;
    return {
      isReachable: this.#isReachable,
      lastAnswerAt: this.#lastAnswerAt,
      pausedUntil: pausedUntil(),
      budgetUsed: Math.min(1, shareUsed()),
      clockOffsetMs: clockOffsetMs(),
      answers: { ...this.#answers },
    };
  }
}
