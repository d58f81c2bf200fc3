// Orders during an outage of the market data: the stream is cut or silent, or the program itself is down,
// while the recorded market continues. The oracle knows the trades of that time; what they triggered is
// filled afterwards, once, and nothing else is.
import { beforeAll, describe, expect, test } from "vitest";
import type { SeededStrategy } from "../../src/keys/seed.ts";
import type { Tape } from "../../src/market/tape/open.ts";
import { decimal, type Price } from "../../src/money/decimal.ts";
import { seededRandom } from "../support/random.ts";
import { newDirectory } from "../support/servers/gateway.ts";
import { cleanFixtures, eventual, type Life, openLife, openManualTape, TURN_MS } from "./fixture.ts";
import { fateInGap, isMet, isTriggeredBy, oppositeOf, stretchesOf, type Terms } from "./oracle.ts";
import {
  expectAsWanted,
  expectNoFillTwice,
  type Followed,
  isOpen,
  note,
  parametersOf,
  placeOrder,
  playThrough,
} from "./orders.ts";
import { countUntil, isHere, type Message, readMessages, SKIPPED, SYMBOL } from "./recorded.ts";

const SEED = 1008;
const SECOND = 1_000;
const TICK = decimal("0.01");
/** As many stops as the pair allows a strategy. */
const STOPS = 5;
const LIMITS = 5;
/** They place one after another before the market is lost, the last of them at that moment. */
const STRATEGIES = 7;
const BETWEEN_PLACINGS = 6 * SECOND;
const CHANGE_OVERS = 6;
const TICKER = "btcusdt@bookTicker";
const TRADE = "btcusdt@trade";
/** Duration of the market data at the end. */
const AFTERWARDS = 20 * SECOND;
/** How far the stored watermark of an active symbol is behind. */
const NOTE_LAG = 5 * SECOND;
const NOTE_INTERVAL = 5 * SECOND;
/** Trades so long before a gap may still have been in flight when it began, and are requested as well. */
const UNDER_WAY = SECOND;
/** Never triggered: an order that keeps the symbol subscribed. */
const FAR: Terms = { side: "BUY", limit: decimal("50000"), stop: null };
/** Minimum number of cases for each outcome. */
const SEEN_MIN = 2;

type Outage = {
  /** Whether the program runs during the outage. */
  readonly isUp: boolean;
  /** Answers from when on it is not known what the market did, Unix ms. */
  lose(tape: Tape, life: Life): Promise<number>;
  /** Returns the life that continues. */
  regain(tape: Tape, life: Life, dataDir: string): Promise<Life>;
};

const CUT: Outage = {
  isUp: true,
  async lose(tape) {
    tape.silence();
    tape.refuseConnections(true);
    tape.dropConnections();
    return tape.clock.now();
  },
  async regain(tape, life) {
    tape.resume();
    tape.refuseConnections(false);
    return life;
  },
};

const SILENT: Outage = {
  isUp: true,
  async lose(tape) {
    tape.silence(SYMBOL);
    return tape.clock.now();
  },
  async regain(tape, life) {
    tape.resume();
    return life;
  },
};

const STOPPED: Outage = {
  isUp: false,
  async lose(tape, life) {
    await life.stop();
    return tape.clock.now() - NOTE_LAG;
  },
  regain: (tape, _life, dataDir) => openLife(tape, { dataDir }),
};

const KILLED: Outage = {
  ...STOPPED,
  async lose(tape, life) {
    const [noted] = await life.store.listHeard("SPOT");
    await life.kill();
    if (noted === undefined) throw new Error("a symbol that is heard is noted every few seconds");
    expect(noted.at).toBeGreaterThan(tape.clock.now() - NOTE_INTERVAL - NOTE_LAG - SECOND);
    return noted.at;
  },
};

cleanFixtures();

