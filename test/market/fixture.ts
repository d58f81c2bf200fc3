// The whole of Lyrebird on a recorded interval of the real market, over real sockets and under manual time.
// One tape may have several lives of the program on one data directory, as consecutive processes.
import { inspect } from "node:util";
import pino from "pino";
import { afterEach } from "vitest";
import { createManualTime } from "../../src/concurrency/testing/manual-time.ts";
import type { StrategyType } from "../../src/domain/account.ts";
import type { FillProfile } from "../../src/domain/fill-profile.ts";
import { type SeededStrategy, seedStrategies } from "../../src/keys/seed.ts";
import { createMarketFeed } from "../../src/market/client/feed.ts";
import { openTape, type Tape, type TapeOptions } from "../../src/market/tape/open.ts";
import { FundingClock } from "../../src/schedules/funding.ts";
import { Triggers } from "../../src/triggers/triggers.ts";
import { newDirectory } from "../support/servers/gateway.ts";
import { openOwnGateway } from "../support/servers/own-gateway.ts";
import { signed, type WireAnswer } from "../support/signed-client.ts";
import { FILE, type Message, SYMBOL } from "./recorded.ts";

/** One process, as it were. */
export type Life = Awaited<ReturnType<typeof openLife>>;

type Parameters = Readonly<Record<string, string>>;
// biome-ignore lint/suspicious/noExplicitAny: the wire's own bodies.
type Body = any;

/** Shorter than the silence of a dead symbol. */
const STEP_MS_MAX = 1_000;
/** Some messages long. */
const RUSH_STEP_MS = 25;
/** Short beside every deadline: within one step messages arrive over real sockets. */
export const TURN_MS = 100;
/** One for every connection that prices come on: the books of futures have one of their own. */
const PROBE_STREAMS = {
  SPOT: ["btcusdt@probe"],
  FUTURES: ["btcusdt@probe", "btcusdt@depthProbe"],
} as const;
const PING = { SPOT: "/api/v3/ping", FUTURES: "/fapi/v1/ping" } as const;
/** A wait for something that is on its way through the loopback interface ends after this, ms. */
const WAIT_MS_MAX = 45_000;

const closing: (() => Promise<void>)[] = [];

/** Has every test of the file close what it opened, the last first. */
export function cleanFixtures(): void {
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
}

export async function openManualTape(options: Partial<TapeOptions> = {}): Promise<Tape> {
  const tape = await openTape({ file: FILE, manual: true, ...options });
  closing.push(() => tape.close());
  return tape;
}

export type LifeOptions = {
  /** A new one unless said. */
  readonly dataDir?: string;
  /** Which type is played: SPOT unless said. */
  readonly type?: StrategyType;
  /** How many times as fast as the life's own time the tape is played. */
  readonly speed?: number;
};

