// The receipts of a strategy's fills, which only the fill profile `strict` has: the same row for both types.
// Source: strict fills, section 10.
import type { StrategyType } from "../../domain/account.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { TradeQuery } from "../../store/ports/trading.ts";
import type { Parameters } from "../parameters.ts";
import { type Descriptions, optional, SYMBOL_OF_ROWS } from "../parse/descriptions.ts";
import { allOf, count, optionalLongInteger, text } from "../parse/fields.ts";
import type { Ports } from "../pipeline.ts";
import { presentReceipt, type ShownReceipt } from "../present/strict.ts";
import { keyRoutes, type SignedCall } from "../route.ts";
import { accountOf, listedOr } from "./strategy.ts";

const ROWS = { standard: 500, max: 1_000 } as const;

const RECEIPT_PARAMETERS = {
  symbol: SYMBOL_OF_ROWS,
  orderId: optional("id", "The order whose receipts are wanted."),
  fromId: optional("id", "The first fill whose receipt is wanted."),
  limit: optional("count", "", { default: String(ROWS.standard), min: 1, max: ROWS.max }),
} satisfies Descriptions;

/** The row for strategies of a type. */
export function receiptsRoute(type: StrategyType, path: `/${string}`) {
  return keyRoutes(type)(`GET ${path}`, "The evidence of each fill, under the fill profile `strict`", {
    parameters: RECEIPT_PARAMETERS,
    weight: 5,
    parse: parseReceipts,
    answer: (query, ports, call) => receipts(type, query, ports, call),
    present: (rows) => rows.map(presentReceipt),
  });
}

/**
 * Without `fromId` the newest are kept where there are more than `limit`. Refuses PARAMETER_MISSING without a
 * symbol, ILLEGAL_CHARACTERS, and PARAMETER_INVALID for a limit out of bounds.
 */
function parseReceipts(parameters: Parameters<keyof typeof RECEIPT_PARAMETERS>): TradeQuery | Refusal {
  return allOf({
    symbol: text(parameters, "symbol"),
    orderId: optionalLongInteger(parameters, "orderId"),
    fromTradeId: optionalLongInteger(parameters, "fromId"),
    limit: count(parameters, "limit", ROWS),
  });
}

/** None under `standard`. */
async function receipts(
  type: StrategyType,
  query: TradeQuery,
  ports: Pick<Ports, "store" | "markets">,
  call: SignedCall,
): Promise<readonly ShownReceipt[] | Refusal> {
  const { profile } = await accountOf(ports, call);
  const found = profile.strict === null ? [] : await ports.store.listTrades(call.strategyId, query);
  const trades = listedOr(query.symbol, found, ports.markets[type]);
  if (isRefusal(trades)) return trades;
  return trades.flatMap((trade) =>
    trade.receipt ? [{ market: type, trade, receipt: trade.receipt, profile }] : [],
  );
}
