// How a venue has fared of late: what is shown to operators. Nothing is decided by it.
import type { VenueHealth } from "../../domain/venue-report.ts";
import type { Attempt } from "./signed-rest.ts";

type Parts = {
  readonly wallNow: () => number;
  readonly pausedUntil: () => number;
  readonly shareUsed: () => number;
  readonly clockOffsetMs: () => number;
};

export class Health {
  readonly #parts: Parts;
  readonly #answers = { ok: 0, refused: 0, limited: 0, unknown: 0 };
  /** Why the last request had no answer. */
  #failure: string | null = null;
  #lastAnswerAt: number | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** What became of a request for which a connection was asked for. */
  count(answer: Attempt): void {
    this.#failure = failureOf(answer);
    const isAnswered = this.#failure === null;
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
      isReachable: this.#failure === null,
      failure: this.#failure,
      lastAnswerAt: this.#lastAnswerAt,
      pausedUntil: pausedUntil(),
      budgetUsed: Math.min(1, shareUsed()),
      clockOffsetMs: clockOffsetMs(),
      answers: { ...this.#answers },
    };
  }
}

/** Null for an answer. */
function failureOf(answer: Attempt): string | null {
  const isMissing = answer.kind === "UNKNOWN" || (answer.kind === "DELAYED" && answer.why === "UNREACHABLE");
  return isMissing ? answer.reason : null;
}
