// A bot that holds a contract, and independent arithmetic for the start of its position, the effect of
// funding, and its end. Amounts are in units of 1e-8.
import { expect } from "vitest";
import type { SeededStrategy } from "../../src/keys/seed.ts";
import { ceil, signedUnits } from "../support/exact.ts";
import type { Life } from "./fixture.ts";
import { fundingOf, type TableSettlement, UNITS } from "./history.ts";
import { SYMBOL } from "./recorded.ts";

const TAKER_FEE = signedUnits("0.0005");
/** Of the contract's first bracket. */
const MAINTENANCE = signedUnits("0.004");

/** A strategy that holds a signed quantity, and what its position began with. */
export type Holder = {
  readonly strategy: SeededStrategy;
  readonly quantity: string;
  readonly entryPrice: bigint;
  readonly wallet: bigint;
};

/** Buys a quantity at the market, or sells what is negative. */
export async function trade(life: Life, strategy: SeededStrategy, quantity: string) {
  return await life.call(strategy, "POST", "/fapi/v1/order", {
    symbol: SYMBOL,
    side: isLong({ quantity }) ? "BUY" : "SELL",
    type: "MARKET",
    quantity: quantity.replace("-", ""),
    newOrderRespType: "RESULT",
  });
}

/** Opens a position; its wallet has to be the margin and the open loss, less the fee. */
export async function hold(
  life: Life,
  strategy: SeededStrategy,
  quantity: string,
  leverage: bigint,
): Promise<Holder> {
  await setLeverage(life, strategy, leverage);
  const { avgPrice } = await trade(life, strategy, quantity);
  const risk = await riskOf(life, strategy);
  const price = signedUnits(avgPrice);
  const mark = signedUnits(risk.markPrice);
  const size = sizeOf({ quantity });
  const adverse = isLong({ quantity }) ? price - mark : mark - price;
  const loss = adverse > 0n ? ceil(adverse * size, UNITS) : 0n;
  const fee = ceil(price * size * TAKER_FEE, UNITS * UNITS);
  const wallet = ceil(price * size, UNITS * leverage) + loss - fee;
  expect(signedUnits(risk.isolatedWallet)).toBe(wallet);
  return { strategy, quantity, entryPrice: price, wallet };
}

export async function setLeverage(life: Life, strategy: SeededStrategy, leverage: bigint): Promise<void> {
  await life.call(strategy, "POST", "/fapi/v1/leverage", { symbol: SYMBOL, leverage: `${leverage}` });
}

/** The position's wallet after settlements that it was held at. */
export function walletAfter({ wallet, quantity }: Holder, settlements: readonly TableSettlement[]): bigint {
  return settlements.reduce((sum, each) => sum + fundingOf(quantity, each), wallet);
}

/**
 * Where the position ends with so much in its wallet: where nothing but the maintenance margin is left of it.
 */
export function liquidationPriceOf(holder: Holder, wallet: bigint): bigint {
  const size = sizeOf(holder);
  const value = holder.entryPrice * size;
  return isLong(holder)
    ? ((value - wallet * UNITS) * UNITS) / (size * (UNITS - MAINTENANCE))
    : ceil((value + wallet * UNITS) * UNITS, size * (UNITS + MAINTENANCE));
}

/** The price at which nothing at all is left of it; rounded against the holder. */
export function bankruptcyPriceOf(holder: Holder, wallet: bigint): bigint {
  const size = sizeOf(holder);
  const value = holder.entryPrice * size;
  return isLong(holder) ? ceil(value - wallet * UNITS, size) : (value + wallet * UNITS) / size;
}

export function isLong({ quantity }: Pick<Holder, "quantity">): boolean {
  return !quantity.startsWith("-");
}

function sizeOf({ quantity }: Pick<Holder, "quantity">): bigint {
  return signedUnits(quantity.replace("-", ""));
}

/** The row of a position, also of one that is not there. */
export async function riskOf(life: Life, strategy: SeededStrategy) {
  const [risk] = await life.call(strategy, "GET", "/fapi/v2/positionRisk", { symbol: SYMBOL });
  return risk;
}

type Paid = readonly [time: number, amount: string];

/** What funding has moved since a time, Unix ms, in the order of time. */
export async function fundingPaid(
  life: Life,
  strategy: SeededStrategy,
  from: number,
): Promise<readonly Paid[]> {
  const query = { incomeType: "FUNDING_FEE", startTime: `${from}`, limit: "1000" };
  const rows = await life.call(strategy, "GET", "/fapi/v1/income", query);
  return rows.map(({ time, income }: { time: number; income: string }) => [time, income] as const);
}
