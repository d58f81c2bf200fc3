// The life of a spot bot, which every stock client goes through: it learns the market, trades, queries its
// orders, is refused, and ends its strategy. One strategy lives through all of it, in this order.
// Whatever the market does, the digits follow: balances from the fills, the locked amounts from the open
// orders.
import { beforeAll, describe, expect, test } from "vitest";
import {
  balancesAfter,
  costOf,
  decimalText,
  expectedFill,
  farAbove,
  farBelow,
  units,
} from "../support/exact.ts";
import type { Credentials } from "../support/servers/gateway.ts";
import { signed } from "../support/signed-client.ts";
import {
  errorOf,
  type Life,
  type NewOrder,
  type RefusalName,
  type SpotClient,
  SYMBOL,
  type Told,
} from "./client.ts";
import { expectMarket } from "./market-facts.ts";

const NOTHING = "0.00000000";
const UNKNOWN_ID = 4_711;
/** More than the largest order, on the step: clients that round quantities leave it alone. */
const TOO_LARGE = "9001";

export function describeSpotLife({ name, gateway, connect, expectRefusal }: Life<SpotClient>): void {
  describe(`with ${name}, a spot bot`, () => {
    let strategy: Credentials;
    let client: SpotClient;
    /** Every order so far, as the history should show it. */
    const story = new Map<number, string>();

    beforeAll(() => {
      strategy = gateway.takeStrategy();
      client = connect(strategy, gateway.url);
    });

    async function place(order: NewOrder): Promise<Told> {
      const placed = await client.place(order);
      expect(placed).toMatchObject({
        symbol: SYMBOL,
        orderListId: -1,
        side: order.side,
        type: order.type,
        timeInForce: "GTC",
        price: order.price ?? NOTHING,
        stopPrice: order.stopPrice ?? NOTHING,
        origQuoteOrderQty: order.quoteOrderQty ?? NOTHING,
      });
      if (order.quantity !== undefined) expect(placed.origQty).toBe(order.quantity);
      story.set(placed.orderId, placed.status);
      return placed;
    }

    async function cancel({ orderId, clientOrderId }: Told): Promise<void> {
      const canceled = await client.cancel({ orderId });
      expect(canceled).toMatchObject({ orderId, status: "CANCELED", origClientOrderId: clientOrderId });
      story.set(orderId, "CANCELED");
    }

    async function refused(call: Promise<unknown>, name: RefusalName): Promise<void> {
      expectRefusal(await errorOf(call), name);
    }

    async function expectBalances(locked: { base?: bigint; quote?: bigint } = {}): Promise<void> {
      const fills = await client.trades();
      for (const fill of fills) expect(fill).toMatchObject(expectedFill(fill));
      const total = balancesAfter(fills);
      const { balances } = await client.account();
      const row = (asset: string, amount: string, held = 0n) => ({
        asset,
        free: decimalText(units(amount) - held),
        locked: decimalText(held),
      });
      expect(balances).toContainEqual(row("USDT", total.quote, locked.quote));
      if (fills.length > 0) expect(balances).toContainEqual(row("BTC", total.base, locked.base));
    }

    async function restingBuy(quantity: string): Promise<Told> {
      const { askPrice } = await client.bookTicker();
      return await place({ side: "BUY", type: "LIMIT", quantity, price: farBelow(askPrice) });
    }

    test("learns the market", async () => {
      await expectMarket(client, {
        filters: [
          { filterType: "PRICE_FILTER", tickSize: "0.01000000" },
          { filterType: "LOT_SIZE", minQty: "0.00001000", stepSize: "0.00001000" },
          { filterType: "NOTIONAL", minNotional: "5.00000000" },
        ],
      });
    });

    test("starts with 200 USDT and the fees of the specification", async () => {
      expect(await client.account()).toMatchObject({
        makerCommission: 10,
        takerCommission: 10,
        canTrade: true,
        balances: [{ asset: "USDT", free: "200.00000000", locked: NOTHING }],
      });
      expect(await client.allOrders()).toEqual([]);
    });

    test("buys at the market, by quantity and by cost", async () => {
      const bought = await place({ side: "BUY", type: "MARKET", quantity: "0.00100000" });
      expect(bought).toMatchObject({ status: "FILLED", executedQty: "0.00100000", isWorking: true });
      expect(bought).not.toHaveProperty("fills");
      await expectBalances();

      const byCost = await place({ side: "BUY", type: "MARKET", quoteOrderQty: "20.00000000" });
      const [, fill] = await client.trades();
      // The largest quantity on the step that the cost buys.
      const step = units("0.00001");
      const affordable = (units("20") * 10n ** 8n) / units(fill.price) / step;
      expect(fill).toMatchObject({ orderId: byCost.orderId, qty: decimalText(affordable * step) });
      expect(byCost).toMatchObject({
        status: "FILLED",
        origQty: fill.qty,
        executedQty: fill.qty,
        cummulativeQuoteQty: fill.quoteQty,
      });
      await expectBalances();
    });

    test("rests a limit order with its funds locked, finds it by either id, and cancels it", async () => {
      const placed = await restingBuy("0.00100000");
      expect(placed).toMatchObject({ status: "NEW", executedQty: NOTHING, isWorking: true });
      const { orderId, clientOrderId, price } = placed;
      await expectBalances({ quote: costOf(price, "0.001") });
      const found = await client.query({ orderId });
      expect(found).toMatchObject({ orderId, clientOrderId, price, status: "NEW" });
      expect(await client.query({ origClientOrderId: clientOrderId })).toEqual(found);
      expect(await client.openOrders()).toEqual([found]);

      await cancel(placed);
      expect(await client.openOrders()).toEqual([]);
      expect(await client.query({ orderId })).toMatchObject({ clientOrderId, status: "CANCELED" });
      await expectBalances();
    });

    test("cancels an order by the client's own id", async () => {
      const { orderId, clientOrderId } = await restingBuy("0.00050000");
      const canceled = await client.cancel({ origClientOrderId: clientOrderId });
      expect(canceled).toMatchObject({ orderId, status: "CANCELED", origClientOrderId: clientOrderId });
      story.set(orderId, "CANCELED");
    });

    test("cancels all its orders of a symbol", async () => {
      const ids = [(await restingBuy("0.00050000")).orderId, (await restingBuy("0.00030000")).orderId];
      const canceled = await client.cancelAll();
      expect(canceled).toMatchObject(ids.map((orderId) => ({ orderId, status: "CANCELED" })));
      for (const orderId of ids) story.set(orderId, "CANCELED");
      expect(await client.cancelAll()).toEqual([]);
      expect(await client.openOrders()).toEqual([]);
      await expectBalances();
    });

    test("gets the first order again for a client order id that it repeats", async () => {
      const order: NewOrder = {
        side: "BUY",
        type: "MARKET",
        quantity: "0.00020000",
        newClientOrderId: client.newClientOrderId(),
      };
      const first = await place(order);
      expect(first).toMatchObject({ status: "FILLED", clientOrderId: order.newClientOrderId });
      expect(await client.place(order)).toEqual(first);
      expect(await client.place({ ...order, quantity: "0.00030000" })).toEqual(first);
      expect((await client.trades()).filter(({ orderId }) => orderId === first.orderId)).toHaveLength(1);
      await expectBalances();
    });

    test("sells what it bought", async () => {
      const sold = await place({ side: "SELL", type: "MARKET", quantity: "0.00080000" });
      expect(sold).toMatchObject({ status: "FILLED", executedQty: "0.00080000" });
      expect((await client.trades()).at(-1)).toMatchObject({ isBuyer: false, commissionAsset: "USDT" });
      await expectBalances();
    });

    test("places stops on both sides, sees them wait with their funds locked, and cancels them", async () => {
      const { bidPrice, askPrice } = await client.bookTicker();
      const below = farBelow(bidPrice);
      const above = farAbove(askPrice);
      const quantity = "0.00020000";
      const stops = [
        await place({ side: "SELL", type: "STOP_LOSS_LIMIT", quantity, price: below, stopPrice: below }),
        await place({ side: "SELL", type: "STOP_LOSS", quantity, stopPrice: below }),
        await place({ side: "BUY", type: "STOP_LOSS_LIMIT", quantity, price: above, stopPrice: above }),
        await place({ side: "BUY", type: "STOP_LOSS", quantity, stopPrice: above }),
      ];
      const open = await client.openOrders();
      expect(open).toMatchObject(
        stops.map(({ orderId, type, stopPrice }) => ({
          orderId,
          type,
          stopPrice,
          status: "NEW",
          isWorking: false,
          executedQty: NOTHING,
        })),
      );
      for (const stop of open) expect(await client.query({ orderId: stop.orderId })).toEqual(stop);
      await expectBalances({ base: 2n * units(quantity), quote: 2n * costOf(above, quantity) });

      for (const stop of stops) await cancel(stop);
      expect(await client.openOrders()).toEqual([]);
      await expectBalances();
    });

    test("is refused in the client's own words, and nothing is recorded", async () => {
      const before = await client.allOrders();
      const { askPrice } = await client.bookTicker();
      const limit = { side: "BUY", type: "LIMIT", price: farBelow(askPrice) } as const;
      const over = before.find(({ status }) => status === "FILLED");
      await refused(client.place({ side: "BUY", type: "MARKET", quantity: "1" }), "INSUFFICIENT_BALANCE");
      await refused(client.place({ ...limit, quantity: TOO_LARGE }), "LOT_SIZE");
      await refused(client.query({ orderId: UNKNOWN_ID }), "ORDER_UNKNOWN");
      await refused(client.query({ origClientOrderId: "nobodys" }), "ORDER_UNKNOWN");
      await refused(client.cancel({ orderId: UNKNOWN_ID }), "ORDER_UNKNOWN");
      await refused(client.cancel({ orderId: over.orderId }), "ORDER_OVER");
      const stranger = connect({ ...strategy, apiSecret: "0".repeat(64) }, gateway.url);
      await refused(stranger.account(), "WRONG_SECRET");
      expect(await client.allOrders()).toEqual(before);
      await expectBalances();
    });

    test("is refused a stop on the wrong side of the market", async () => {
      const { askPrice } = await client.bookTicker();
      const stop = { side: "SELL", type: "STOP_LOSS", quantity: "0.00020000" } as const;
      await refused(client.place({ ...stop, stopPrice: farAbove(askPrice) }), "STOP_WOULD_TRIGGER");
    });

    test("reads its history: every order with what became of it, and the fills behind it", async () => {
      const orders = await client.allOrders();
      expect(orders.map(({ orderId, status }) => [orderId, status])).toEqual([...story]);
      const trades = await client.trades();
      const filled = orders.filter(({ status }) => status === "FILLED");
      expect(trades).toMatchObject(
        filled.map(({ orderId, side, executedQty, cummulativeQuoteQty }) => ({
          symbol: SYMBOL,
          orderId,
          isBuyer: side === "BUY",
          isMaker: false,
          qty: executedQty,
          quoteQty: cummulativeQuoteQty,
        })),
      );
    });

    test("ends its strategy: orders are cancelled, holdings sold, writes refused, and reads go on", async () => {
      const rested = await restingBuy("0.00050000");
      const { bidPrice } = await client.bookTicker();
      const stopPrice = farBelow(bidPrice);
      const stop = await place({ side: "SELL", type: "STOP_LOSS", quantity: "0.00020000", stopPrice });
      const close = () => signed(gateway.url, strategy, "POST", "/api/v3/platform/strategy/close");
      expect(await close()).toMatchObject({
        status: 200,
        body: { strategyId: strategy.strategyId, status: "CLOSED" },
      });

      for (const { orderId } of [rested, stop]) {
        expect(await client.query({ orderId })).toMatchObject({ orderId, status: "CANCELED" });
      }
      expect(await client.openOrders()).toEqual([]);
      expect(await client.account()).toMatchObject({ canTrade: false });
      await expectBalances();
      const fills = await client.trades();
      expect(fills.at(-1)).toMatchObject({ isBuyer: false });
      expect(units(balancesAfter(fills).base)).toBeLessThan(units("0.00001"));

      await refused(client.place({ side: "BUY", type: "MARKET", quantity: "0.0002" }), "NOT_LIVE");
      await refused(client.cancel({ orderId: rested.orderId }), "NOT_LIVE");
      await refused(client.cancelAll(), "NOT_LIVE");
      expect(await close()).toMatchObject({ status: 400, body: { code: -2010 } });
      expect(await client.trades()).toEqual(fills);
    });
  });
}
