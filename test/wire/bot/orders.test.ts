// Cancelling by collective id and closing the strategy, both as often as one likes.
// Source: specification 3.3, 4.4 and 7.2; design, section 6.
import { describe, expect, onTestFinished, test } from "vitest";
import { StubMarket } from "../../../src/desk/testing/fixture.ts";
import { botClient } from "../../support/bot-client.ts";
import { misfits } from "../../support/bot-shapes.ts";
import type { RawAnswer } from "../../support/raw.ts";
import { openInProcess } from "../../support/servers/in-process.ts";
import { seededGateway } from "../../support/servers/seeded-gateway.ts";
import { restingPriceOf, spotTrader } from "../../support/spot-trader.ts";

const gateway = seededGateway(16);
const CANCEL = "/bot/v1/spot/orders/cancel";
const CLOSE = "/bot/v1/spot/strategy/close";
const BUY = { symbol: "BTCUSDT", tradeType: "BUY", quantity: "0.001" };

function takeBot(strategy = gateway.takeStrategy()) {
  const bot = botClient(gateway.url, strategy);
  return { ...bot, strategy, trader: spotTrader(gateway.url, strategy) };
}

/** A bot with an open order. */
async function restingBot() {
  const bot = takeBot();
  const price = await restingPriceOf(gateway.url);
  const { collectiveId, signalId } = (await bot.submit({ ...BUY, orderType: "LIMIT", price }, "resting"))
    .body;
  return { ...bot, collectiveId: String(collectiveId), signalId };
}

const refused = (status: number, message: string) => ({ status, body: { status: false, message } });
const seen = ({ status, body }: RawAnswer) => ({ status, body });
const NOT_FOUND = refused(404, "Order not found");

