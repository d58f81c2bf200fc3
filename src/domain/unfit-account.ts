// Why an account at a venue is not copied to although its key is accepted, as texts that follow "the key".
// They are stored with the account and distinguish it from one whose key is rejected: with this one an
// existing copy can still close.
import type { VenueAccount } from "./copying.ts";

export const UNFIT = {
  withdraws:
    "may withdraw money: make a key that may only read and trade, so that nobody can take anything away with it",
  tradesNot: "may not trade: allow it at the exchange, for spot or futures as you chose",
  hasTwoSides:
    "is of an account in hedge mode, whose positions have two sides: set it to one-way mode at the exchange",
} as const;
const WORDS: readonly string[] = Object.values(UNFIT);

/** Whether it is FAILED for what its key may do, or how it is set, while the key itself is accepted. */
export function isOnlyUnfit({ status, failure }: Pick<VenueAccount, "status" | "failure">): boolean {
  return status === "FAILED" && failure !== null && WORDS.includes(failure);
}
