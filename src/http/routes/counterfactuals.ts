// What an order under the fill profile `strict` would have done on other terms: the same row for both types.
// Source: strict fills, section 12; decision 71.
import type { StrategyType } from "../../domain/account.ts";
import { isComparable } from "../../domain/counterfactual.ts";
import { isOpen } from "../../domain/order.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { Parameters } from "../parameters.ts";
import { type Descriptions, mandatory, SYMBOL_OF_ROWS } from "../parse/descriptions.ts";
import { allOf, optionalInteger, text } from "../parse/fields.ts";
import type { Ports } from "../pipeline.ts";
import { presentCounterfactual, type ShownCounterfactual } from "../present/strict.ts";
import { type SignedCall, signedRoutes } from "../route.ts";

/** On another server a shadow may run until then after the end of its order, ms. */
const RUNNING_ELSEWHERE_MS_MAX = 10_000;

const PARAMETERS = {
  symbol: SYMBOL_OF_ROWS,
  orderId: mandatory("id", "The order.", { example: "7" }),
} satisfies Descriptions;

type Query = { readonly symbol: string; readonly orderId: number };

/** The row for strategies of a type. */
export function counterfactualsRoute(type: StrategyType, path: `/${string}`) {
  return signedRoutes(type)(`GET ${path}`, "An order on other terms, under the fill profile `strict`", {
    parameters: PARAMETERS,
    weight: 20,
    parse: parseQuery,
    answer: (query, ports, { strategyId }: SignedCall) => findCounterfactual(type, strategyId, query, ports),
    present: presentCounterfactual,
  });
}

/** Refuses PARAMETER_MISSING, and ILLEGAL_CHARACTERS for an order id that is no whole number. */
function parseQuery(parameters: Parameters<keyof typeof PARAMETERS>): Query | Refusal {
  const orderId = text(parameters, "orderId");
  return allOf({
    symbol: text(parameters, "symbol"),
    orderId: isRefusal(orderId) ? orderId : (optionalInteger(parameters, "orderId") ?? 0),
  });
}

/** Refuses SYMBOL_UNKNOWN, and ORDER_UNKNOWN for an order that the strategy does not have. */
export async function findCounterfactual(
  type: StrategyType,
  strategyId: string,
  query: Query,
  { store, markets, counterfactuals }: Pick<Ports, "store" | "markets" | "counterfactuals">,
): Promise<ShownCounterfactual | Refusal> {
  const { symbol, orderId } = query;
  // In this order: a shadow is no longer running once its rows are stored.
  const isRunning = counterfactuals.isRunning(strategyId, orderId);
  const order = await store.findOrder(strategyId, query);
  if (order === null) {
    return { refusal: markets[type].rules(symbol) === null ? "SYMBOL_UNKNOWN" : "ORDER_UNKNOWN" };
  }
  const counterfactual = isRunning ? null : await store.findCounterfactual(strategyId, orderId);
  if (counterfactual !== null) return { ...query, state: "COMPLETE", counterfactual };
  if (!isComparable(order)) return { ...query, state: "NONE", counterfactual };
  const isRecent = isOpen(order) || markets[type].now() - order.updatedAt < RUNNING_ELSEWHERE_MS_MAX;
  const mayRunElsewhere = store.slots !== null && isRecent;
  return { ...query, state: isRunning || mayRunElsewhere ? "RUNNING" : "WINDOW_GONE", counterfactual };
}
