// The signed routes of spot strategies. Source: specification 4.1.
import type { OpenStatus, Order } from "../../domain/order.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import { isSignalId } from "../../domain/signal.ts";
import type { OrderQuery, TradeQuery } from "../../store/ports/trading.ts";
import { optional, SYMBOL_OF_ROWS, SYMBOL_OF_ROWS_OR_ALL } from "../parse/descriptions.ts";
import { optionalClientId, optionalFlag, optionalText, text } from "../parse/fields.ts";
import {
  ORDER_LIST_PARAMETERS,
  parseAllOrders,
  parseMyTrades,
  TRADE_LIST_PARAMETERS,
} from "../parse/history.ts";
import { ORDER_PARAMETERS, parsePlaceOrder } from "../parse/place-order.ts";
import type { ByProfile, Placement } from "../parse/terms.ts";
import type { Ports } from "../pipeline.ts";
import { presentAccount, presentCancel, presentOrder, presentTrade } from "../present/spot.ts";
import { keyRoutes, type Route, type SignedCall } from "../route.ts";
import { counterfactualsRoute } from "./counterfactuals.ts";
import { receiptsRoute } from "./fill-receipts.ts";
import {
  accountOf,
  cancelSought,
  closeStrategy,
  findOrder,
  listedOr,
  ofProfile,
  type Placed,
  parseSoughtOrder,
  place,
  replayable,
  SOUGHT_ORDER_PARAMETERS,
  type SoughtOrder,
} from "./strategy.ts";

const spot = keyRoutes("SPOT");

/** Source: reference exchange, section 7.3. */
const CANCEL_RESTRICTIONS: ReadonlyMap<string, OpenStatus> = new Map([
  ["ONLY_NEW", "NEW"],
  ["ONLY_PARTIALLY_FILLED", "PARTIALLY_FILLED"],
]);

export const SPOT_ROUTES: readonly Route[] = [
  spot("GET /api/v3/account", "Balances and commission rates", {
    parameters: {
      omitZeroBalances: optional("flag", "Leaves out assets of which there is nothing.", {
        default: "false",
      }),
    },
    weight: 20,
    parse: (parameters) => optionalFlag(parameters, "omitZeroBalances") ?? false,
    answer: account,
    present: ({ account, omitZeroBalances }, { userId }) =>
      presentAccount(account, { userId, omitZeroBalances }),
  }),
  spot("POST /api/v3/order", "Place an order", {
    parameters: ORDER_PARAMETERS,
    placesOrder: true,
    parse: parsePlaceOrder,
    answer: placeOrder,
    present: ({ order, replayed }, { strategyId }) => replayable(presentOrder(strategyId, order), replayed),
  }),
  spot("DELETE /api/v3/order", "Cancel an order", {
    parameters: {
      ...SOUGHT_ORDER_PARAMETERS.SPOT,
      newClientOrderId: optional("text", "As in a placement; the answer shows it as `clientOrderId`.", {
        default: "the order's own",
      }),
      cancelRestrictions: optional("text", "The only status in which the order is canceled.", {
        values: [...CANCEL_RESTRICTIONS.keys()],
        default: "any",
      }),
    },
    parse(parameters) {
      const sought = parseSoughtOrder(parameters, "SPOT");
      if (isRefusal(sought)) return sought;
      const restrictions = optionalText(parameters, "cancelRestrictions");
      const onlyIf = restrictions === null ? undefined : CANCEL_RESTRICTIONS.get(restrictions);
      if (restrictions !== null && onlyIf === undefined) return { refusal: "CANCEL_RESTRICTIONS_INVALID" };
      // Refused only if the order is found.
      return { sought, onlyIf, cancelId: optionalClientId(parameters, "newClientOrderId", "SPOT") };
    },
    answer: cancelOrder,
    present: ({ order, cancelId }, { strategyId }) => presentCancel(strategyId, order, cancelId),
  }),
  spot("DELETE /api/v3/openOrders", "Cancel all open orders of a symbol", {
    parameters: { symbol: SYMBOL_OF_ROWS },
    parse: (parameters) => text(parameters, "symbol"),
    answer: cancelOpenOrders,
    present: (orders, { strategyId }) => orders.map((order) => presentCancel(strategyId, order, null)),
  }),
  spot("GET /api/v3/order", "One order", {
    parameters: SOUGHT_ORDER_PARAMETERS.SPOT,
    weight: 4,
    parse: (parameters) => parseSoughtOrder(parameters, "SPOT"),
    answer: findOrder,
    present: (order, { strategyId }) => presentOrder(strategyId, order),
  }),
  spot("GET /api/v3/openOrders", "The open orders", {
    parameters: { symbol: SYMBOL_OF_ROWS_OR_ALL },
    weight: 6,
    parse: (parameters) => optionalText(parameters, "symbol"),
    answer: openOrders,
    present: presentOrders,
  }),
  spot("GET /api/v3/allOrders", "All orders of a symbol, newest last", {
    parameters: ORDER_LIST_PARAMETERS,
    weight: 20,
    parse: parseAllOrders,
    answer: allOrders,
    present: presentOrders,
  }),
  spot("GET /api/v3/myTrades", "The fills of a symbol, newest last", {
    parameters: TRADE_LIST_PARAMETERS,
    weight: 20,
    parse: parseMyTrades,
    answer: myTrades,
    present: (trades) => trades.map(presentTrade),
  }),
  receiptsRoute("SPOT", "/api/v3/platform/fillReceipts"),
  counterfactualsRoute("SPOT", "/api/v3/platform/counterfactuals"),
  spot("POST /api/v3/platform/strategy/close", "Close the strategy for good", {
    writes: false,
    answer: closeStrategy,
  }),
];

