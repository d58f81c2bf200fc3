// What the signed routes of both strategy types share: find an order, place and cancel, close the strategy.
import type { Account, StrategyType } from "../../domain/account.ts";
import { placementKey } from "../../domain/command.ts";
import type { Market } from "../../domain/market.ts";
import type { OpenStatus, Order } from "../../domain/order.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { Parameters } from "../parameters.ts";
import { type Descriptions, SYMBOL, soughtIds } from "../parse/descriptions.ts";
import { allOf, optionalLongInteger, soughtClientId, text } from "../parse/fields.ts";
import type { ByProfile, Placement } from "../parse/terms.ts";
import type { Ports } from "../pipeline.ts";
import { Replay, type SignedCall } from "../route.ts";

/** The parameters that name an order. */
export type SoughtOrderName = "symbol" | "orderId" | "origClientOrderId";
export const SOUGHT_ORDER_PARAMETERS: { readonly [T in StrategyType]: Descriptions<SoughtOrderName> } = {
  SPOT: {
    symbol: { ...SYMBOL, description: "The symbol of the order." },
    ...soughtIds("orderId", "origClientOrderId", "With both, they must name the same order."),
  },
  FUTURES: {
    symbol: { ...SYMBOL, description: "The symbol of the order." },
    ...soughtIds("orderId", "origClientOrderId", "With both, `orderId` prevails."),
  },
};

/** The order that `orderId` or `origClientOrderId` names; at least one of them. */
export type SoughtOrder = {
  readonly type: StrategyType;
  readonly symbol: string;
  readonly orderId: number | undefined;
  readonly clientOrderId: string | null;
};

export function parseSoughtOrder(
  parameters: Parameters<SoughtOrderName>,
  type: StrategyType,
): SoughtOrder | Refusal {
  const sought = allOf({
    symbol: text(parameters, "symbol"),
    orderId: optionalLongInteger(parameters, "orderId"),
    clientOrderId: soughtClientId(parameters, "origClientOrderId", type),
  });
  if (isRefusal(sought)) return sought;
  if (sought.orderId === undefined && sought.clientOrderId === null) {
    return { refusal: "PARAMETERS_MISSING", parameters: ["origClientOrderId", "orderId"] };
  }
  return { type, ...sought };
}

/**
 * With both ids they must name the same order on spot, while `orderId` prevails on futures.
 * Source: reference exchange, sections 7.5 and 12.2.
 */
export async function findOrder(
  { type, symbol, orderId, clientOrderId }: SoughtOrder,
  { store, markets }: Pick<Ports, "store" | "markets">,
  { strategyId }: SignedCall,
): Promise<Order | Refusal> {
  const order =
    orderId !== undefined
      ? await store.findOrder(strategyId, { orderId, symbol })
      : clientOrderId === null
        ? null
        : await store.findOrder(strategyId, { clientOrderId });
  if (order === null || order.symbol !== symbol) {
    return { refusal: markets[type].rules(symbol) === null ? "SYMBOL_UNKNOWN" : "ORDER_UNKNOWN" };
  }
  if (type === "SPOT" && clientOrderId !== null && order.clientOrderId !== clientOrderId) {
    return { refusal: "CLIENT_ORDER_ID_MISMATCH" };
  }
  return order;
}

/** The account as last committed. */
export async function accountOf(
  { store }: Pick<Ports, "store">,
  { strategyId }: Pick<SignedCall, "strategyId">,
): Promise<Account> {
  const loaded = await store.loadAccount(strategyId);
  if (loaded === null) throw new Error(`a strategy has an account: ${strategyId}`);
  return loaded.account;
}

/** What a request asks for under the fill profile of its strategy; hardly any request depends on it. */
export async function ofProfile<Input extends object>(
  asked: Input | ByProfile<Input>,
  { desk }: Pick<Ports, "desk">,
  { strategyId }: SignedCall,
): Promise<Input | Refusal> {
  return "standard" in asked ? asked[(await desk.profileOf(strategyId)).name] : asked;
}

