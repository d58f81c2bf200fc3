// A bot trades over a recorded stretch of the real market, through the whole of Lyrebird: HTTP, desk, store, market client
// and the tape's own server over real sockets. The referee reads the recording by itself: every fill has to agree with the
// best bid or ask that was recorded at its moment, to the last digit.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { gunzipSync } from "node:zlib";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDataDirectory } from "../../src/data-directory.ts";
import { Desk } from "../../src/desk/desk.ts";
import { STANDARD_SPOT } from "../../src/engine/profiles.ts";
import { createServer } from "../../src/http/server.ts";
import { seedStrategies } from "../../src/identity/seed.ts";
import { Budgets } from "../../src/limits/budgets.ts";
import { createMarketFeed, type MarketFeed } from "../../src/market/client/feed.ts";
import { openTape, type Tape } from "../../src/market/tape/open.ts";
import { decimal, formatDecimal } from "../../src/money/decimal.ts";
import { Watcher } from "../../src/watch/watcher.ts";
import { newDirectory } from "../support/gateway.ts";
import { signed } from "../support/signed-client.ts";

const SHARED_DIR = process.env.SHARED_DIR ?? join(import.meta.dirname, "../../../shared");
const FILE = join(SHARED_DIR, "data/tape/spot-btcusdt-2024-08-08T2354.ndjson.gz");
const isHere = existsSync(FILE);
const SYMBOL = "BTCUSDT";
const STOPS = 150;

const fail = (error: unknown) => {
  throw error;
};

type Quote = { at: number; bid: string; ask: string };

