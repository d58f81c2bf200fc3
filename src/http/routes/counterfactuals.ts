// What an order under the fill profile `strict` would have done on other terms: the same row for both types.
// Source: strict fills, section 12; decision 71.
import type { StrategyType } from "../../domain/account.ts";
import { isComparable } from "../../domain/counterfactual.ts";
import { isOpen, type Order } from "../../domain/order.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { Parameters } from "../parameters.ts";
import { type Descriptions, mandatory, SYMBOL_OF_ROWS } from "../parse/descriptions.ts";
import { allOf, optionalLongInteger, text } from "../parse/fields.ts";
import type { Ports } from "../pipeline.ts";
import { presentCounterfactual, type ShownCounterfactual } from "../present/strict.ts";
import { keyRoutes, type SignedCall } from "../route.ts";

/** On another server a shadow may run until then after the end of its order, ms. */
const RUNNING_ELSEWHERE_MS_MAX = 10_000;

const PARAMETERS = {
  symbol: SYMBOL_OF_ROWS,
  orderId: mandatory("id", "The order.", { example: "7" }),
} satisfies Descriptions;

type Query = { readonly symbol: string; readonly orderId: number };

/** The row for strategies of a type. */
export function counterfactualsRoute(type: StrategyType, path: `/${string}`) {
  return keyRoutes(type)(`GET ${path}`, "An order on other terms, under the fill profile `strict`", {
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
    orderId: isRefusal(orderId) ? orderId : (optionalLongInteger(parameters, "orderId") ?? 0),
  });
}

/** Refuses SYMBOL_UNKNOWN, and ORDER_UNKNOWN for an order that the strategy does not have. */
async function findCounterfactual(
  type: StrategyType,
  strategyId: string,
  query: Query,
  ports: Pick<Ports, "store" | "markets" | "counterfactuals">,
): Promise<ShownCounterfactual | Refusal> {
  const order = await ports.store.findOrder(strategyId, query);
  if (order !== null) return await counterfactualOf(type, strategyId, order, ports);
  const isListed = ports.markets[type].rules(query.symbol) !== null;
  return { refusal: isListed ? "ORDER_UNKNOWN" : "SYMBOL_UNKNOWN" };
}

/** An order on other terms, or why that is not known. */
export async function counterfactualOf(
  type: StrategyType,
  strategyId: string,
  order: Order,
  { store, markets, counterfactuals }: Pick<Ports, "store" | "markets" | "counterfactuals">,
): Promise<ShownCounterfactual> {
  const { symbol, orderId } = order;
  const shown = { symbol, orderId, counterfactual: null };
  if (!isComparable(order)) return { ...shown, state: "NONE" };
  // In this order: a shadow runs until its rows are stored.
  if (counterfactuals.isRunning(strategyId, orderId)) return { ...shown, state: "RUNNING" };
  const counterfactual = await store.findCounterfactual(strategyId, orderId);
  if (counterfactual !== null) return { ...shown, state: "COMPLETE", counterfactual };
  const isRecent = isOpen(order) || markets[type].now() - order.updatedAt < RUNNING_ELSEWHERE_MS_MAX;
  const mayRunElsewhere = store.slots !== null && isRecent;
  return { ...shown, state: mayRunElsewhere ? "RUNNING" : "WINDOW_GONE" };
}
