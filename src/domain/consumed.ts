// What a strategy of the profile `strict` took of the displayed book: the same display cannot fill it again
// until the time to refresh has passed.
import { add, type Price, type Quantity } from "../money/decimal.ts";
import type { BookSide } from "./receipt.ts";

/** One fill against displayed quantity. `at` is market time, Unix ms. */
export type ConsumedLot = {
  readonly side: BookSide;
  readonly price: Price;
  readonly quantity: Quantity;
  readonly at: number;
};

/** Beyond it lots of one price are merged. */
const LOTS_PER_SYMBOL_MAX = 64;

/** The lots that still count after another one was added, oldest first. */
export function withLot(
  lots: readonly ConsumedLot[],
  lot: ConsumedLot,
  refreshMs: number,
): readonly ConsumedLot[] {
  const present = [...lots, lot].filter(({ at }) => lot.at - at < refreshMs);
  while (present.length > LOTS_PER_SYMBOL_MAX && mergeOldest(present));
  return present;
}

/**
 * Merges the oldest lot that has another one at its price with that one, under the later time: they count for
 * more then, never for less. Lots of different prices are never merged, and none is dropped; false if there
 * is nothing to merge.
 */
function mergeOldest(lots: ConsumedLot[]): boolean {
  for (let index = 0; index < lots.length; index += 1) {
    const old = lots[index];
    if (old === undefined) continue;
    const other = lots.findIndex(
      ({ side, price }, at) => at > index && side === old.side && price === old.price,
    );
    const twin = lots[other];
    if (twin === undefined) continue;
    lots[other] = { ...twin, quantity: add(twin.quantity, old.quantity) };
    lots.splice(index, 1);
    return true;
  }
  return false;
}
