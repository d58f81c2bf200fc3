// What fills of one contract come to, for expectations, written without a look at the program's own
// arithmetic. Source: specification, section 1 (fees); reference exchange, sections 15.3 and 15.9.
import { ceil, decimalText, floor, least, magnitude, units } from "../support/exact.ts";

export type ContractFill = {
  readonly side: "BUY" | "SELL";
  readonly price: string;
  readonly qty: string;
  readonly maker: boolean;
};

const SCALE = 10n ** 8n;
/** A tick of the contract on which the clients trade. */
const TICK = units("0.1");

/**
 * Every fill's cost, fee and realized profit, and the position after all of them; entry price 0 if there is
 * none.
 */
export function sumsOf(fills: readonly ContractFill[]) {
  let held = 0n;
  let entryValue = 0n;
  const rows = fills.map(({ side, price, qty, maker }) => {
    const size = units(qty);
    const signed = side === "BUY" ? size : -size;
    const reduces = held !== 0n && held > 0n !== signed > 0n;
    const closed = reduces ? least(size, magnitude(held)) : 0n;
    const released = closed === 0n ? 0n : (entryValue * closed) / magnitude(held);
    const value = units(price) * closed;
    const gain = held > 0n ? value - released : released - value;
    held += signed;
    entryValue += units(price) * (size - closed) - released;
    return {
      quoteQty: units(price) * size,
      commission: decimalText(ceil(units(price) * size * (maker ? 2n : 5n), SCALE * 10_000n)),
      realizedPnl: decimalText(floor(gain, SCALE)),
    };
  });
  return { rows, held, entryPrice: held === 0n ? 0n : entryValue / magnitude(held) };
}

/** The reserve of an open entry, in units. */
export function marginOf(price: string, quantity: string, leverage: number): bigint {
  return ceil(units(price) * units(quantity), SCALE * BigInt(leverage));
}

/** A share of a price, on a tick, as bodies of the contract write prices. */
export function percentOf(price: string, percent: bigint): string {
  const exact = (units(price) * percent) / 100n;
  return decimalText(exact - (exact % TICK)).slice(0, -6);
}
