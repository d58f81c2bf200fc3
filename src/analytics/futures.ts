// The performance of a futures strategy: its wallet from the incomes that changed it, its positions from its
// trades.
// The cost of a position is exact: it is followed forward, trade by trade, with the engine's own rounding.
// Only where the strategy has more trades than a report reads it is derived from the realized profit of the
// trades since, each rounded to the eighth digit, and may be off by as many units of that digit as trades
// have closed something.
import type { Account, Position } from "../domain/account.ts";
import type { Income } from "../domain/income.ts";
import type { Trade } from "../domain/order.ts";
import { seedOf } from "../engine/open-strategy.ts";
import {
  type Amount,
  add,
  asProduct,
  magnitude,
  type Product,
  product,
  type Quantity,
  subtract,
  ZERO,
} from "../money/decimal.ts";
import { ownedOf } from "../money/posting.ts";
import { type Book, equityOf, type Walk } from "./owned.ts";
import type { Totals } from "./statistics.ts";

type Held = Pick<Position, "quantity" | "entryValue">;

/** The holding of its symbol before a trade, null for none, and how much of it the trade has closed. */
type FuturesStep = { readonly before: Held | null; readonly closed: Quantity };

/**
 * The book of an account, its trades up to its present state, and the incomes since the beginning of the
 * span, in order of time.
 */
export function futuresBook(account: Account, trades: readonly Trade[], incomes: readonly Income[]): Book {
  const steps = followPositions(account, trades);
  return {
    walk: () => futuresWalk(account, steps, incomes),
    symbolsBeside: () => [],
    totals(start, end, priceAt) {
      const outcomes = trades.slice(start).map(({ realizedPnl = ZERO }, index) => ({
        isClosing: (steps[start + index]?.closed ?? 0n) > 0n,
        realised: realizedPnl,
      }));
      return {
        ...totalsOf(incomes),
        outcomes,
        unrealised: subtract(equityOf(end, priceAt), end.money),
      };
    },
  };
}

/** The insurance fund's part of a liquidation is a fee; the loss that it bears is no loss. */
function totalsOf(incomes: readonly Income[]): Pick<Totals, "realised" | "fees" | "funding"> {
  const totals = { realised: ZERO as Amount, fees: ZERO as Amount, funding: ZERO as Amount };
  for (const { type, amount } of incomes) {
    if (type === "FUNDING_FEE") totals.funding = add(totals.funding, amount);
    else if (type === "REALIZED_PNL" || (type === "INSURANCE_CLEAR" && amount > 0n))
      totals.realised = add(totals.realised, amount);
    else if (type === "COMMISSION" || type === "INSURANCE_CLEAR") totals.fees = subtract(totals.fees, amount);
  }
  return totals;
}

/** Follows the positions through the trades. */
function followPositions(account: Account, trades: readonly Trade[]): readonly FuturesStep[] {
  const held = heldBefore(account, trades);
  return trades.map((trade) => {
    const before = held.get(trade.symbol) ?? null;
    const { after, closed } = afterTrade(before, trade);
    held.set(trade.symbol, after);
    return { before, closed };
  });
}

function futuresWalk(account: Account, steps: readonly FuturesStep[], incomes: readonly Income[]): Walk {
  const held = new Map<string, Held | null>(account.positions);
  let wallet = ownedOf(account.balances, seedOf("FUTURES").asset);
  let left = incomes.length;
  return {
    undo({ symbol }, index) {
      held.set(symbol, steps[index]?.before ?? null);
    },
    owned(at, until) {
      for (
        let income = incomes[left - 1];
        income !== undefined && income.at > until;
        income = incomes[left - 1]
      ) {
        wallet = subtract(wallet, income.amount);
        left -= 1;
      }
      const open = [...held].flatMap(([symbol, position]) =>
        position === null ? [] : [[symbol, position] as const],
      );
      return { at, money: wallet, held: new Map(open) };
    },
  };
}

/** The holding before the first of the trades. */
function heldBefore(account: Account, trades: readonly Trade[]): Map<string, Held | null> {
  const quantities = new Map<string, bigint>();
  // Paid for a long, or, negative, received for a short.
  const values = new Map<string, bigint>();
  for (const { symbol, quantity, entryValue } of account.positions.values()) {
    quantities.set(symbol, quantity);
    values.set(symbol, quantity > 0n ? entryValue : -entryValue);
  }
  for (const trade of trades) {
    const { symbol, price, realizedPnl = ZERO } = trade;
    const signed = signedOf(trade);
    quantities.set(symbol, (quantities.get(symbol) ?? 0n) - signed);
    values.set(symbol, (values.get(symbol) ?? 0n) - price * signed - asProduct(realizedPnl as Amount));
  }
  const held = new Map<string, Held | null>();
  for (const [symbol, quantity] of quantities) {
    const entryValue = magnitude((values.get(symbol) ?? 0n) as Amount) as bigint as Product;
    held.set(symbol, quantity === 0n ? null : { quantity: quantity as Quantity, entryValue });
  }
  return held;
}

function afterTrade(
  before: Held | null,
  trade: Trade,
): { readonly after: Held | null; readonly closed: Quantity } {
  const { price, quantity } = trade;
  const signed = signedOf(trade);
  const held = before?.quantity ?? (ZERO as Quantity);
  const entryValue = before?.entryValue ?? (0n as Product);
  const total = (held + signed) as Quantity;
  if (held === 0n || held > 0n === signed > 0n) {
    return {
      after: { quantity: total, entryValue: (entryValue + product(price, quantity)) as Product },
      closed: ZERO,
    };
  }
  const size = magnitude(held);
  if (quantity < size) {
    const share = (entryValue * quantity) / size;
    return { after: { quantity: total, entryValue: (entryValue - share) as Product }, closed: quantity };
  }
  const after = total === 0n ? null : { quantity: total, entryValue: product(price, magnitude(total)) };
  return { after, closed: size };
}

function signedOf({ side, quantity }: Trade): bigint {
  return side === "BUY" ? quantity : -quantity;
}