describe.skipIf(!isHere)(
  `a bot on the recorded market${isHere ? "" : " (skipped: no recording in SHARED_DIR)"}`,
  () => {
    let tape: Tape;
    let market: MarketFeed;
    let quotes: Quote[];
    let call: (method: string, path: string, parameters?: Record<string, string>) => Promise<Body>;
    /** Resolves when the feed has heard everything that the tape has sent. */
    let probe: () => Promise<void>;
    const closing: (() => Promise<void> | void)[] = [];

    beforeAll(async () => {
      tape = await openTape({ file: FILE, manual: true });
      closing.push(() => tape.close());
      quotes = recordedQuotes(tape.startsAt);
      const log = pino({ level: "warn" });
      market = createMarketFeed({ ...tape, clock: tape.clock, log, asksAboutQuietSymbols: false });
      closing.push(() => market.close());
      await market.start();
      const { store, master } = await openDataDirectory(newDirectory(), null);
      closing.push(() => store.close());
      const [strategy] = await seedStrategies(store, master, ["SPOT"], tape.startsAt);
      if (strategy === undefined) throw new Error("one strategy was asked for");
      const desk = new Desk({ store, market, profile: STANDARD_SPOT, onStoreFailure: fail, log });
      const watcher = new Watcher({ desk, store, market, log });
      closing.push(() => watcher.close());
      // Limits go by wall time and are not what is tested here: each request comes in a minute of its own.
      let minutes = 0;
      const wallNow = () => Date.now() + minutes * 60_000;
      const server = createServer(
        {
          store,
          desk,
          market,
          master,
          budgets: new Budgets(),
          profile: STANDARD_SPOT,
          wallNow,
          newClientOrderId: () => `bot-${minutes}`,
        },
        { log },
      );
      closing.push(() => server.close());
      const url = await server.listen({ port: 0, host: "127.0.0.1" });
      call = async (method, path, parameters = {}) => {
        minutes += 1;
        const answer = await signed(url, strategy, method, path, {
          ...parameters,
          timestamp: String(wallNow()),
        });
        if (answer.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
        return answer.body;
      };
      // The first look at the symbol has it streamed; the bot begins when the stream is open.
      void market.prepare(SYMBOL);
      probe = openProbe(tape, market);
      await probe();
    });

    afterAll(async () => {
      for (const close of closing.reverse()) await close();
    });

    test(`all fills of ${STOPS} stops agree with the recorded book`, async () => {
      let fills = 0;
      let resting: { orderId: number; side: string; price: string; at: number } | null = null;
      for (let stop = 1; stop <= STOPS; stop += 1) {
        const at = tape.startsAt + 1_500 + Math.floor(((tape.endsAt - tape.startsAt - 2_000) * stop) / STOPS);
        tape.advanceTo(at);
        const recorded = lastAt(quotes, at);
        await probe();

        if (resting !== null) {
          // A limit fills when, and only when, the recorded market reached it, and then at its own price.
          const { price, side, at: since, orderId } = resting;
          const reached = quotes.some(
            (quote) => quote.at > since && quote.at <= at && isReached(quote, side, price),
          );
          const order = await eventual(
            () => call("GET", "/api/v3/order", { symbol: SYMBOL, orderId: `${orderId}` }),
            ({ status }) => (status === "FILLED") === reached,
          );
          expect({ status: order.status, price: reached ? averagePrice(order) : null }).toEqual({
            status: reached ? "FILLED" : "NEW",
            price: reached ? price : null,
          });
          if (reached) fills += 1;
          else await call("DELETE", "/api/v3/order", { symbol: SYMBOL, orderId: `${orderId}` });
          resting = null;
        }

        const side = stop % 2 === 1 ? "BUY" : "SELL";
        // Fees come out of what was bought, so a little more is bought than sold.
        const quantity = side === "BUY" ? "0.00012" : "0.0001";
        if (stop % 3 === 0) {
          const price = side === "BUY" ? recorded.bid : recorded.ask;
          const order = await call("POST", "/api/v3/order", {
            symbol: SYMBOL,
            side,
            type: "LIMIT",
            timeInForce: "GTC",
            quantity,
            price,
          });
          expect(order).toMatchObject({ status: "NEW", time: at });
          resting = { orderId: order.orderId, side, price, at };
        } else {
          const order = await call("POST", "/api/v3/order", {
            symbol: SYMBOL,
            side,
            type: "MARKET",
            quantity,
          });
          expect(order).toMatchObject({ status: "FILLED", time: at });
          expect(averagePrice(order)).toBe(side === "BUY" ? recorded.ask : recorded.bid);
          fills += 1;
        }
      }
      expect(fills).toBeGreaterThan(STOPS / 2);
      const trades = await call("GET", "/api/v3/myTrades", { symbol: SYMBOL, limit: "1000" });
      expect(trades).toHaveLength(fills);
    });
  },
);

// biome-ignore lint/suspicious/noExplicitAny: the wire's own bodies.
type Body = any;

/** The best prices as recorded, read without the tape's code. Times are those of the tape's clock. */
function recordedQuotes(startsAt: number): Quote[] {
  const lines = gunzipSync(readFileSync(FILE)).toString("utf8").trim().split("\n");
  const received = (line: string) => BigInt(line.slice(0, line.indexOf(" ")));
  const first = received(lines[0] ?? "");
  return lines
    .filter((line) => line.includes('"stream":"btcusdt@bookTicker"'))
    .map((line) => {
      const { data } = JSON.parse(line.slice(line.indexOf(" ") + 1));
      const at = startsAt + Number((received(line) - first) / 1_000n) / 1_000;
      return { at, bid: data.b, ask: data.a };
    });
}

function lastAt(quotes: readonly Quote[], at: number): Quote {
  const quote = quotes.findLast((each) => each.at <= at);
  if (quote === undefined) throw new Error(`nothing is recorded before ${at}`);
  return quote;
}

function isReached({ bid, ask }: Quote, side: string, price: string): boolean {
  return side === "BUY" ? decimal(ask) <= decimal(price) : decimal(bid) >= decimal(price);
}

function averagePrice(order: Body): string {
  return formatDecimal((decimal(order.cummulativeQuoteQty) * 100_000_000n) / decimal(order.executedQty));
}

/** A message of the test's own behind all that was sent before it on the same connection. */
function openProbe(tape: Tape, market: MarketFeed): () => Promise<void> {
  const stream = "btcusdt@probe";
  let sent = 0;
  let heard = 0;
  market.subscribe(stream, (data) => {
    heard = (data as { number: number }).number;
  });
  return async () => {
    sent += 1;
    const number = sent;
    await eventual(
      async () => {
        tape.sendRaw(stream, { number });
        return heard;
      },
      (last) => last === number,
    );
  };
}

/** A wait for something that is on its way through the loopback interface ends after this, ms. */
const WAIT_MS_MAX = 10_000;

/** Asks again, a turn of the event loop later, until the answer is as wanted. */
async function eventual<T>(ask: () => Promise<T>, isWanted: (answer: T) => boolean): Promise<T> {
  const deadline = Date.now() + WAIT_MS_MAX;
  for (;;) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`never as wanted; last: ${inspect(answer)}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
