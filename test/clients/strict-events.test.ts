// The events of partial fills as stock clients of JavaScript report them, of strategies under `strict` on a
// book that is known to the digit (`strict-fixture.ts`). The orders are placed by the signed requests of any
// client.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StrategyType } from "../../src/domain/account.ts";
import { eventually } from "../support/eventually.ts";
import { Reports } from "../support/reports.ts";
import { stayOnLoopback } from "../support/servers/loopback-only.ts";
import { signed } from "../support/signed-client.ts";
import { SYMBOL, type Told } from "./client.ts";
import { openStrictFixture, type StrictFixture } from "./strict-fixture.ts";
import {
  apiNodeFutures,
  apiNodeSpot,
  binanceFutures,
  binanceSpot,
  nodeBinanceFutures,
  nodeBinanceSpot,
  type OpenUserData,
} from "./user-data.ts";

stayOnLoopback();

let fixture: StrictFixture;

beforeAll(async () => {
  fixture = await openStrictFixture();
});
afterAll(() => fixture?.close());

/**
 * What every client says of an order's event: the fill, the sum of all so far and, of futures, their average
 * price.
 */
type Report = {
  readonly what: string;
  readonly quantity: number;
  readonly price: number;
  readonly sum: number;
  readonly average?: number;
};

/** The order of an event, in the exchange's names; null for other events. */
function orderIn(event: Told): Told {
  if (event.e === "executionReport") return event;
  if (event.e === "ORDER_TRADE_UPDATE") return event.o;
  if (!["executionReport", "ORDER_TRADE_UPDATE"].includes(event.eventType)) return null;
  // The names of binance-api-node.
  const { executionType: x, orderStatus: X, orderId: i, lastTradeQuantity: l, priceLastTrade: L } = event;
  return { x, X, i, l, L, z: event.totalTradeQuantity, ap: event.averagePrice };
}

describe.each<[client: string, type: StrategyType, open: OpenUserData]>([
  ["binance", "SPOT", binanceSpot],
  ["node-binance-api", "SPOT", nodeBinanceSpot],
  ["binance-api-node", "SPOT", apiNodeSpot],
  ["binance", "FUTURES", binanceFutures],
  ["node-binance-api", "FUTURES", nodeBinanceFutures],
  ["binance-api-node", "FUTURES", apiNodeFutures],
])("%s on a %s strategy under strict reports", (_client, type, open) => {
  const isSpot = type === "SPOT";
  const path = isSpot ? "/api/v3/order" : "/fapi/v1/order";
  const BUY = { symbol: SYMBOL, side: "BUY" };

  /**
   * Follows a new strategy while an act is done; answers what was reported of the last order, up to its end.
   */
  async function reportsOf(
    act: (
      ask: (method: string, parameters: Told) => Promise<Told>,
      sell: (price: string, quantity: string) => Promise<void>,
      reported: (status: string) => Promise<unknown>,
    ) => Promise<void>,
    end: string,
  ): Promise<Report[]> {
    const strategy = await fixture.seed(type);
    const reports = new Reports();
    const ask = async (method: string, parameters: Told) => {
      const answer = await signed(fixture.url, strategy, method, path, { symbol: SYMBOL, ...parameters });
      expect(answer).toMatchObject({ status: 200 });
      return answer.body;
    };
    const { close } = await open(strategy, fixture.url, reports.take);
    try {
      // Some clients do not say when they have subscribed.
      const far = { ...BUY, type: "LIMIT", timeInForce: "GTC", price: "59000", quantity: "0.001" };
      const probe = async () => {
        const { orderId } = await ask("POST", far);
        await ask("DELETE", { orderId });
        return reports.all.length > 0;
      };
      await eventually("an order is reported", probe, { askAgainMs: 200 });
      const before = (await ask("POST", far)).orderId;
      await ask("DELETE", { orderId: before });
      const isOwn = (event: Told) => Number(orderIn(event)?.i) > Number(before);
      const reported = (status: string) =>
        reports.first((event) => isOwn(event) && orderIn(event).X === status);
      await act(ask, (price, quantity) => fixture.sell(type, strategy, price, quantity), reported);
      await reported(end);
      return reports.all.filter(isOwn).map((event) => {
        const { x, X, l, L, z, ap } = orderIn(event);
        const fill = { quantity: Number(l), price: Number(L), sum: Number(z) };
        return { what: `${x} ${X}`, ...fill, ...(isSpot ? {} : { average: Number(ap) }) };
      });
    } finally {
      await close();
    }
  }

  test("each fill of a market order that takes three levels", async () => {
    const quantity = isSpot ? "0.0015" : "0.011";
    const reports = await reportsOf(async (ask) => {
      await ask("POST", { ...BUY, type: "MARKET", quantity });
    }, "FILLED");
    expect(reports.map(({ what }) => what)).toEqual([
      ...["NEW NEW", "TRADE PARTIALLY_FILLED", "TRADE PARTIALLY_FILLED", "TRADE FILLED"],
    ]);
    expect(reports.slice(1)).toMatchObject(
      isSpot
        ? [
            { quantity: 0.0005, price: 60_000, sum: 0.0005 },
            { quantity: 0.0005, price: 60_001, sum: 0.001 },
            { quantity: 0.0005, price: 60_010, sum: 0.0015 },
          ]
        : [
            { quantity: 0.004, price: 60_000.1, sum: 0.004, average: 60_000.1 },
            { quantity: 0.004, price: 60_001, sum: 0.008, average: 60_000.55 },
            { quantity: 0.003, price: 60_010, sum: 0.011, average: 60_003.1273 },
          ],
    );
  });

  test("the expiry of what an IOC order did not find", async () => {
    const order = { ...BUY, type: "LIMIT", timeInForce: "IOC", price: "60001" };
    const reports = await reportsOf(async (ask) => {
      await ask("POST", { ...order, quantity: isSpot ? "0.002" : "0.009" });
    }, "EXPIRED");
    expect(reports.map(({ what }) => what)).toEqual([
      ...["NEW NEW", "TRADE PARTIALLY_FILLED", "TRADE PARTIALLY_FILLED", "EXPIRED EXPIRED"],
    ]);
    expect(reports.at(-1)).toMatchObject({ quantity: 0, sum: isSpot ? 0.001 : 0.008 });
  });

  test("the fills of an open order one by one, and that it is canceled with them", async () => {
    const order = { ...BUY, type: "LIMIT", timeInForce: "GTC", price: "60001" };
    const reports = await reportsOf(async (ask, sell, reported) => {
      const { orderId } = await ask("POST", { ...order, quantity: isSpot ? "0.002" : "0.012" });
      await reported("PARTIALLY_FILLED");
      await sell("60001", isSpot ? "0.0004" : "0.002");
      await ask("DELETE", { orderId });
    }, "CANCELED");
    expect(reports.map(({ what }) => what)).toEqual([
      "NEW NEW",
      ...["TRADE PARTIALLY_FILLED", "TRADE PARTIALLY_FILLED", "TRADE PARTIALLY_FILLED"],
      "CANCELED CANCELED",
    ]);
    const sums = reports.map(({ sum }) => sum);
    expect(sums).toEqual(isSpot ? [0, 0.0005, 0.001, 0.0014, 0.0014] : [0, 0.004, 0.008, 0.01, 0.01]);
  });
});
