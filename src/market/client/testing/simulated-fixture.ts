// The client against the simulated exchange, both as they run: real sockets, the time moved by hand.
import { afterEach } from "vitest";
import { createManualTime, type ManualTime } from "../../../concurrency/testing/manual-time.ts";
import type { Clock } from "../../../concurrency/time.ts";
import type { StrategyType } from "../../../domain/account.ts";
import { openSimulatedExchange } from "../../simulated/open.ts";
import { createMarketFeed } from "../feed.ts";
import { until } from "./upstream.ts";

/** The seed of every simulated exchange of a fixture. */
export const SEED = 7;

/** A stream of each route. */
const MARKERS = { SPOT: ["marker@trade"], FUTURES: ["marker@bookTicker", "marker@aggTrade"] } as const;

const open: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** `clockOf` returns market time; by default the fixture's own. */
export async function openSimulatedFixture(
  type: StrategyType,
  {
    startAt,
    clockOf = (time) => time,
    measuresAge = type === "FUTURES",
  }: {
    readonly startAt?: number;
    readonly clockOf?: (time: ManualTime) => Clock;
    readonly measuresAge?: boolean;
  } = {},
) {
  const time = createManualTime(startAt);
  const clock = clockOf(time);
  const exchange = await openSimulatedExchange({ seed: SEED, clock, manual: true });
  open.push(exchange.close);
  const feed = createMarketFeed({
    type,
    ...exchange,
    clock,
    wallClock: time,
    timers: time,
    random: () => 0.5,
    log: { info() {}, warn() {}, error() {} },
    asksAboutQuietSymbols: false,
    measuresAge,
    isMetered: false,
  });
  open.push(feed.close);
  const marked = new Map<string, number>();
  for (const marker of MARKERS[type]) {
    feed.subscribe(marker, () => marked.set(marker, (marked.get(marker) ?? 0) + 1));
  }

  /** Advances market time; resolves when the client has received what was sent in it. */
  async function pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1_000) {
      time.advance(Math.min(left, 1_000));
      exchange.pump();
      for (const marker of MARKERS[type]) {
        const before = marked.get(marker);
        // A message is lost while the connection is away or not yet subscribed: ask again until one comes.
        await until(() => {
          if (marked.get(marker) === before) exchange.sendRaw(marker, {}, type);
          return marked.get(marker) !== before;
        });
      }
    }
  }

  /** The answer, while time passes as fast as upstream answers. */
  async function answerOf<Answer>(asked: Promise<Answer>): Promise<Answer> {
    let isAnswered = false;
    void asked.then(() => {
      isAnswered = true;
    });
    await until(() => {
      if (!isAnswered) time.advance(1);
      return isAnswered;
    });
    return asked;
  }

  /** Cuts the connections and lets time pass before the exchange takes new ones. */
  async function interrupt(ms: number): Promise<void> {
    exchange.refuseConnections(true);
    exchange.dropConnections();
    await until(() => !feed.status().connected);
    time.advance(ms);
    exchange.pump();
    exchange.refuseConnections(false);
    await until(() => {
      time.advance(1_000);
      exchange.pump();
      return feed.status().connected;
    });
  }

  await feed.start();
  return { exchange, time, feed, pass, answerOf, interrupt };
}