/** Begins a life, and has the market streamed. */
export async function openLife(tape: Tape, options: LifeOptions = {}) {
  const { dataDir = newDirectory(), type: strategyType = "SPOT", speed = 1 } = options;
  const time = createManualTime(tape.clock.now());
  const log = pino({ level: "silent" });
  const clocks = { clock: tape.clock, wallClock: time, timers: time };
  const ways = { random: () => 0.5, log, asksAboutQuietSymbols: false, measuresAge: false, isMetered: false };
  const feedOf = (type: StrategyType) => createMarketFeed({ type, ...tape, ...clocks, ...ways });
  const markets = { SPOT: feedOf("SPOT"), FUTURES: feedOf("FUTURES") };
  await Promise.all(Object.values(markets).map((each) => each.start()));
  const wallNow = () => Date.now() + requests * 60_000;
  let sentCount = 0;
  const onSent = () => {
    sentCount += 1;
    return null;
  };
  const own = await openOwnGateway(markets, wallNow, { dataDir, timers: time, onSent });
  const { store, desk, master } = own.gateway;
  const triggersOf = (type: StrategyType) =>
    new Triggers({ type, desk, store, market: markets[type], timers: time, log });
  const triggers = { SPOT: triggersOf("SPOT"), FUTURES: triggersOf("FUTURES") };
  let settling = 0;
  const counted =
    <Given extends unknown[], Answer>(work: (...given: Given) => Promise<Answer>) =>
    async (...given: Given) => {
      settling += 1;
      try {
        return await work(...given);
      } finally {
        settling -= 1;
      }
    };
  const { FUTURES: contracts } = markets;
  const { FUTURES: holders } = triggers;
  const funding = new FundingClock({
    market: {
      now: () => contracts.now(),
      nextFundingAt: (symbol) => contracts.nextFundingAt(symbol),
      settlementsBetween: counted((...asked) => contracts.settlementsBetween(...asked)),
    },
    holders: {
      heldContracts: () => holders.heldContracts(),
      coveredUntil: (symbol) => holders.coveredUntil(symbol),
      settle: counted((settlement) => holders.settle(settlement)),
    },
    store: { ...store, noteFunding: counted(store.noteFunding) },
    every: time.every,
    log,
  });
  const { server, url } = await own.serve();
  for (const each of Object.values(triggers)) await each.open();
  await funding.rebuild();
  const market = markets[strategyType];
  void market.prepare(SYMBOL);
  const heard = new Map<string, number>();
  for (const stream of PROBE_STREAMS[strategyType]) {
    market.subscribe(stream, (data) => heard.set(stream, (data as { number: number }).number));
  }
  const sendProbes = (number: number) => {
    for (const stream of PROBE_STREAMS[strategyType]) tape.sendRaw(stream, { number }, strategyType);
  };
  const heardByAll = async () => PROBE_STREAMS[strategyType].map((stream) => heard.get(stream));

  let isOver = false;
  const end = async (inOrder: boolean) => {
    if (isOver) return;
    isOver = true;
    await server.close();
    if (inOrder) {
      await passing(funding.close());
      for (const each of Object.values(triggers)) await each.close();
    }
    await desk.drain();
    for (const each of Object.values(markets)) await each.close();
    await store.close();
  };
  closing.push(() => end(true));
  // Work in flight may wait for its timer.
  const passing = async (done: Promise<void>) => {
    let isDone = false;
    void done.finally(() => {
      isDone = true;
    });
    await eventual(
      async () => {
        time.advance(TURN_MS);
        return isDone;
      },
      (is) => is,
    );
  };

  const life = {
    /** Of the type that is played. */
    market,
    store,
    /** The wall clock and the timers of this life. */
    time,
    /** New strategies, under `standard` unless said. */
    seed: (count: number, profile?: FillProfile): Promise<readonly SeededStrategy[]> =>
      seedStrategies(
        store,
        master,
        Array.from({ length: count }, () => strategyType),
        tape.clock.now(),
        { profile },
      ),
    /** A signed request, in a minute of its own, since limits are not tested here. */
    async send(
      strategy: SeededStrategy,
      method: string,
      path: string,
      parameters: Parameters = {},
    ): Promise<WireAnswer> {
      requests += 1;
      return await signed(url, strategy, method, path, { ...parameters, timestamp: String(wallNow()) });
    },
    /**
     * The same under `strict` with a constant latency: the market goes on until it arrives, and then waits
     * for its answer.
     */
    async sendLate(
      latencyMs: number,
      strategy: SeededStrategy,
      method: string,
      path: string,
      parameters?: Parameters,
    ): Promise<WireAnswer> {
      const before = sentCount;
      const answer = life.send(strategy, method, path, parameters);
      await eventual(
        async () => sentCount,
        (count) => count > before,
      );
      await life.playTo(tape.clock.now() + latencyMs);
      // Its timer ended before the market was there, and waits again.
      time.advance(latencyMs);
      return await answer;
    },
    /** The same as `send` for a request that has to succeed: its body. */
    async call(
      strategy: SeededStrategy,
      method: string,
      path: string,
      parameters?: Parameters,
    ): Promise<Body> {
      const { status, body } = await life.send(strategy, method, path, parameters);
      if (status !== 200) throw new Error(`${method} ${path} ${inspect(parameters)}: ${inspect(body)}`);
      return body;
    },
    /** Resolves when the feed has received everything that the tape has sent. */
    async probe(): Promise<void> {
      probes += 1;
      const number = probes;
      sendProbes(number);
      await eventual(heardByAll, (last) => last.every((each) => each === number));
    },
    /** Advances the life's own time by `ms` and lets REST answers in flight arrive. */
    async turn(ms: number): Promise<void> {
      time.advance(ms);
      for (let trip = 0; trip < ROUND_TRIPS; trip += 1) {
        requests += 1;
        await market.query(PING[strategyType], `trip=${requests}`);
      }
    },
    /** Resolves when no settlement is being requested or applied. */
    async settled(): Promise<void> {
      await eventual(
        async () => settling,
        (left) => left === 0,
      );
    },
    /** Advances tape and time together, in steps short enough that an active market does not look silent. */
    async playTo(at: number): Promise<void> {
      for (let now = tape.clock.now(); now < at; now = tape.clock.now()) {
        const step = Math.min(STEP_MS_MAX * speed, at - now);
        time.advance(Math.ceil(step / speed));
        tape.advanceTo(now + step);
        await life.probe();
      }
    },
    /** Advances both in short steps, with one event-loop iteration in between. */
    async rushTo(at: number): Promise<void> {
      for (let now = tape.clock.now(); now < at; now = tape.clock.now()) {
        const step = Math.min(RUSH_STEP_MS, at - now);
        time.advance(step);
        tape.advanceTo(now + step);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await life.probe();
    },
    /** Advances tape and time while no messages arrive. */
    async missTo(at: number): Promise<void> {
      for (let now = tape.clock.now(); now < at; now = tape.clock.now()) {
        const step = Math.min(STEP_MS_MAX * speed, at - now);
        tape.advanceTo(now + step);
        await life.turn(Math.ceil(step / speed));
      }
    },
    /** Plays the messages of one instant one by one; `after` is awaited behind each, with its index. */
    async playInstant(
      messages: readonly Message[],
      at: number,
      after: (index: number) => Promise<void>,
    ): Promise<void> {
      await life.playTo(at - 1);
      // The tape sends an instant at once; here the test acts between its messages.
      tape.silenceStreams();
      time.advance(at - tape.clock.now());
      tape.advanceTo(at);
      tape.resumeStreams();
      for (const [index, message] of messages.entries()) {
        if (message.at !== at) continue;
        tape.sendRaw(message.stream, message.payload);
        await after(index);
      }
      await life.probe();
    },
    /** Ends in order. */
    stop: () => end(true),
    /** Ends at once, as by kill -9: nothing is noted and nothing is said goodbye to. */
    kill: () => end(false),
  };
  // What was subscribed after the socket had opened leaves a little later.
  await eventual(
    async () => {
      await life.turn(TURN_MS);
      sendProbes(-1);
      return heardByAll();
    },
    (last) => last.every((each) => each !== undefined),
  );
  await life.probe();
  return life;
}

/** REST round trips after which the consequences have arrived. */
const ROUND_TRIPS = 3;
let requests = 0;
let probes = 0;

/** Repeats the request, an event-loop iteration later, until the answer is as wanted. */
export async function eventual<T>(ask: () => Promise<T>, isWanted: (answer: T) => boolean): Promise<T> {
  const deadline = Date.now() + WAIT_MS_MAX;
  for (;;) {
    const answer = await ask();
    if (isWanted(answer)) return answer;
    if (Date.now() > deadline) throw new Error(`never as wanted; last: ${inspect(answer)}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
