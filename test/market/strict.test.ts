// A strategy under `strict` on the simulated exchange, from HTTP to the receipts: an order that waits in its
// queue is filled in parts, each backed by trades of the market. Real sockets and a real database; the time
// is moved by hand.
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { checkReceipts } from "../../src/cli/receipt-check.ts";
import { readReceipts } from "../../src/cli/receipt-file.ts";
import { STRICT_DEFAULTS, strictProfile } from "../../src/engine/matching/terms.ts";
import { openSimulatedFixture, SEED } from "../../src/market/client/testing/simulated-fixture.ts";
import { until } from "../../src/market/client/testing/upstream.ts";
import { createSimulatedSources } from "../../src/market/simulated/source.ts";
import { decimal, formatDecimal } from "../../src/money/decimal.ts";
import { Triggers } from "../../src/triggers/triggers.ts";
import { openOwnGateway } from "../support/servers/own-gateway.ts";
import { signed } from "../support/signed-client.ts";

const symbol = "DOGEUSDT";
const source = createSimulatedSources(String(SEED)).SPOT;

const STEP_MS = 100;
/** Half a minute of the market. */
const STEPS_MAX = 300;
/** About one order in four is filled in parts. */
const ATTEMPTS_MAX = 40;

// biome-ignore lint/suspicious/noExplicitAny: the wire's own bodies.
type Body = any;

test("an order at the best bid is filled in parts, each of them backed by what the market displayed or traded", async () => {
  const { feed, pass, time, answerOf } = await openSimulatedFixture("SPOT");
  let requests = 0;
  const wallNow = () => Date.UTC(2026, 0, 1) + requests * 60_000;
  const own = await openOwnGateway({ SPOT: feed, FUTURES: feed }, wallNow);
  const { desk, store } = own.gateway;
  const log = pino({ level: "silent" });
  const triggers = new Triggers({ type: "SPOT", desk, store, market: feed, timers: time, log });
  const { server, url } = await own.serve();
  onTestFinished(async () => {
    await server.close();
    await triggers.close();
    await own.close();
  });
  await triggers.open();
  await answerOf(Promise.resolve(feed.prepare(symbol)));
  await answerOf(Promise.resolve(feed.prepareBook(symbol)));
  const profile = strictProfile("SPOT", { ...STRICT_DEFAULTS, latency: 0 });
  if (profile === null) throw new Error("the first tier is always known");
  const tradedBy = new Map<string, bigint>();
  let isFilledInParts = false;
  for (let attempt = 0; attempt < ATTEMPTS_MAX && !isFilledInParts; attempt += 1) {
    const strategy = await own.seed("SPOT", profile);
    const call = async (method: string, path: string, parameters: Record<string, string> = {}) => {
      requests += 1;
      const answer = await signed(url, strategy, method, path, {
        symbol,
        ...parameters,
        timestamp: wallNow(),
      });
      expect(answer).toMatchObject({ status: 200 });
      return answer.body as Body;
    };
    await pass(STEP_MS);
    const [best] = feed.book(symbol)?.displayed("BID") ?? [];
    if (best === undefined) throw new Error("the book is known");
    const order = { side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: "2000" };
    const placed = await call("POST", "/api/v3/order", { ...order, price: formatDecimal(best.price) });
    const statuses: string[] = [placed.status];
    for (let step = 0; step < STEPS_MAX && statuses.at(-1) !== "FILLED"; step += 1) {
      await pass(STEP_MS);
      await until(() => desk.waitingCount() === 0);
      const { status } = await call("GET", "/api/v3/order", { orderId: `${placed.orderId}` });
      if (status !== statuses.at(-1)) statuses.push(status);
    }
    const trades: Body[] = await call("GET", "/api/v3/myTrades");
    const receipts: Body[] = await call("GET", "/api/v3/platform/fillReceipts");
    expect(receipts.map(({ tradeId }) => tradeId)).toEqual(trades.map(({ id }) => id));
    const findings = await checkReceipts(
      readReceipts([{ name: "receipts", text: JSON.stringify(receipts) }]),
      null,
    );
    expect(findings.flatMap(({ wrong, unknown }) => [...wrong, ...unknown])).toEqual([]);
    for (const [index, { marketTrade, levels }] of receipts.entries()) {
      const quantity = decimal(trades[index].qty);
      expect(trades[index]).toMatchObject({ price: placed.price, isMaker: true });
      if (marketTrade === null) {
        expect(quantity).toBeLessThanOrEqual(decimal(levels[0].available));
        continue;
      }
      const { aggregateId: fromId, price, quantity: traded, time: at } = marketTrade;
      const [published] = source.aggregateTrades(symbol, feed.now(), { fromId, limit: 1 });
      expect(published).toMatchObject({ id: fromId, at, isBuyerMaker: true });
      expect([price, traded]).toEqual([published?.price, published?.quantity]);
      expect(at).toBeGreaterThan(placed.transactTime);
      const key = `${attempt} ${fromId}`;
      tradedBy.set(key, (tradedBy.get(key) ?? 0n) + quantity);
      expect(tradedBy.get(key)).toBeLessThanOrEqual(decimal(traded));
    }
    const isTraded = receipts.some(({ cause }) => cause === "TRADE_AT_PRICE");
    isFilledInParts = isTraded && statuses.join() === "NEW,PARTIALLY_FILLED,FILLED";
  }
  expect(isFilledInParts).toBe(true);
});
