// A strategy's orders, legs and trades, open and terminal, and canceling.
import { z } from "zod";
import type { Order } from "../../domain/order.ts";
import { isSignalId } from "../../domain/signal.ts";
import { counterfactualOf } from "../../http/routes/counterfactuals.ts";
import type { OwnedStrategy } from "../../store/ports/people.ts";
import type { Store } from "../../store/store.ts";
import { carriedOut } from "../desk-refusals.ts";
import { DashboardError, existing } from "../errors.ts";
import { historyOf } from "../order-history.ts";
import { idText, PAGE_ROWS, pageOf, symbolText } from "../paging.ts";
import { audited, type DashboardCall, ownStrategy, route } from "../route.ts";
import { page } from "../schemas/fields.ts";
import {
  counterfactualAnswer,
  counterfactualSchema,
  counterfactualSumsAnswer,
  counterfactualSumsSchema,
  legAnswer,
  legSchema,
  orderAnswer,
  orderDetailSchema,
  orderSchema,
  tradeAnswer,
  tradeDetailAnswer,
  tradeDetailSchema,
  tradeSchema,
} from "../schemas/trading.ts";

/** Fills of one order that are shown with it. */
const TRADES_OF_ORDER_MAX = 1_000;
/** A week. */
const COUNTERFACTUALS_SUMMED_MS = 7 * 24 * 3_600_000;

const listed = z.strictObject({
  state: z.enum(["open", "all"]).default("open"),
  symbol: symbolText.optional(),
  before: idText.optional(),
});
/** "done": terminal orders. */
const listedOrders = listed.extend({ state: z.enum(["open", "done", "all"]).default("open") });
const recent = z.strictObject({ symbol: symbolText.optional(), before: idText.optional() });

export const ORDER_ROUTES = [
  route("GET /strategies/:strategyId/orders", "TRADER", page(orderSchema), {
    query: listedOrders,
    async answer(call) {
      const { strategyId } = await ownStrategy(call);
      const { store } = call.parts.gateway;
      const { state, symbol, before } = call.query;
      const isDone = state === "done";
      const found =
        state === "open"
          ? newestBefore(
              await store.listOpenOrders(strategyId, symbol ?? null),
              ({ orderId }) => orderId,
              before,
            )
          : await store.listRecentOrders(strategyId, { symbol, before, limit: PAGE_ROWS + 1, isDone });
      const answers = found.map((order) => orderAnswer(strategyId, order));
      return { body: pageOf(answers, ({ orderId }) => String(orderId)) };
    },
  }),

  route("GET /strategies/:strategyId/orders/:orderId", "TRADER", orderDetailSchema, async (call) => ({
    body: await detailOf(call, await ownStrategy(call)),
  })),

  route(
    "GET /strategies/:strategyId/orders/:orderId/counterfactual",
    "TRADER",
    counterfactualSchema,
    async (call) => {
      const { strategyId, type } = await ownStrategy(call);
      const order = await findOrder(call, strategyId);
      const found = await counterfactualOf(type, strategyId, order, call.parts.gateway);
      return { body: counterfactualAnswer(found) };
    },
  ),

  route("GET /strategies/:strategyId/counterfactuals", "TRADER", counterfactualSumsSchema, async (call) => {
    const { strategyId, type } = await ownStrategy(call);
    const { store, markets } = call.parts.gateway;
    const since = markets[type].now() - COUNTERFACTUALS_SUMMED_MS;
    return { body: counterfactualSumsAnswer(since, await store.sumCounterfactuals(strategyId, since)) };
  }),

  route("DELETE /strategies/:strategyId/orders/:orderId", "TRADER", orderSchema, async (call) => {
    const { strategyId } = await ownStrategy(call);
    const { desk, store } = call.parts.gateway;
    const { orderId, symbol } = await findOrder(call, strategyId);
    await auditCancel(call, strategyId, { orderId: String(orderId), symbol });
    carriedOut(await desk.execute(strategyId, { type: "CancelOrder", orderId }));
    const order = await store.findOrder(strategyId, { orderId, symbol });
    if (order === null) throw new Error(`an order that was placed stays: ${orderId}`);
    return { body: orderAnswer(strategyId, order) };
  }),

  route("GET /strategies/:strategyId/legs", "TRADER", page(legSchema), {
    query: listed,
    async answer(call) {
      const { strategyId } = await ownStrategy(call);
      const { store } = call.parts.gateway;
      const { state, symbol, before } = call.query;
      const found =
        state === "all"
          ? await store.listRecentLegs(strategyId, { symbol, before, limit: PAGE_ROWS + 1 })
          : newestBefore(await openLegs(call, strategyId, symbol), ({ legId }) => legId, before);
      return { body: pageOf(found.map(legAnswer), ({ legId }) => String(legId)) };
    },
  }),

  route("DELETE /strategies/:strategyId/legs/:legId", "TRADER", legSchema, async (call) => {
    const { strategyId } = await ownStrategy(call);
    const { desk, store } = call.parts.gateway;
    const legId = idOf(call.params.legId);
    const { symbol } = existing(await store.findLeg(strategyId, { legId }));
    await auditCancel(call, strategyId, { legId: String(legId), symbol });
    carriedOut(await desk.execute(strategyId, { type: "CancelLeg", legId }));
    const leg = await store.findLeg(strategyId, { legId });
    if (leg === null) throw new Error(`a leg that was placed stays: ${legId}`);
    return { body: legAnswer(leg) };
  }),

  route("GET /strategies/:strategyId/trades", "TRADER", page(tradeSchema), {
    query: recent,
    async answer(call) {
      const { strategyId } = await ownStrategy(call);
      const { symbol, before } = call.query;
      const query = { symbol, before, limit: PAGE_ROWS + 1 };
      const found = await call.parts.gateway.store.listRecentTrades(strategyId, query);
      return { body: pageOf(found.map(tradeAnswer), ({ tradeId }) => String(tradeId)) };
    },
  }),

  route("GET /strategies/:strategyId/trades/:tradeId", "TRADER", tradeDetailSchema, async (call) => ({
    body: await tradeDetailOf(call, await ownStrategy(call)),
  })),
];

