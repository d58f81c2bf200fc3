// A strategy's orders, legs and trades: what is open, what was, and cancelling.
import { z } from "zod";
import type { Order } from "../../domain/order.ts";
import { isSignalId } from "../../domain/signal.ts";
import type { OwnedStrategy } from "../../store/people-store.ts";
import type { Store } from "../../store/store.ts";
import { carriedOut } from "../desk-refusals.ts";
import { DashboardError } from "../errors.ts";
import { historyOf } from "../order-history.ts";
import { idText, PAGE_ROWS, pageOf, symbolText } from "../paging.ts";
import { presentLeg, presentOrder, presentTrade } from "../present/orders.ts";
import { type DashboardCall, type DashboardRoute, ownStrategy, personOf, route } from "../route.ts";
import type { LegShape, OrderDetailShape, OrderShape, PageShape, TradeShape } from "../shapes.ts";

/** Fills of one order that are shown with it. */
const TRADES_OF_ORDER_MAX = 1_000;

const listed = z.strictObject({
  state: z.enum(["open", "all"]).default("open"),
  symbol: symbolText.optional(),
  before: idText.optional(),
});
/** "done" is what is open no more. */
const listedOrders = listed.extend({ state: z.enum(["open", "done", "all"]).default("open") });
const recent = z.strictObject({ symbol: symbolText.optional(), before: idText.optional() });

export const ORDER_ROUTES: readonly DashboardRoute[] = [
  route({
    method: "GET",
    path: "/strategies/:strategyId/orders",
    access: "TRADER",
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
      const body: PageShape<OrderShape> = pageOf(found, {
        present: (order) => presentOrder(strategyId, order),
        next: ({ orderId }) => String(orderId),
      });
      return { body };
    },
  }),

  route({
    method: "GET",
    path: "/strategies/:strategyId/orders/:orderId",
    access: "TRADER",
    async answer(call) {
      return { body: await detailOf(call, await ownStrategy(call)) };
    },
  }),

  route({
    method: "DELETE",
    path: "/strategies/:strategyId/orders/:orderId",
    access: "TRADER",
    async answer(call) {
      const { strategyId } = await ownStrategy(call);
      const { desk, store } = call.parts.gateway;
      const { orderId, symbol } = await findOrder(call, strategyId);
      await auditCancel(call, strategyId, { orderId: String(orderId), symbol });
      carriedOut(await desk.execute(strategyId, { type: "CancelOrder", orderId }));
      const order = await store.findOrder(strategyId, { orderId, symbol });
      if (order === null) throw new Error(`an order that was placed stays: ${orderId}`);
      return { body: presentOrder(strategyId, order) };
    },
  }),

  route({
    method: "GET",
    path: "/strategies/:strategyId/legs",
    access: "TRADER",
    query: listed,
    async answer(call) {
      const { strategyId } = await ownStrategy(call);
      const { store } = call.parts.gateway;
      const { state, symbol, before } = call.query;
      const found =
        state === "all"
          ? await store.listRecentLegs(strategyId, { symbol, before, limit: PAGE_ROWS + 1 })
          : newestBefore(await openLegs(call, strategyId, symbol), ({ legId }) => legId, before);
      const body: PageShape<LegShape> = pageOf(found, {
        present: presentLeg,
        next: ({ legId }) => String(legId),
      });
      return { body };
    },
  }),

  route({
    method: "DELETE",
    path: "/strategies/:strategyId/legs/:legId",
    access: "TRADER",
    async answer(call) {
      const { strategyId } = await ownStrategy(call);
      const { desk, store } = call.parts.gateway;
      const legId = idOf(call.params.legId);
      const found = await store.findLeg(strategyId, { legId });
      if (found === null) throw new DashboardError("NOT_FOUND");
      await auditCancel(call, strategyId, { legId: String(legId), symbol: found.symbol });
      carriedOut(await desk.execute(strategyId, { type: "CancelLeg", legId }));
      const leg = await store.findLeg(strategyId, { legId });
      if (leg === null) throw new Error(`a leg that was placed stays: ${legId}`);
      return { body: presentLeg(leg) };
    },
  }),

  route({
    method: "GET",
    path: "/strategies/:strategyId/trades",
    access: "TRADER",
    query: recent,
    async answer(call) {
      const { strategyId } = await ownStrategy(call);
      const { symbol, before } = call.query;
      const query = { symbol, before, limit: PAGE_ROWS + 1 };
      const found = await call.parts.gateway.store.listRecentTrades(strategyId, query);
      const body: PageShape<TradeShape> = pageOf(found, {
        present: presentTrade,
        next: ({ tradeId }) => String(tradeId),
      });
      return { body };
    },
  }),
];

/** Of what is listed oldest first the newest that are older than `before`, one more than a page holds. */
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
  call: DashboardCall<null, null>,
  { strategyId, type }: OwnedStrategy,
): Promise<OrderDetailShape> {
  const { store, markets } = call.parts.gateway;
  const order = await findOrder(call, strategyId);
  const { orderId, symbol, clientOrderId } = order;
  const trades = await store.listTrades(strategyId, { symbol, orderId, limit: TRADES_OF_ORDER_MAX });
  const signal = isSignalId(clientOrderId)
    ? await store.findSignal(strategyId, { signalId: clientOrderId })
    : null;
  return {
    order: presentOrder(strategyId, order),
    trades: trades.map(presentTrade),
    legs: await legsOf(store, strategyId, order),
    signalId: signal?.signalId ?? null,
    history: await historyOf(store, strategyId, { order, trades, coins: markets[type].rules(symbol) }),
  };
}

async function legsOf(store: Pick<Store, "findLeg">, strategyId: string, { legs = [] }: Order) {
  const found = await Promise.all(legs.map(({ legId }) => store.findLeg(strategyId, { legId })));
  return found.flatMap((leg) => (leg === null ? [] : presentLeg(leg)));
}

async function findOrder({ parts, params }: DashboardCall<null, null>, strategyId: string) {
  const orderId = idOf(params.orderId);
  const order = await parts.gateway.store.findOrder(strategyId, { orderId });
  if (order === null) throw new DashboardError("NOT_FOUND");
  return order;
}

/** The number that a part of the path is. Throws NOT_FOUND for anything else. */
function idOf(text: string | undefined): number {
  const id = idText.safeParse(text);
  if (!id.success) throw new DashboardError("NOT_FOUND");
  return id.data;
}

/** Comes before what is asked for: nothing is done that the audit knows nothing of. */
async function auditCancel(
  call: DashboardCall<null, null>,
  strategyId: string,
  details: Readonly<Record<string, string>>,
): Promise<void> {
  await call.parts.gateway.store.people.audit({
    who: { kind: "PERSON", personId: personOf(call).personId },
    what: "ORDER_CANCEL_ASKED",
    about: { kind: "STRATEGY", id: strategyId },
    at: call.now,
    details,
  });
}
