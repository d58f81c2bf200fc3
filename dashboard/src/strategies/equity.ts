// What a strategy is worth at prices that are newer than those the server valued it at. Exact, as the server reckons it: on
// spot what is owned at its price, on futures the wallet and what positions have gained.
import type { BalanceShape, PositionShape, PriceShape, StrategyType } from "../../../src/dashboard/shapes.ts";
import { atMark } from "../pages/strategy/positions/at-mark.ts";
import { add, cut, multiply, trimZeros } from "../ui/decimals.ts";

const QUOTE_ASSET = "USDT";
const MONEY_DECIMALS = 8;

type Holdings = {
  readonly type: StrategyType;
  readonly balances: readonly BalanceShape[];
  /** Of a futures strategy; empty otherwise. */
  readonly positions: readonly PositionShape[];
};

/** What has to be followed to know what they are worth. */
export function symbolsOf({ type, balances, positions }: Holdings): readonly string[] {
  if (type === "FUTURES") return positions.map(({ symbol }) => symbol);
  return balances
    .filter(({ asset, value }) => asset !== QUOTE_ASSET && value !== null)
    .map(({ asset }) => `${asset}${QUOTE_ASSET}`);
}

/** In USDT; what has no newer price is worth what the server said, and nothing where it knew no price either. */
export function equityAt(holdings: Holdings, prices: ReadonlyMap<string, PriceShape>): string {
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

/** In USDT, at the newer price if there is one: of the last trade, or where nothing was traded yet the bid. */
export function worthOf(
  { asset, free, locked, value }: BalanceShape,
  prices: ReadonlyMap<string, PriceShape>,
) {
  const owned = add(free, locked);
  if (asset === QUOTE_ASSET) return owned;
  const heard = prices.get(`${asset}${QUOTE_ASSET}`);
  const price = heard?.last ?? heard?.bid ?? null;
  return price === null ? (value ?? "0") : cut(multiply(owned, price), MONEY_DECIMALS);
}