describe("POST /bot/v1/spot/orders/cancel", () => {
  test("cancels the order and answers with it", async () => {
    const { cancel, collectiveId, signalId, trader } = await restingBot();
    const answer = await cancel(collectiveId);
    expect(misfits("POST", CANCEL, answer)).toEqual([]);
    expect(answer).toMatchObject({
      status: 200,
      body: {
        status: true,
        message: "Order cancelled",
        data: { collectiveId, clientOrderId: signalId, status: "CANCELED" },
      },
    });
    expect((await trader.openOrders()).body).toEqual([]);
  });

  test("repeated does nothing and says so", async () => {
    const { cancel, collectiveId } = await restingBot();
    const first = await cancel(collectiveId);
    for (const again of [await cancel(collectiveId), await cancel(collectiveId.toUpperCase())]) {
      expect(seen(again)).toEqual({
        status: 200,
        body: { ...first.body, message: "Order already cancelled" },
      });
    }
  });

  test("of a filled order answers with its message, not with an error", async () => {
    const { submit, cancel } = takeBot();
    const { collectiveId, result } = (await submit(BUY, "a")).body;
    expect(seen(await cancel(collectiveId))).toEqual({
      status: 200,
      body: { status: true, message: "Order already filled", data: result.data },
    });
  });

  test("cancels an order that was placed on the exchange-style routes, too", async () => {
    const { cancel, trader } = takeBot();
    const price = await restingPriceOf(gateway.url);
    const limit = {
      symbol: "BTCUSDT",
      side: "BUY",
      type: "LIMIT",
      timeInForce: "GTC",
      quantity: "0.001",
      price,
    };
    const { collectiveId } = (await trader.place(limit)).body;
    expect((await cancel(collectiveId)).body.message).toBe("Order cancelled");
  });

  test("sent ten times at once cancels once, and none is an error", async () => {
    const { cancel, collectiveId } = await restingBot();
    const answers = await Promise.all(Array.from({ length: 10 }, () => cancel(collectiveId)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(answers.filter(({ body }) => body.message === "Order cancelled")).toHaveLength(1);
    expect(answers.filter(({ body }) => body.message === "Order already cancelled")).toHaveLength(9);
  });

  test("of another strategy's order, or of none, answers 404", async () => {
    const { collectiveId } = await restingBot();
    const { cancel, submit } = takeBot();
    const own = (await submit(BUY, "a")).body.collectiveId;
    expect(seen(await cancel(collectiveId))).toEqual(NOT_FOUND);
    expect(seen(await cancel("7d0f5f0e-6c0b-4c6e-9f57-0f6f3c0f8f11"))).toEqual(NOT_FOUND);
    expect(seen(await cancel("ffffffff-ffff-ffff-ffff-ffffffffffff"))).toEqual(NOT_FOUND);
    // The right digest with the number of another order, and the other way round.
    expect(seen(await cancel(own.replace(/1$/, "2")))).toEqual(NOT_FOUND);
    expect(seen(await cancel(own.replace(/^./, (digit: string) => (digit === "0" ? "1" : "0"))))).toEqual(
      NOT_FOUND,
    );
  });

  test("with a body that is not what it must be answers 400", async () => {
    const { post } = await restingBot();
    const cases: readonly (readonly [unknown, string])[] = [
      [undefined, "The body is not JSON"],
      ["{", "The body is not JSON"],
      ["[]", "The body is not a JSON object"],
      [{}, "collectiveId is missing"],
      [{ collectiveId: 1 }, "collectiveId must be a UUID"],
      [{ collectiveId: null }, "collectiveId must be a UUID"],
      [{ collectiveId: "1" }, "collectiveId must be a UUID"],
      [{ collectiveId: "' OR '1'='1" }, "collectiveId must be a UUID"],
      [{ orderId: 1 }, "orderId is not a field of this body"],
      [
        { collectiveId: "7d0f5f0e-6c0b-4c6e-9f57-0f6f3c0f8f11", symbol: "BTCUSDT" },
        "symbol is not a field of this body",
      ],
    ];
    for (const [body, message] of cases)
      expect(seen(await post(CANCEL, body))).toEqual(refused(400, message));
  });

  test("on a strategy that is not LIVE is refused 400", async () => {
    const { cancel, close, collectiveId } = await restingBot();
    await close();
    expect(seen(await cancel(collectiveId))).toEqual(refused(400, "Strategy not live"));
  });
});

describe("POST /bot/v1/spot/strategy/close", () => {
  test("closes the strategy permanently, and later answers say so", async () => {
    const { close, submit, strategy, trader } = await restingBot();
    await submit(BUY, "a");
    const { strategyId } = strategy;
    const answer = await close();
    expect(misfits("POST", CLOSE, answer)).toEqual([]);
    expect(seen(answer)).toEqual({
      status: 200,
      body: { status: true, message: "Strategy closed", data: { strategyId, status: "CLOSED" } },
    });
    expect((await trader.openOrders()).body).toEqual([]);
    const { canTrade, balances } = (await trader.account()).body;
    expect(canTrade).toBe(false);
    const btc = balances.find(({ asset }: { asset: string }) => asset === "BTC");
    expect(Number(btc?.free)).toBeLessThan(0.00001);
    expect(
      (await trader.place({ symbol: "BTCUSDT", side: "BUY", type: "MARKET", quantity: "0.001" })).body.msg,
    ).toBe("Strategy not live");
  });

  test("repeated answers that it is closed already", async () => {
    const { close, strategy } = takeBot();
    await close();
    const { strategyId } = strategy;
    for (const again of [await close(), await close()]) {
      expect(seen(again)).toEqual({
        status: 200,
        body: { status: true, message: "Strategy already closed", data: { strategyId, status: "CLOSED" } },
      });
    }
  });

  test("sent five times at once closes once", async () => {
    const { close } = takeBot();
    const answers = await Promise.all(Array.from({ length: 5 }, () => close()));
    expect(answers.map(({ body }) => body.message).sort()).toEqual([
      ...Array<string>(4).fill("Strategy already closed"),
      "Strategy closed",
    ]);
  });

  test("takes an empty body or {}, and refuses anything else before anything is closed", async () => {
    const { post, trader } = takeBot();
    expect(seen(await post(CLOSE, "{"))).toEqual(refused(400, "The body is not JSON"));
    expect(seen(await post(CLOSE, []))).toEqual(refused(400, "The body is not a JSON object"));
    expect(seen(await post(CLOSE, { strategyId: "other" }))).toEqual(
      refused(400, "strategyId is not a field of this body"),
    );
    expect((await trader.account()).body.canTrade).toBe(true);
    expect((await post(CLOSE)).status).toBe(200);
  });

  test("with an unsold holding names it, may be repeated, and completes when the market is back", async () => {
    const market = new StubMarket();
    const inProcess = await openInProcess({ SPOT: market });
    onTestFinished(() => inProcess.close());
    const strategy = await inProcess.seed("SPOT");
    const bot = inProcess.botOf(strategy);
    await bot.submit({ ...BUY, quantity: "0.1" }, "a");
    market.silence("BTCUSDT");
    const { strategyId } = strategy;
    for (const answer of [await bot.close(), await bot.close()]) {
      expect(misfits("POST", CLOSE, answer)).toEqual([]);
      expect(seen(answer)).toEqual({
        status: 200,
        body: {
          status: true,
          message:
            "Strategy closing, BTCUSDT waiting for its market: it goes on by itself, and asking again is safe",
          data: { strategyId, status: "CLOSING" },
        },
      });
    }
    expect(seen(await bot.submit(BUY, "b"))).toEqual(refused(400, "Strategy not live"));
    market.show("BTCUSDT", "99", "100");
    expect((await bot.close()).body).toMatchObject({
      message: "Strategy closed",
      data: { status: "CLOSED" },
    });
    expect((await bot.close()).body.message).toBe("Strategy already closed");
  });
});
