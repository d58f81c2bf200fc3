// What a strategy is worth now, in the asset that it was seeded with, at the last known prices: those that
// reports end with. What was never priced while this server runs is taken at the strategy's own last trade,
// and so is what a closed strategy still holds; what it never traded either is left out.
import type { Account } from "../domain/account.ts";
import { profitAt } from "../engine/futures/margin.ts";
import { seedOf } from "../engine/open-strategy.ts";
import { type Amount, add, inverseDown, proceedsDown, type Quantity, subtract } from "../money/decimal.ts";
import { ownedOf } from "../money/posting.ts";
import type { TradingStore } from "../store/ports/trading.ts";
import type { KnownPrice, LastPrices } from "./last-prices.ts";

type Parts = { readonly prices: LastPrices; readonly store: Pick<TradingStore, "listTrades"> };

export async function valuationOf(account: Account, parts: Parts) {
  const { asset, amount: seed } = seedOf(account.type);
  const own = ownedOf(account.balances, asset);
  const { worth, times } =
    account.type === "SPOT" ? await worthOfHoldings(account, parts) : worthOfPositions(account, parts);
  const equity = add(own, worth);
  /** When the oldest of the prices was heard, market time in Unix ms; null if no price was needed. */
  const pricedAt = times.length === 0 ? null : Math.min(...times);
  return { equity, seed, profit: subtract(equity, seed), pricedAt };
}

/**
 * The price that an asset of a spot strategy is valued at in its quote asset, where they trade the other way
 * round by the price of that pair (USDTTRY for TRY); null if there is none.
 */
export async function priceOfAsset(
  account: Pick<Account, "strategyId" | "type" | "status">,
  asset: string,
  parts: Parts,
): Promise<KnownPrice | null> {
  const { asset: quoteAsset } = seedOf(account.type);
  const known = await priceOfPair(account, `${asset}${quoteAsset}`, parts);
  if (known !== null) return known;
  const inverse = await priceOfPair(account, `${quoteAsset}${asset}`, parts);
  return inverse && { price: inverseDown(inverse.price), at: inverse.at };
}

async function priceOfPair(
  { strategyId, status }: Pick<Account, "strategyId" | "status">,
  symbol: string,
  { prices, store }: Parts,
): Promise<KnownPrice | null> {
  const known = status === "CLOSED" ? null : prices.of("SPOT", symbol);
  if (known !== null) return known;
  const [last] = await store.listTrades(strategyId, { symbol, limit: 1, keeps: "NEWEST" });
  return last === undefined ? null : { price: last.price, at: last.at };
}

type Worth = { readonly worth: Amount; readonly times: readonly number[] };

async function worthOfHoldings(account: Account, parts: Parts): Promise<Worth> {
  const { asset: quoteAsset } = seedOf("SPOT");
  let worth = 0n as Amount;
  const times: number[] = [];
  for (const asset of account.balances.keys()) {
    const quantity = ownedOf(account.balances, asset) as bigint as Quantity;
    if (asset === quoteAsset || quantity === 0n) continue;
    const known = await priceOfAsset(account, asset, parts);
    if (known === null) continue;
    worth = add(worth, proceedsDown(known.price, quantity));
    times.push(known.at);
  }
  return { worth, times };
}

/** A position whose mark was never heard has gained and lost nothing. */
function worthOfPositions(account: Account, { prices }: Parts): Worth {
  let worth = 0n as Amount;
  const times: number[] = [];
  for (const position of account.positions.values()) {
    const known = prices.of("FUTURES", position.symbol);
    if (known === null) {
      times.push(position.updatedAt);
      continue;
    }
    worth = add(worth, profitAt(position, known.price));
    times.push(known.at);
  }
  return { worth, times };
}
