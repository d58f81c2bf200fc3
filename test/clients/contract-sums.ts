// Expected sums of the fills of one contract, written independently of the program's own arithmetic. Source:
// specification, section 1 (fees); reference exchange, sections 15.3 and 15.9.
import { decimalText, units } from "../support/exact.ts";

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
 * Every fill's cost, fee and realised profit, and the position after all of them; entry price 0 if there is
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

/** The same as `units`, of what may be negative. */
export function signedUnits(text: string): bigint {
  return text.startsWith("-") ? -units(text.slice(1)) : units(text);
}

function ceil(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}

function floor(value: bigint, by: bigint): bigint {
  return value >= 0n ? value / by : -ceil(-value, by);
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
