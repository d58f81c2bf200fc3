// The mails to a copier about a copy that continues, each at most once in some hours:
//   EXIT_FAILED       the venue has refused a reducing order several times
//   CLOSED_BY_VENUE   the venue has closed a position, or a part of it
//   OFF_TARGET        the copy has held well more than its target for some time
//   BEHIND            an action of the strategy is not dealt with after some time
import type { CopyAlarm, CopyBook, MirrorEntry } from "../../domain/copying.ts";
import { type Amount, add, magnitude, proceedsDown, subtract, ZERO } from "../../money/decimal.ts";
import { targetOf } from "../orders/copy-state.ts";
import type { VenuePrices } from "../sizing/proportion.ts";

/** The same mail is sent again after this, ms. A restart forgets what was sent. */
const SENT_AGAIN_MS = 6 * 3_600_000;
/** Attempts that the venue refuses before the copier gets a mail. */
export const EXIT_ATTEMPTS_TOLD = 3;
/** How long a copy may be behind, or above its target, ms. */
const PATIENCE_MS = 60_000;
/** A copy is above its target if what it has beyond is worth more than its equity divided by this. */
const EXCESS_DIVISOR = 10n;

type AlarmParts = { readonly tell: (alarm: CopyAlarm) => void; readonly now: () => number };

export class Alarms {
  readonly #parts: AlarmParts;
  readonly #toldAt = new Map<CopyAlarm, number>();
  readonly #refusals = new Map<string, number>();
  #excessSince: number | null = null;

  constructor(parts: AlarmParts) {
    this.#parts = parts;
  }

  raise(alarm: CopyAlarm): void {
    const now = this.#parts.now();
    const toldAt = this.#toldAt.get(alarm);
    if (toldAt !== undefined && now - toldAt < SENT_AGAIN_MS) return;
    this.#toldAt.set(alarm, now);
    this.#parts.tell(alarm);
  }

  /** Records the end of an attempt to reduce a symbol, and whether the venue has refused it. */
  noteExit(symbol: string, isRefused: boolean): void {
    const refusals = isRefused ? (this.#refusals.get(symbol) ?? 0) + 1 : 0;
    this.#refusals.set(symbol, refusals);
    if (refusals >= EXIT_ATTEMPTS_TOLD) this.raise("EXIT_FAILED");
  }

  /** Once a second, of a copy that may send: `due` are the rows that are not dealt with. */
  check(book: CopyBook, prices: VenuePrices, due: readonly Pick<MirrorEntry, "leadAt">[]): void {
    const now = this.#parts.now();
    if (due.some(({ leadAt }) => now - leadAt > PATIENCE_MS)) this.raise("BEHIND");
    this.#excessSince = isAboveTarget(book, prices) ? (this.#excessSince ?? now) : null;
    if (this.#excessSince !== null && now - this.#excessSince > PATIENCE_MS) this.raise("OFF_TARGET");
  }
}

/** Whether the excess over the copy's targets is a considerable part of its value, at the venue's prices. */
function isAboveTarget({ holdings, snapshot }: CopyBook, prices: VenuePrices): boolean {
  if (snapshot === null) return false;
  let worth = ZERO as Amount;
  for (const [symbol, holding] of holdings) {
    const excess = subtract(magnitude(holding.quantity), magnitude(targetOf(holding)));
    const price = prices.get(symbol);
    if (price !== undefined && excess > 0n) worth = add(worth, proceedsDown(price, excess));
  }
  return worth * EXCESS_DIVISOR > snapshot.equity;
}
