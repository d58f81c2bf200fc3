// What an order under `strict` may become that no order under `standard` does, as every stock client reports
// it: a market order with several fills, an IOC order whose remainder expires, an open order that is filled
// in part, and a post-only refusal. The book is fixed (`strict-fixture.ts`), so all digits are known.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Credentials } from "../support/servers/gateway.ts";
import { errorOf, type FuturesClient, type Life, type SpotClient } from "./client.ts";
import { openStrictFixture, type StrictFixture } from "./strict-fixture.ts";

type StrictLife<Client> = Pick<Life<Client>, "name" | "connect" | "expectRefusal">;

export function describeStrictSpotLife({ name, connect, expectRefusal }: StrictLife<SpotClient>): void {
  describe(`with ${name}, a spot bot under strict`, () => {
    let fixture: StrictFixture;
    let strategy: Credentials;
    let client: SpotClient;

    beforeAll(async () => {
      fixture = await openStrictFixture();
    });
    afterAll(() => fixture?.close());
    beforeEach(async () => {
      strategy = await fixture.seed("SPOT");
      client = connect(strategy, fixture.url);
    });

    test("buys at the market from three levels: one order, three fills, the sum of them", async () => {
      const placed = await client.place({ side: "BUY", type: "MARKET", quantity: "0.0015" });
      const sums = { status: "FILLED", executedQty: "0.00150000", cummulativeQuoteQty: "90.00550000" };
      const levels = [
        { price: "60000.00000000", qty: "0.00050000", commission: "0.00000050" },
        { price: "60001.00000000", qty: "0.00050000", commission: "0.00000050" },
        { price: "60010.00000000", qty: "0.00050000", commission: "0.00000050" },
      ];
      expect(placed).toMatchObject(sums);
      const { orderId } = placed;
      expect(await client.query({ orderId })).toMatchObject(sums);
      const trades = levels.map((level) => ({ ...level, orderId, isMaker: false, isBuyer: true }));
      expect(await client.trades()).toMatchObject(trades);
      expect((await client.account()).balances).toEqual([
        { asset: "USDT", free: "109.99450000", locked: "0.00000000" },
        { asset: "BTC", free: "0.00149850", locked: "0.00000000" },
      ]);
    });

    test("places an IOC order that keeps what it took, while its remainder expires", async () => {
      const order = { side: "BUY", type: "LIMIT", timeInForce: "IOC", price: "60001" } as const;
      const placed = await client.place({ ...order, quantity: "0.002" });
      const ended = {
        ...{ status: "EXPIRED", timeInForce: "IOC", origQty: "0.00200000", executedQty: "0.00100000" },
        ...{ cummulativeQuoteQty: "60.00050000", expiryReason: "UNFILLED_IOC_QUANTITY_EXPIRED" },
      };
      expect(placed).toMatchObject(ended);
      expect(await client.query({ orderId: placed.orderId })).toMatchObject(ended);
      expect(await client.trades()).toHaveLength(2);
      expect(await client.openOrders()).toEqual([]);
    });

    test("has an order filled in part at once, further by a trade, and cancels the remainder", async () => {
      const order = { side: "BUY", type: "LIMIT", quantity: "0.002", price: "60001" } as const;
      const { orderId, ...placed } = await client.place(order);
      expect(placed).toMatchObject({ status: "PARTIALLY_FILLED", executedQty: "0.00100000" });
      expect(await client.openOrders()).toMatchObject([{ orderId, status: "PARTIALLY_FILLED" }]);
      await fixture.sell("SPOT", strategy, "60001", "0.0004");
      const partly = { status: "PARTIALLY_FILLED", executedQty: "0.00140000" };
      expect(await client.query({ orderId })).toMatchObject({ ...partly, isWorking: true });
      expect(await client.cancel({ orderId })).toMatchObject({ ...partly, status: "CANCELED", orderId });
      expect(await client.allOrders()).toMatchObject([{ ...partly, status: "CANCELED", orderId }]);
      const makers = (await client.trades()).map(({ isMaker }) => isMaker);
      expect(makers).toEqual([false, false, true]);
      expect((await client.account()).balances).toEqual([
        { asset: "USDT", free: "115.99910000", locked: "0.00000000" },
        { asset: "BTC", free: "0.00139860", locked: "0.00000000" },
      ]);
    });

    test("has a LIMIT_MAKER order open, or refused where it would take", async () => {
      const maker = { side: "BUY", type: "LIMIT_MAKER", quantity: "0.0005" } as const;
      expectRefusal(await errorOf(client.place({ ...maker, price: "60001" })), "LIMIT_MAKER_WOULD_TAKE");
      expect(await client.allOrders()).toEqual([]);
      const open = await client.place({ ...maker, price: "59990" });
      expect(open).toMatchObject({ status: "NEW", type: "LIMIT_MAKER", timeInForce: "GTC" });
      expect(await client.openOrders()).toMatchObject([{ orderId: open.orderId, type: "LIMIT_MAKER" }]);
    });
  });
}

