// What a strategy is worth at prices that are newer than those the server valued it at. Exact, as the server
// reckons it: on spot what is owned at its price, on futures the wallet and what positions have gained.
import type {
  BalanceJson,
  PositionJson,
  PriceJson,
  StrategyType,
} from "../../../src/dashboard-api/schemas.ts";
import { atMark } from "../pages/strategy/positions/at-mark.ts";
import {
  add,
  cut,
  multiply,
  percentOf,
  rounded,
  roundedDifference,
  roundedParts,
  subtract,
  trimZeros,
} from "../ui/figures/decimals.ts";

/**
 * Of what a strategy holds more of, the rest is as the server last valued it. A window may follow 20 topics:
 * the others are for charts and books.
 */
export const FOLLOWED_MAX = 16;
const UNFOLLOWED_POLLED_EVERY_MS = 5_000;
const QUOTE_ASSET = "USDT";
const MONEY_DECIMALS = 8;
const SHOWN_DECIMALS = 2;
const SHARE_DECIMALS = 1;
/** Of a percentage before it is rounded. */
const PERCENT_DECIMALS = 8;

type Holdings = {
  readonly type: StrategyType;
  readonly balances: readonly BalanceJson[];
  /** Of a futures strategy; empty otherwise. */
  readonly positions: readonly PositionJson[];
};

/** What has to be followed to know what they are worth. */
export function symbolsOf({ type, balances, positions }: Holdings): readonly string[] {
  if (type === "FUTURES") return positions.map(({ symbol }) => symbol);
  return balances
    .filter(({ asset, value }) => asset !== QUOTE_ASSET && value !== null)
    .map(({ asset }) => `${asset}${QUOTE_ASSET}`);
}

/** How often balances and positions are loaded again because the prices of some are not followed. */
export function holdingsPolledEveryMs(symbolCount: number): number | false {
  return symbolCount > FOLLOWED_MAX && UNFOLLOWED_POLLED_EVERY_MS;
}

/**
 * In USDT; what has no newer price is worth what the server said, and nothing where it knew no price either.
 */
export function equityAt(holdings: Holdings, prices: ReadonlyMap<string, PriceJson>): string {
  const { type, balances, positions } = holdings;
  const worths =
    type === "SPOT"
      ? balances.map((balance) => worthOf(balance, prices))
      : [
          ...balances.map(({ value }) => value ?? "0"),
          ...positions.map(
            (position) => atMark(position, prices.get(position.symbol)?.mark ?? null).unrealised ?? "0",
          ),
        ];
  return trimZeros(cut(worths.reduce(add, "0"), MONEY_DECIMALS), 2);
}

/**
 * The parts of a futures strategy's equity as they are shown beside it: the wallet, and what each position
 * has gained, by symbol.
 */
export function shownParts(
  { balances, positions }: Pick<Holdings, "balances" | "positions">,
  { equity, prices }: { readonly equity: string; readonly prices: ReadonlyMap<string, PriceJson> },
) {
  const wallet = balances.map(({ value }) => value ?? "0").reduce(add, "0");
  const gains = positions.map(
    (position) => atMark(position, prices.get(position.symbol)?.mark ?? null).unrealised ?? "0",
  );
  const [shownWallet, ...shownGains] = roundedParts([wallet, ...gains], {
    total: equity,
    shown: rounded(equity, SHOWN_DECIMALS),
  });
  return {
    wallet: shownWallet,
    gains: new Map(positions.map(({ symbol }, index) => [symbol, shownGains[index] ?? null])),
  };
}

/**
 * Balances as they are shown: the values add up to the total, and the shares of it to 100 %. `shownTotal` is
 * given where the total is itself a part of what is shown beside it.
 */
export function shownBalances(rows: readonly BalanceJson[] | undefined, shownTotal?: string) {
  const priced = rows?.filter(({ value }) => value !== null) ?? [];
  const values = priced.map(({ value }) => value ?? "0");
  const total = values.reduce(add, "0");
  const ofAll = shownTotal ?? rounded(total, SHOWN_DECIMALS);
  const shown = roundedParts(values, { total, shown: ofAll });
  const percents = values.flatMap((value) => percentOf(value, total, PERCENT_DECIMALS) ?? []);
  const hundred = percents.reduce(add, "0");
  const shares = roundedParts(percents, { total: hundred, shown: rounded(hundred, SHARE_DECIMALS) });
  const shownOf = new Map(priced.map(({ asset }, index) => [asset, shown[index] ?? null]));
  return {
    rows: rows?.map((row) => ({ ...row, value: shownOf.get(row.asset) ?? null })),
    total: rows === undefined ? undefined : ofAll,
    shares: new Map(
      priced.flatMap(({ asset }, index) => (shares[index] === undefined ? [] : [[asset, shares[index]]])),
    ),
  };
}

/**
 * What a strategy has made, as it is shown beside its equity: the profit is the difference of the figures
 * that are shown.
 */
export function shownResult({ equity, seed }: { readonly equity: string; readonly seed: string }) {
  const percent = percentOf(subtract(equity, seed), seed, PERCENT_DECIMALS);
  return {
    equity: rounded(equity, SHOWN_DECIMALS),
    profit: roundedDifference(equity, seed, SHOWN_DECIMALS),
    percent: percent === null ? null : rounded(percent, SHOWN_DECIMALS),
  };
}

/**
 * In USDT, at the newer price if there is one: of the last trade, or where nothing was traded yet the bid.
 */
export function worthOf({ asset, free, locked, value }: BalanceJson, prices: ReadonlyMap<string, PriceJson>) {
  const owned = add(free, locked);
  if (asset === QUOTE_ASSET) return owned;
  const heard = prices.get(`${asset}${QUOTE_ASSET}`);
  const price = heard?.last ?? heard?.bid ?? null;
  return price === null ? (value ?? "0") : cut(multiply(owned, price), MONEY_DECIMALS);
}