/** The order of a placement, and whether its client id was used before: then nothing was placed. */
export type Placed = { readonly order: Order; readonly replayed: boolean };

/** Places an order; a client id that was used before answers with the present state of its order. */
export async function place(
  placement: Placement,
  { desk, newClientOrderId }: Pick<Ports, "desk" | "newClientOrderId">,
  { strategyId, admittedAt, lapsed }: SignedCall,
): Promise<Placed | Refusal> {
  const command = { ...placement, clientOrderId: placement.clientOrderId ?? newClientOrderId() };
  const key = placementKey(command.clientOrderId);
  const executed = await desk.execute(strategyId, command, { key, admittedAt, lapsed });
  if (isRefusal(executed)) return executed;
  return { order: concerned(executed.orders, command), replayed: executed.replayed };
}

/**
 * Cancels an order; with `onlyIf` only while it has that status. The desk looks it up behind all commands
 * that came before: the store does not have an order yet whose placement is in flight.
 */
export async function cancelSought(
  sought: SoughtOrder,
  ports: Pick<Ports, "desk" | "store" | "markets">,
  call: SignedCall,
  onlyIf?: OpenStatus,
): Promise<Order | Refusal> {
  const command = { type: "CancelOrder", ...namesOf(sought), ...(onlyIf && { onlyIf }) } as const;
  const executed = await ports.desk.execute(call.strategyId, command, { lapsed: call.lapsed });
  if (isRefusal(executed)) {
    if (executed.refusal !== "ORDER_NOT_OPEN") return executed;
    const found = await findOrder(sought, ports, call);
    return isRefusal(found) ? found : executed;
  }
  const canceled = executed.events.find((event) => event.type === "OrderCanceled");
  if (canceled === undefined) throw new Error("a cancel that is executed has canceled an order");
  return concerned(executed.orders, canceled);
}

function namesOf({ type, symbol, orderId, clientOrderId }: SoughtOrder) {
  if (orderId === undefined) return { symbol, clientOrderId: clientOrderId ?? "" };
  return { symbol, orderId, ...(type === "SPOT" && clientOrderId !== null && { clientOrderId }) };
}

/**
 * Closes the strategy for good; CLOSING while a part of it waits for its market. Its rows do not need a LIVE
 * strategy, since closing may be repeated until it is done; the decision refuses a closed one. Source:
 * specification 4.3.
 */
export async function closeStrategy(
  _input: undefined,
  { desk }: Pick<Ports, "desk">,
  { strategyId, lapsed }: SignedCall,
) {
  const executed = await desk.execute(strategyId, { type: "CloseStrategy" }, { lapsed });
  if (isRefusal(executed)) return executed;
  const isClosed = executed.events.some(({ type }) => type === "StrategyClosed");
  return { strategyId, status: isClosed ? "CLOSED" : "CLOSING" };
}

/** The rows of a symbol; none on a symbol that is not listed means that the symbol is wrong. */
export function listedOr<T>(
  symbol: string,
  rows: readonly T[],
  market: Pick<Market, "rules">,
): readonly T[] | Refusal {
  return rows.length === 0 && market.rules(symbol) === null ? { refusal: "SYMBOL_UNKNOWN" } : rows;
}

/** The body of a placement. */
export function replayable(body: object, isReplay: boolean): Replay | object {
  return isReplay ? new Replay(body) : body;
}

/** The order that a command was about, of all orders that it changed. */
function concerned(orders: readonly Order[], about: { orderId: number } | { clientOrderId: string }): Order {
  const order = orders.find((each) =>
    "orderId" in about ? each.orderId === about.orderId : each.clientOrderId === about.clientOrderId,
  );
  if (order === undefined) throw new Error("a command about an order answers with it");
  return order;
}