export function describeStrictFuturesLife({ name, connect, expectRefusal }: StrictLife<FuturesClient>): void {
  describe(`with ${name}, a futures bot under strict`, () => {
    let fixture: StrictFixture;
    let strategy: Credentials;
    let client: FuturesClient;

    beforeAll(async () => {
      fixture = await openStrictFixture();
    });
    afterAll(() => fixture?.close());
    beforeEach(async () => {
      strategy = await fixture.seed("FUTURES");
      client = connect(strategy, fixture.url);
    });

    test("buys at the market from three levels: one order with one average price, three fills", async () => {
      const { orderId } = await client.place({ side: "BUY", type: "MARKET", quantity: "0.011" });
      // 660.0344 / 0.011 = 60003.12727…
      const sums = { status: "FILLED", executedQty: "0.011", cumQuote: "660.0344", avgPrice: "60003.1273" };
      expect(await client.query({ orderId })).toMatchObject(sums);
      expect(await client.trades()).toMatchObject([
        { orderId, price: "60000.10", qty: "0.004", quoteQty: "240.0004", maker: false },
        { orderId, price: "60001.00", qty: "0.004", quoteQty: "240.004", maker: false },
        { orderId, price: "60010.00", qty: "0.003", quoteQty: "180.03", maker: false },
      ]);
      expect(await client.positions()).toMatchObject([{ positionAmt: "0.011" }]);
    });

    test("places an IOC order that keeps what it took, while its remainder expires", async () => {
      const order = { side: "BUY", type: "LIMIT", timeInForce: "IOC", price: "60001" } as const;
      const { orderId } = await client.place({ ...order, quantity: "0.009" });
      expect(await client.query({ orderId })).toMatchObject({
        ...{ status: "EXPIRED", timeInForce: "IOC", origQty: "0.009", executedQty: "0.008" },
        ...{ avgPrice: "60000.55", expiryReason: "UNFILLED_IOC_QUANTITY_EXPIRED" },
      });
      expect(await client.trades()).toHaveLength(2);
      expect(await client.openOrders()).toEqual([]);
    });

    test("has an order filled in part at once, further by a trade, and cancels the remainder", async () => {
      const order = { side: "BUY", type: "LIMIT", quantity: "0.012", price: "60001" } as const;
      const { orderId } = await client.place(order);
      const partly = { orderId, status: "PARTIALLY_FILLED", executedQty: "0.008" };
      expect(await client.openOrders()).toMatchObject([partly]);
      await fixture.sell("FUTURES", strategy, "60001", "0.002");
      // 600.0064 / 0.010
      const further = { ...partly, executedQty: "0.010", avgPrice: "60000.64" };
      expect(await client.query({ orderId })).toMatchObject(further);
      expect(await client.cancel({ orderId })).toMatchObject({ ...further, status: "CANCELED" });
      expect(await client.allOrders()).toMatchObject([{ ...further, status: "CANCELED" }]);
      expect((await client.trades()).map(({ maker }) => maker)).toEqual([false, false, true]);
      expect(await client.positions()).toMatchObject([{ positionAmt: "0.010" }]);
    });

    test("has a GTX order open, or refused where it would take", async () => {
      const maker = { side: "BUY", type: "LIMIT", timeInForce: "GTX", quantity: "0.004" } as const;
      expectRefusal(await errorOf(client.place({ ...maker, price: "60001" })), "POST_ONLY_WOULD_TAKE");
      expect(await client.allOrders()).toEqual([]);
      const open = await client.place({ ...maker, price: "59990" });
      expect(open).toMatchObject({ status: "NEW", type: "LIMIT", timeInForce: "GTX" });
      expect(await client.openOrders()).toMatchObject([{ orderId: open.orderId, timeInForce: "GTX" }]);
    });
  });
}
