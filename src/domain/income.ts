// Incomes, the changes of a futures wallet: their sum is the wallet's balance. Source: reference exchange,
// section 11.8.
import type { Amount } from "../money/decimal.ts";
import type { Posting } from "../money/posting.ts";
import type { DomainEvent } from "./event.ts";

export const INCOME_TYPES = [
  "TRANSFER",
  "REALIZED_PNL",
  "COMMISSION",
  "FUNDING_FEE",
  "INSURANCE_CLEAR",
] as const;
export type IncomeType = (typeof INCOME_TYPES)[number];

export type Income = {
  /** Ascending within the strategy. On the wire `tranId`. */
  readonly incomeId: number;
  readonly type: IncomeType;
  /** Null for what concerns no symbol. */
  readonly symbol: string | null;
  readonly asset: string;
  /** Negative for what the wallet paid. */
  readonly amount: Amount;
  /** Market time, Unix ms; of funding the time of its settlement. */
  readonly at: number;
  /** The trade that it belongs to. */
  readonly tradeId: number | null;
};

/**
 * The incomes of an event of a futures strategy, still without their numbers. What amounts to nothing is left
 * out.
 */
export function incomesOf(event: DomainEvent): Omit<Income, "incomeId">[] {
  switch (event.type) {
    case "StrategyOpened":
      return event.postings.map(({ asset, amount }) => ({
        type: "TRANSFER",
        symbol: null,
        asset,
        amount,
        at: event.at,
        tradeId: null,
      }));
    case "OrderFilled": {
      const { symbol, tradeId, realizedPnl, fee, feeAsset: asset } = event.trade;
      const line = { symbol, asset, at: event.at, tradeId };
      const lines: Omit<Income, "incomeId">[] = [
        { ...line, type: "REALIZED_PNL", amount: (realizedPnl ?? 0n) as Amount },
        { ...line, type: "COMMISSION", amount: -fee as Amount },
        { ...line, type: "INSURANCE_CLEAR", amount: flowFrom("clearance", event.postings) },
      ];
      return lines.filter(({ amount }) => amount !== 0n);
    }
    case "FundingSettled": {
      const { symbol, asset, fundingTime, postings } = event;
      const amount = flowFrom("funding", postings);
      return amount === 0n
        ? []
        : [{ type: "FUNDING_FEE", symbol, asset, amount, at: fundingTime, tradeId: null }];
    }
    default:
      return [];
  }
}

/** What an external ledger account has given the account, less what it has taken. */
function flowFrom(ledgerAccount: Posting["from"], postings: readonly Posting[]): Amount {
  return postings.reduce(
    (sum, { from, to, amount }) =>
      sum + (from === ledgerAccount ? amount : 0n) - (to === ledgerAccount ? amount : 0n),
    0n,
  ) as Amount;
}