describe.skipIf(!isHere)(`an outage on the recorded market${SKIPPED}`, () => {
  let messages: readonly Message[];

  beforeAll(() => {
    messages = readMessages();
  });

  test.each([
    ["the stream is cut for minutes", CUT, 93.402, 301.207],
    ["the stream is cut for less than two minutes", CUT, 203.711, 268.11],
    ["the stream is silent for minutes", SILENT, 100.9, 262.3],
    ["the program is stopped for minutes", STOPPED, 93.402, 301.207],
    ["the program is stopped for a few seconds", STOPPED, 258.2, 265.9],
    ["the program is killed for minutes", KILLED, 93.4, 265.1],
    ["the program is killed for less than two minutes", KILLED, 203.7, 301.2],
  ] as const)(`while %s: the trades of that time decide (seed ${SEED})`, async (_what, outage, from, to) => {
    const tape = await openManualTape();
    const dataDir = newDirectory();
    const [lostAt, backAt] = [tape.startsAt + from * SECOND, tape.startsAt + to * SECOND];
    const random = seededRandom(SEED);
    const levels = levelsBetween(lostAt, backAt);
    const orders: Followed[] = [];
    let life = await openLife(tape, { dataDir });
    const strategies = await life.seed(STRATEGIES);
    for (const [index, strategy] of strategies.entries()) {
      const momentsLeft = STRATEGIES - 1 - index;
      await playThrough(life, tape, messages, orders, lostAt - momentsLeft * BETWEEN_PLACINGS);
      await life.call(strategy, "POST", "/api/v3/order", marketBuy("0.0015"));
      orders.push(...(await placeSome(life, strategy, levels, random)));
    }

    const unknownFrom = await outage.lose(tape, life);
    if (outage.isUp) {
      await life.missTo(lostAt + 20 * SECOND);
      orders.push(...(await tradeUnheard(life, strategies[0], levels)));
    }
    await (outage.isUp ? life.missTo(backAt) : tape.advanceTo(backAt));
    life = await outage.regain(tape, life, dataDir);
    await filled(life, tape, backAt);

    const youngestAt = Math.max(...orders.filter(isOpen).map(({ since }) => since));
    const stretches = stretchesOf(messages, unknownFrom - UNDER_WAY, backAt, youngestAt);
    const seen = { filled: 0, triggered: 0, untouched: 0 };
    for (const order of orders.filter(isOpen)) {
      const fate = fateInGap(order.terms, order.since, stretches, presentAt(backAt));
      note(order, fate, backAt);
      await expectAsWanted(life, order);
      seen[fate.fill !== null ? "filled" : fate.isTriggered ? "triggered" : "untouched"] += 1;
    }
    expect(seen.filled).toBeGreaterThan(SEEN_MIN);
    expect(seen.untouched).toBeGreaterThan(SEEN_MIN);

    // What was filled is not filled again, and what was not waits on.
    await playThrough(life, tape, messages, orders, backAt + AFTERWARDS);
    for (const order of orders) await expectAsWanted(life, order);
    await expectNoFillTwice(life, orders, 1);
  });

  test("a trade in flight when the stream was lost is not missed", async () => {
    const tape = await openManualTape();
    const life = await openLife(tape);
    const { at, trade } = tradeUnderWay();
    const terms: Terms = { side: "SELL", stop: trade.price, limit: null };
    await life.playTo(at - 1 - SECOND);
    const strategy = await strategyOf(life);
    await life.call(strategy, "POST", "/api/v3/order", marketBuy("0.0002"));
    await placeOrder(life, strategy, FAR);
    const order = await placeOrder(life, strategy, terms);
    await life.playTo(at - 1);
    await CUT.lose(tape, life);
    await life.missTo(at - 1 + 8 * SECOND);
    await CUT.regain(tape, life, "");
    await filled(life, tape, at - 1 + 8 * SECOND);
    const price = presentAt(tape.clock.now()).bid;
    note(order, { isTriggered: true, fill: { price, isMaker: false } }, tape.clock.now());
    await expectAsWanted(life, order);
  });

  test("a change-over to another connection misses no order and fills none twice", async () => {
    const tape = await openManualTape();
    const life = await openLife(tape);
    const from = tape.startsAt + 200 * SECOND;
    const levels = levelsBetween(from, from + 80 * SECOND);
    const random = seededRandom(SEED);
    const orders: Followed[] = [];
    for (const [index, strategy] of (await life.seed(4 * STRATEGIES)).entries()) {
      await playThrough(life, tape, messages, orders, from + index * 5 * SECOND);
      await life.call(strategy, "POST", "/api/v3/order", marketBuy("0.0015"));
      orders.push(...(await placeSome(life, strategy, levels, random)));
      if (index % STRATEGIES === 0) tape.announceShutdown();
    }
    await playThrough(life, tape, messages, orders, from + 80 * SECOND);
    expect(life.market.status().connects).toBe(5);
    for (const order of orders) await expectAsWanted(life, order);
    await expectNoFillTwice(life, orders, 1);
    expect(orders.filter((order) => !isOpen(order)).length).toBeGreaterThan(SEEN_MIN);
    expect(orders.filter(isOpen).length).toBeGreaterThan(SEEN_MIN);
  });

  test("a change-over loses no message and repeats none, however fast they come", async () => {
    const tape = await openManualTape();
    const life = await openLife(tape);
    const heard: { [stream in string]: string[] } = { [TICKER]: [], [TRADE]: [] };
    for (const stream of [TICKER, TRADE]) {
      life.market.subscribe(stream, (data) => heard[stream]?.push(JSON.stringify(data)));
    }
    const from = tape.startsAt + 210 * SECOND;
    await life.playTo(from);
    for (const payloads of Object.values(heard)) payloads.splice(0);
    for (let count = 0; count < CHANGE_OVERS; count += 1) {
      tape.announceShutdown();
      await life.rushTo(tape.clock.now() + 2 * SECOND);
    }
    expect(life.market.status().connects).toBe(1 + CHANGE_OVERS);
    const sent = messages.slice(countUntil(messages, from), countUntil(messages, tape.clock.now()));
    for (const stream of [TICKER, TRADE]) {
      const recorded = sent.filter((message) => message.stream === stream).map(({ payload }) => payload);
      expect(recorded.length, stream).toBeGreaterThan(100);
      expect(heard[stream], stream).toEqual(recorded);
    }
  });

  /** Without market data MARKET and stops are refused, LIMIT is accepted and stays open. */
  async function tradeUnheard(life: Life, strategy: SeededStrategy | undefined, levels: readonly Price[]) {
    const [low, high] = [levels[0], levels.at(-1)];
    if (strategy === undefined || low === undefined || high === undefined)
      throw new Error("nothing to place");
    for (const terms of [
      { side: "BUY", limit: null, stop: null },
      { side: "BUY", limit: null, stop: high },
      { side: "BUY", limit: high, stop: high },
    ] as const) {
      const { status, headers, body } = await life.send(
        strategy,
        "POST",
        "/api/v3/order",
        parametersOf(terms),
      );
      expect({ status, code: body.code }).toEqual({ status: 503, code: -1008 });
      expect(headers.get("retry-after")).toBe("1");
    }
    const placed: Followed[] = [];
    for (const limit of levels.slice(0, LIMITS)) {
      placed.push(await placeOrder(life, strategy, { side: "BUY", limit, stop: null }));
    }
    return placed;
  }

  /** Resolves when the market data is back and the gap has been filled. */
  async function filled(life: Life, tape: Tape, backAt: number): Promise<void> {
    const { u, b, B, a, A } = JSON.parse(messageBefore(backAt).payload);
    await eventual(
      async () => {
        await life.turn(TURN_MS);
        // The present book, repeatedly: a market that is constant and alive.
        tape.sendRaw("btcusdt@depth20", { lastUpdateId: u, bids: [[b, B]], asks: [[a, A]] });
        const [heard] = await life.store.listHeard("SPOT");
        return heard?.at ?? 0;
      },
      (heardAt) => heardAt >= backAt - NOTE_LAG,
    );
    await life.probe();
  }

  /**
   * A trade that a stream which is lost a moment before its arrival does not deliver, lower than all around
   * it.
   */
  function tradeUnderWay() {
    const trades = messages.flatMap(({ at, trade }) => (trade === null ? [] : { at, trade }));
    const found = trades.find(({ at, trade }) => {
      const around = trades.filter((other) =>
        other.at < at
          ? other.at > at - 2 * SECOND
          : other.trade.at >= at - 1 && other.trade.at < at + 10 * SECOND,
      );
      return at - trade.at > 10 && around.every((other) => other.trade.price > trade.price);
    });
    if (found === undefined) throw new Error("no such trade is recorded");
    return found;
  }

  function messageBefore(at: number): Message {
    const message = messages.slice(0, countUntil(messages, at)).findLast(({ trade }) => trade === null);
    if (message === undefined) throw new Error(`nothing is recorded before ${at}`);
    return message;
  }

  function presentAt(at: number) {
    return messageBefore(at).quote;
  }

  /** Prices at which it is close whether the trades between two times reach an order, ascending. */
  function levelsBetween(from: number, to: number): readonly Price[] {
    const levels = new Set<Price>();
    const third = (to - from) / 3;
    for (const start of [from, from + third, from + 2 * third]) {
      const prices = messages.flatMap(({ trade }) =>
        trade !== null && trade.at > start && trade.at <= start + third ? trade.price : [],
      );
      const [first] = prices;
      if (first === undefined) continue;
      const lowest = prices.reduce((least, price) => (price < least ? price : least), first);
      const highest = prices.reduce((most, price) => (price > most ? price : most), first);
      for (const price of [lowest, highest, ((lowest + highest) / 2n / TICK) * TICK]) {
        for (const by of [-TICK, 0n, TICK]) levels.add((price + by) as Price);
      }
    }
    return [...levels].sort((one, other) => (one < other ? -1 : 1));
  }

  /** Orders of all kinds at some of the levels, none of which the market meets already. */
  async function placeSome(
    life: Life,
    strategy: SeededStrategy,
    levels: readonly Price[],
    random: () => number,
  ) {
    const at = life.market.now();
    const heard = messages.slice(0, countUntil(messages, at));
    const last = heard.findLast(({ trade }) => trade !== null)?.trade?.price;
    if (last === undefined) throw new Error(`nothing was traded before ${at}`);
    const level = () => levels[Math.floor(random() * levels.length)] ?? last;
    const orders: Followed[] = [];
    let stops = 0;
    let limits = 0;
    while (stops < STOPS || limits < LIMITS) {
      const side = random() < 0.5 ? "BUY" : "SELL";
      const isStop = stops < STOPS;
      const limit = isStop && random() < 0.4 ? null : level();
      const terms: Terms = { side, limit, stop: isStop ? level() : null };
      const isReached = isStop ? isTriggeredBy(terms, last) : isMet(terms, oppositeOf(side, presentAt(at)));
      if (isReached) continue;
      orders.push(await placeOrder(life, strategy, terms));
      if (isStop) stops += 1;
      else limits += 1;
    }
    return orders;
  }
});

function marketBuy(quantity: string) {
  return { symbol: SYMBOL, side: "BUY", type: "MARKET", quantity };
}

async function strategyOf(life: Life): Promise<SeededStrategy> {
  const [strategy] = await life.seed(1);
  if (strategy === undefined) throw new Error("one strategy was asked for");
  return strategy;
}
