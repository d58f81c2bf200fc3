// The life of a futures bot, which every stock client goes through: it learns the contract, sets it up, goes
// long, protects its position with legs, reduces and reverses it, is refused, and ends its strategy. One
// strategy lives through all of it, in this order, and its books (`futures-bot.ts`) are compared with its
// fills after each step.
import { beforeAll, describe, expect, test } from "vitest";
import type { Credentials } from "../support/servers/gateway.ts";
import { signed } from "../support/signed-client.ts";
import {
  errorOf,
  type FuturesClient,
  type Life,
  type NewContractOrder,
  type RefusalName,
  SYMBOL,
} from "./client.ts";
import { marginOf, percentOf } from "./contract-sums.ts";
import { futuresBot } from "./futures-bot.ts";
import { expectMarket } from "./market-facts.ts";

const LEVERAGE = 10;
const UNKNOWN_ID = 4_711;
/** More than the largest limit order. */
const TOO_LARGE = "1001";
/** A price at which the smallest order falls short of the contract's smallest notional. */
const NEXT_TO_NOTHING = "10000";
const ALL_CANCELED = { code: 200, msg: "The operation of cancel all open order is done." };

export function describeFuturesLife({ name, gateway, connect, expectRefusal }: Life<FuturesClient>): void {
  describe(`with ${name}, a futures bot`, () => {
    let strategy: Credentials;
    let client: FuturesClient;
    let bot: ReturnType<typeof futuresBot>;

    beforeAll(() => {
      strategy = gateway.takeFuturesStrategy();
      client = connect(strategy, gateway.url);
      bot = futuresBot(client);
    });

    async function refused(call: Promise<unknown>, name: RefusalName): Promise<void> {
      expectRefusal(await errorOf(call), name);
    }

    test("learns the contract", async () => {
      await expectMarket(client, {
        contractType: "PERPETUAL",
        marginAsset: "USDT",
        orderTypes: expect.arrayContaining(["STOP_MARKET", "TAKE_PROFIT_MARKET"]),
        filters: [
          { filterType: "PRICE_FILTER", tickSize: "0.10" },
          { filterType: "LOT_SIZE", minQty: "0.001", maxQty: "1000", stepSize: "0.001" },
          { filterType: "MIN_NOTIONAL", notional: "50" },
          { filterType: "MAX_NUM_ALGO_ORDERS" },
        ],
      });
      expect(await client.premium()).toMatchObject({
        symbol: SYMBOL,
        markPrice: expect.stringMatching(/^\d+\.\d{8}$/),
        lastFundingRate: expect.stringMatching(/^-?\d+\.\d{8}$/),
        nextFundingTime: expect.any(Number),
      });
      const settlements = await client.settlements(3);
      expect(settlements).toHaveLength(3);
      for (const row of settlements)
        expect(row).toMatchObject({ symbol: SYMBOL, fundingTime: expect.any(Number) });
      const [lowest, ...higher] = await client.brackets();
      expect(lowest).toMatchObject({
        bracket: 1,
        notionalFloor: 0,
        cum: 0,
        maintMarginRatio: expect.any(Number),
      });
      expect(higher.every(({ initialLeverage }) => initialLeverage < lowest.initialLeverage)).toBe(true);
    });

    test("starts with 1,000 USDT, one-way, and the fees of the specification", async () => {
      expect(await client.account()).toMatchObject({
        totalWalletBalance: "1000.00000000",
        availableBalance: "1000.00000000",
        assets: [{ asset: "USDT", walletBalance: "1000.00000000" }],
        positions: [],
      });
      expect(await client.balances()).toMatchObject([{ asset: "USDT", availableBalance: "1000.00000000" }]);
      expect(await client.isHedged()).toBe(false);
      expect(await client.fees()).toMatchObject({
        symbol: SYMBOL,
        makerCommissionRate: "0.0002",
        takerCommissionRate: "0.0005",
      });
      expect(await client.incomes()).toMatchObject([{ incomeType: "TRANSFER", income: "1000.00000000" }]);
      expect(await client.allOrders()).toEqual([]);
      await bot.expectBooks();
    });

    test("sets its leverage, and the only kind of margin that there is", async () => {
      expect(await client.setLeverage(LEVERAGE)).toMatchObject({
        symbol: SYMBOL,
        leverage: LEVERAGE,
        maxNotionalValue: expect.stringMatching(/^\d+$/),
      });
      expect(await client.setMarginType("ISOLATED")).toMatchObject({ code: 200 });
      await refused(client.setMarginType("CROSSED"), "CROSSED_MARGIN");
    });

    test("goes long at the market", async () => {
      const { price } = await bot.trade({ side: "BUY", quantity: "0.004" });
      await bot.expectBooks();
      const [position] = await client.positions();
      expect(position).toMatchObject({
        symbol: SYMBOL,
        positionSide: "BOTH",
        positionAmt: "0.004",
        leverage: String(LEVERAGE),
        liquidationPrice: expect.stringMatching(/^\d+(\.\d+)?$/),
      });
      expect(Number(position.liquidationPrice)).toBeLessThan(Number(price));
      expect(Number(position.liquidationPrice)).toBeGreaterThan(0.85 * Number(price));
    });

    test("rests a limit order with its margin locked, finds it by either id, and cancels it", async () => {
      const placed = await bot.restingBuy("0.003");
      expect(placed).toMatchObject({ status: "NEW", executedQty: "0.000", avgPrice: "0.00" });
      const { orderId, clientOrderId, price } = placed;
      await bot.expectBooks(marginOf(price, "0.003", LEVERAGE));
      const found = await client.query({ orderId });
      expect(found).toMatchObject({ orderId, clientOrderId, price, status: "NEW" });
      expect(await client.query({ origClientOrderId: clientOrderId })).toEqual(found);
      expect(await client.openOrders()).toEqual([found]);

      expect(await client.cancel({ orderId })).toMatchObject({ orderId, clientOrderId, status: "CANCELED" });
      bot.story.set(orderId, "CANCELED");
      expect(await client.openOrders()).toEqual([]);
      expect(await client.query({ orderId })).toMatchObject({ clientOrderId, status: "CANCELED" });
      await bot.expectBooks();
    });

    test("cancels an order by the client's own id, and all that are left at once", async () => {
      const { orderId, clientOrderId } = await bot.restingBuy("0.003");
      const canceled = await client.cancel({ origClientOrderId: clientOrderId });
      expect(canceled).toMatchObject({ orderId, status: "CANCELED" });
      const ids = [orderId, (await bot.restingBuy("0.003")).orderId, (await bot.restingBuy("0.002")).orderId];
      expect(await client.cancelAll()).toMatchObject(ALL_CANCELED);
      for (const id of ids) bot.story.set(id, "CANCELED");
      expect(await client.cancelAll()).toMatchObject(ALL_CANCELED);
      expect(await client.openOrders()).toEqual([]);
      await bot.expectBooks();
    });

    test("gets the first order again for a client order id that it repeats", async () => {
      const order: NewContractOrder = {
        side: "BUY",
        type: "MARKET",
        quantity: "0.002",
        newClientOrderId: client.newClientOrderId(),
      };
      const first = await bot.place(order);
      expect(first).toMatchObject({ status: "FILLED", clientOrderId: order.newClientOrderId });
      expect(await client.place(order)).toEqual(first);
      expect(await client.place({ ...order, quantity: "0.003" })).toEqual(first);
      expect((await client.trades()).filter(({ orderId }) => orderId === first.orderId)).toHaveLength(1);
      await bot.expectBooks();
    });

    test("protects its position with a stop and a take-profit, finds them by either id, and cancels them", async () => {
      const mark = await bot.markPrice();
      const stop = { side: "SELL", type: "STOP_MARKET", triggerPrice: percentOf(mark, 95n) } as const;
      const profit = {
        side: "SELL",
        type: "TAKE_PROFIT_MARKET",
        triggerPrice: percentOf(mark, 105n),
      } as const;
      const clientAlgoId = client.newClientOrderId();
      const legs = [await bot.placeLeg({ ...stop, clientAlgoId }), await bot.placeLeg(profit)];
      expect(legs[0]).toMatchObject({ clientAlgoId });
      expect(await client.openLegs()).toEqual(legs);
      for (const leg of legs) {
        expect(await client.queryLeg({ algoId: leg.algoId })).toEqual(leg);
        expect(await client.queryLeg({ clientAlgoId: leg.clientAlgoId })).toEqual(leg);
      }
      // They are no orders before they fire, and lock nothing.
      expect(await client.openOrders()).toEqual([]);
      await bot.expectBooks();

      expect(await client.placeLeg({ ...stop, clientAlgoId })).toEqual(legs[0]);
      await refused(client.placeLeg(stop), "LEG_EXISTS");
      await refused(client.placeLeg(profit), "LEG_EXISTS");

      const [first, second] = legs.map(({ algoId, clientAlgoId }) => ({ algoId, clientAlgoId }));
      const success = { code: "200", msg: "success" };
      expect(await client.cancelLeg({ algoId: first?.algoId })).toMatchObject({ ...first, ...success });
      await refused(client.cancelLeg({ algoId: first?.algoId }), "ORDER_OVER");
      const again = await bot.placeLeg(stop);
      expect(await client.cancelLeg({ clientAlgoId: second?.clientAlgoId })).toMatchObject({
        ...second,
        ...success,
      });
      expect(await client.cancelAllLegs()).toMatchObject(ALL_CANCELED);
      expect(await client.openLegs()).toEqual([]);
      expect((await client.allLegs()).map(({ algoId, algoStatus }) => [algoId, algoStatus])).toEqual(
        [...legs, again].map(({ algoId }) => [algoId, "CANCELED"]),
      );
    });

    test("reduces its position, and may not reduce what it does not hold", async () => {
      // Half of it, so that what is released of the entry is exact.
      await bot.trade({ side: "SELL", quantity: "0.003", reduceOnly: true });
      await bot.expectBooks();
      const buy = { side: "BUY", type: "MARKET", quantity: "0.002", reduceOnly: true } as const;
      await refused(client.place(buy), "REDUCE_ONLY_REJECTED");
    });

    test("is refused in the client's own words, and nothing is recorded", async () => {
      const before = await client.allOrders();
      const mark = await bot.markPrice();
      const limit = { side: "BUY", type: "LIMIT", price: percentOf(mark, 60n) } as const;
      const over = before.find(({ status }) => status === "FILLED");
      await refused(client.place({ side: "BUY", type: "MARKET", quantity: "100" }), "MARGIN_INSUFFICIENT");
      await refused(client.place({ ...limit, quantity: TOO_LARGE }), "QUANTITY_TOO_HIGH");
      const small = { ...limit, quantity: "0.001", price: NEXT_TO_NOTHING } as const;
      await refused(client.place(small), "NOTIONAL_TOO_SMALL");
      await refused(client.setLeverage(LEVERAGE - 1), "LEVERAGE_LOWERED");
      if (client.misplaceStop !== undefined) await refused(client.misplaceStop(), "STOP_MISPLACED");

      const stop = { side: "SELL", type: "STOP_MARKET" } as const;
      await refused(client.placeLeg({ ...stop, triggerPrice: percentOf(mark, 105n) }), "LEG_WOULD_TRIGGER");
      // On the side of the position itself there is nothing to close.
      const buy = { side: "BUY", type: "STOP_MARKET", triggerPrice: percentOf(mark, 105n) } as const;
      await refused(client.placeLeg(buy), "NO_POSITION");

      await refused(client.query({ orderId: UNKNOWN_ID }), "ORDER_UNKNOWN");
      await refused(client.query({ origClientOrderId: "nobodys" }), "ORDER_UNKNOWN");
      await refused(client.cancel({ orderId: UNKNOWN_ID }), "ORDER_UNKNOWN");
      await refused(client.cancel({ orderId: over.orderId }), "ORDER_OVER");
      await refused(client.queryLeg({ algoId: UNKNOWN_ID }), "ORDER_UNKNOWN");
      await refused(client.cancelLeg({ algoId: UNKNOWN_ID }), "ORDER_UNKNOWN");
      const stranger = connect({ ...strategy, apiSecret: "0".repeat(64) }, gateway.url);
      await refused(stranger.account(), "WRONG_SECRET");
      await refused(connect(gateway.takeStrategy(), gateway.url).account(), "OTHER_FAMILY");
      expect(await client.allOrders()).toEqual(before);
      expect(await client.openLegs()).toEqual([]);
      await bot.expectBooks();
    });

    test("turns its position round with one order", async () => {
      await bot.trade({ side: "SELL", quantity: "0.007" });
      await bot.expectBooks();
      const [position] = await client.positions();
      expect(position).toMatchObject({ positionAmt: "-0.004", notional: expect.stringMatching(/^-/) });
      expect(Number(position.liquidationPrice)).toBeGreaterThan(Number(position.entryPrice));
    });

    test("reads its history: every order with what became of it, and the fills behind it", async () => {
      const orders = await client.allOrders();
      expect(orders.map(({ orderId, status }) => [orderId, status])).toEqual([...bot.story]);
      const filled = orders.filter(({ status }) => status === "FILLED");
      expect(await client.trades()).toMatchObject(
        filled.map(({ orderId, side, executedQty, cumQuote, avgPrice }) => ({
          symbol: SYMBOL,
          orderId,
          side,
          positionSide: "BOTH",
          buyer: side === "BUY",
          qty: executedQty,
          quoteQty: cumQuote,
          price: avgPrice,
          commissionAsset: "USDT",
        })),
      );
      for (const fee of await client.fundingFees()) expect(fee).toMatchObject({ incomeType: "FUNDING_FEE" });
    });

    test("ends its strategy: orders and legs are cancelled, the position closed, writes refused, and reads go on", async () => {
      const rested = await bot.restingBuy("0.006");
      const triggerPrice = percentOf(await bot.markPrice(), 105n);
      const leg = await bot.placeLeg({ side: "BUY", type: "STOP_MARKET", triggerPrice });
      const close = () => signed(gateway.url, strategy, "POST", "/fapi/v1/platform/strategy/close");
      expect(await close()).toMatchObject({
        status: 200,
        body: { strategyId: strategy.strategyId, status: "CLOSED" },
      });

      const { orderId } = rested;
      expect(await client.query({ orderId })).toMatchObject({ orderId, status: "CANCELED" });
      expect(await client.queryLeg({ algoId: leg.algoId })).toMatchObject({ algoStatus: "CANCELED" });
      expect([await client.openOrders(), await client.openLegs()]).toEqual([[], []]);
      expect(await client.account()).toMatchObject({ canTrade: false, positions: [] });
      await bot.expectBooks();
      const fills = await client.trades();
      expect(fills.at(-1)).toMatchObject({ side: "BUY", qty: "0.004" });

      await refused(client.place({ side: "BUY", type: "MARKET", quantity: "0.002" }), "NOT_LIVE");
      await refused(client.placeLeg({ side: "BUY", type: "STOP_MARKET", triggerPrice }), "NOT_LIVE");
      await refused(client.cancel({ orderId }), "NOT_LIVE");
      await refused(client.cancelAll(), "NOT_LIVE");
      await refused(client.setLeverage(LEVERAGE), "NOT_LIVE");
      expect(await close()).toMatchObject({ status: 400, body: { code: -2010 } });
      expect(await client.trades()).toEqual(fills);
    });
  });
}