async function account(omitZeroBalances: boolean, ports: Pick<Ports, "store">, call: SignedCall) {
  return { account: await accountOf(ports, call), omitZeroBalances };
}

async function placeOrder(
  asked: Placement | ByProfile<Placement>,
  ports: Pick<Ports, "desk" | "store" | "newClientOrderId">,
  call: SignedCall,
): Promise<Placed | Refusal> {
  const placement = await ofProfile(asked, ports, call);
  if (isRefusal(placement)) return placement;
  const { clientOrderId } = placement;
  return clientOrderId !== null && isSignalId(clientOrderId)
    ? await placeUnderSignalId({ ...placement, clientOrderId }, ports, call)
    : await place(placement, ports, call);
}

/**
 * The order of a signal has the signal's id, so a placement under it answers with the present state of that
 * order. Until the signal is terminal the id is reserved for its order.
 */
async function placeUnderSignalId(
  placement: Placement & { readonly clientOrderId: string },
  ports: Pick<Ports, "desk" | "store" | "newClientOrderId">,
  call: SignedCall,
): Promise<Placed | Refusal> {
  const { strategyId } = call;
  const { clientOrderId } = placement;
  const signal = await ports.store.findSignal(strategyId, { signalId: clientOrderId });
  switch (signal?.state.status) {
    case "EXECUTED": {
      const order = await ports.store.findOrder(strategyId, { clientOrderId });
      return order === null ? await place(placement, ports, call) : { order, replayed: true };
    }
    case "RECEIVED":
    case "FAILED":
      return { refusal: "PARAMETER_INVALID", parameter: "newClientOrderId" };
    default:
      return await place(placement, ports, call);
  }
}

async function cancelOrder(
  {
    sought,
    onlyIf,
    cancelId,
  }: {
    readonly sought: SoughtOrder;
    readonly onlyIf: OpenStatus | undefined;
    readonly cancelId: string | null | Refusal;
  },
  ports: Pick<Ports, "desk" | "store" | "markets">,
  call: SignedCall,
) {
  if (isRefusal(cancelId)) {
    const found = await findOrder(sought, ports, call);
    return isRefusal(found) ? found : cancelId;
  }
  const order = await cancelSought(sought, ports, call, onlyIf);
  return isRefusal(order) ? order : { order, cancelId };
}

async function cancelOpenOrders(
  symbol: string,
  { desk, markets }: Pick<Ports, "desk" | "markets">,
  { strategyId, lapsed }: SignedCall,
) {
  const executed = await desk.execute(strategyId, { type: "CancelOpenOrders", symbol }, { lapsed });
  return isRefusal(executed) ? executed : listedOr(symbol, executed.orders, markets.SPOT);
}

async function openOrders(
  symbol: string | null,
  { store, markets }: Pick<Ports, "store" | "markets">,
  { strategyId }: SignedCall,
) {
  const orders = await store.listOpenOrders(strategyId, symbol);
  return symbol === null ? orders : listedOr(symbol, orders, markets.SPOT);
}

async function allOrders(
  query: OrderQuery,
  { store, markets }: Pick<Ports, "store" | "markets">,
  { strategyId }: SignedCall,
) {
  return listedOr(query.symbol, await store.listOrders(strategyId, query), markets.SPOT);
}

async function myTrades(
  query: TradeQuery,
  { store, markets }: Pick<Ports, "store" | "markets">,
  { strategyId }: SignedCall,
) {
  return listedOr(query.symbol, await store.listTrades(strategyId, query), markets.SPOT);
}

function presentOrders(orders: readonly Order[], { strategyId }: SignedCall) {
  return orders.map((order) => presentOrder(strategyId, order));
}