type TradeCall = Pick<DashboardCall<unknown, unknown, "tradeId">, "parts" | "params">;
type OrderCall = Pick<DashboardCall<unknown, unknown, "orderId">, "parts" | "params">;

/** Of rows in ascending order the newest that are older than `before`, one more than a page holds. */
function newestBefore<Row>(rows: readonly Row[], idOf: (row: Row) => number, before?: number): Row[] {
  const older = before === undefined ? rows : rows.filter((row) => idOf(row) < before);
  return older.slice(-(PAGE_ROWS + 1)).reverse();
}

async function openLegs({ parts }: Pick<DashboardCall, "parts">, strategyId: string, symbol?: string) {
  const loaded = await parts.gateway.store.loadAccount(strategyId);
  const legs = [...(loaded?.account.openLegs.values() ?? [])];
  return symbol === undefined ? legs : legs.filter((leg) => leg.symbol === symbol);
}

async function detailOf(
  call: OrderCall,
  { strategyId, type }: OwnedStrategy,
): Promise<z.output<typeof orderDetailSchema>> {
  const { store, markets } = call.parts.gateway;
  const order = await findOrder(call, strategyId);
  const { orderId, symbol, clientOrderId } = order;
  const trades = await store.listTrades(strategyId, { symbol, orderId, limit: TRADES_OF_ORDER_MAX });
  const signal = isSignalId(clientOrderId)
    ? await store.findSignal(strategyId, { signalId: clientOrderId })
    : null;
  return {
    order: orderAnswer(strategyId, order),
    trades: trades.map(tradeAnswer),
    legs: await legsOf(store, strategyId, order),
    signalId: signal?.signalId ?? null,
    history: await historyOf(store, strategyId, { order, trades, coins: markets[type].rules(symbol) }),
  };
}

async function tradeDetailOf(
  { parts, params }: TradeCall,
  { strategyId }: OwnedStrategy,
): Promise<z.output<typeof tradeDetailSchema>> {
  const { store } = parts.gateway;
  const tradeId = idOf(params.tradeId);
  const [trade] = await store.listRecentTrades(strategyId, { before: tradeId + 1, limit: 1 });
  if (trade?.tradeId !== tradeId) throw new DashboardError("NOT_FOUND");
  const { symbol, orderId } = trade;
  const [order, trades, loaded] = await Promise.all([
    store.findOrder(strategyId, { orderId, symbol }),
    store.listTrades(strategyId, { symbol, orderId, limit: TRADES_OF_ORDER_MAX }),
    store.loadAccount(strategyId),
  ]);
  if (order === null || loaded === null) throw new Error(`a trade is of an order that stays: ${tradeId}`);
  return tradeDetailAnswer(trade, { order, trades, profile: loaded.account.profile });
}

async function legsOf(store: Pick<Store, "findLeg">, strategyId: string, { legs = [] }: Order) {
  const found = await Promise.all(legs.map(({ legId }) => store.findLeg(strategyId, { legId })));
  return found.flatMap((leg) => (leg === null ? [] : legAnswer(leg)));
}

async function findOrder({ parts, params }: OrderCall, strategyId: string) {
  const orderId = idOf(params.orderId);
  return existing(await parts.gateway.store.findOrder(strategyId, { orderId }));
}

/** The number that a part of the path is. Throws NOT_FOUND for anything else. */
function idOf(text: string): number {
  return existing(idText.safeParse(text).data);
}

/** Recorded before the cancel, so that nothing is done without an audit record. */
async function auditCancel(
  call: Pick<DashboardCall, "parts" | "signedIn" | "now">,
  strategyId: string,
  details: Readonly<Record<string, string>>,
): Promise<void> {
  await call.parts.gateway.store.people.audit(
    audited(call, "ORDER_CANCEL_ASKED", { kind: "STRATEGY", id: strategyId }, details),
  );
}
