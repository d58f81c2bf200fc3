// Candles against an oracle with upstream's real candles: whatever the stream loses, repeats, delays,
// reorders or garbles, and however REST answers, in the end every final was sent once and in order, and no
// tick after its final.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createManualTime } from "../concurrency/testing/manual-time.ts";
import type { UpstreamAnswer } from "../market/client/rest/rest.ts";
import { createCandles } from "./candles.ts";
import { createHeard } from "./testing/heard.ts";
import { createStubMarket } from "./testing/stub-market.ts";
import type { CandleTopic, MarketData } from "./topics.ts";

const topic: CandleTopic = { pair: "BTCUSDT", timeframe: "1s" };
const stream = "btcusdt@kline_1s";
const lengthMs = 1_000;
const startAt = 1_700_000_000_000;
/** As long as the longest wait between two questions, and what it takes after that. */
const calmSeconds = 45;
/**
 * A word of upstream comes late by no more than two of the steps, and its clock is then taken to be so much
 * behind.
 */
const latenessMsMax = 8_000;
/** A final that the stream does not send is sent at most this long after its close, once upstream works. */
const finalWithinMs = 6_000 + latenessMsMax;

type Weather = {
  readonly afterMs: number;
  readonly isUp: boolean;
  readonly fate: "whole" | "lost" | "twice" | "late" | "reversed" | "garbled";
  readonly rest: "good" | "refused" | "nonsense" | "lagging" | "slow";
};

const weather: fc.Arbitrary<Weather> = fc.record({
  afterMs: fc.oneof(fc.integer({ min: 1, max: 999 }), fc.integer({ min: 1_000, max: 4_000 })),
  isUp: fc.constantFrom(true, true, true, false),
  fate: fc.constantFrom("whole", "whole", "lost", "twice", "late", "reversed", "garbled"),
  rest: fc.constantFrom("good", "good", "refused", "nonsense", "lagging", "slow"),
});

/**
 * The exchange as it really is: candle `n` starts `n` seconds after the beginning, unless it is one that does
 * not exist.
 */
class Truth {
  readonly #absent: ReadonlySet<number>;

  constructor(absent: readonly number[]) {
    this.#absent = new Set(absent);
  }

  exists(candle: number): boolean {
    return candle >= 0 && !this.#absent.has(candle);
  }

  /** Its close at a time. No two moments of a candle have the same. */
  closeOf(candle: number, at: number): string {
    const ageMs = Math.min(lengthMs, at - startAt - candle * lengthMs);
    return `${candle + 1}.${String(ageMs).padStart(4, "0")}`;
  }

  kline(candle: number, at: number, isFinal: boolean): object {
    const t = startAt + candle * lengthMs;
    const close = this.closeOf(candle, at);
    const k = {
      t,
      T: t + lengthMs - 1,
      s: "BTCUSDT",
      i: "1s",
      o: "1.0",
      h: "2.0",
      l: "0.5",
      c: close,
      v: "3",
    };
    return { e: "kline", E: at, s: "BTCUSDT", k: { ...k, x: isFinal } };
  }

  /** Messages of an interval: every final at its time, and at the end the state of the open candle. */
  said(from: number, to: number): object[] {
    const finals: object[] = [];
    for (let candle = candleAt(from); candle < candleAt(to); candle += 1) {
      if (this.exists(candle)) finals.push(this.kline(candle, startAt + (candle + 1) * lengthMs, true));
    }
    const present = candleAt(to);
    return this.exists(present) && to % lengthMs > 0 ? [...finals, this.kline(present, to, false)] : finals;
  }

  rows(search: URLSearchParams, at: number): unknown[][] {
    const rows: unknown[][] = [];
    const first = Math.ceil((Number(search.get("startTime")) - startAt) / lengthMs);
    for (
      let candle = first;
      candle <= candleAt(at) && rows.length < Number(search.get("limit"));
      candle += 1
    ) {
      if (!this.exists(candle)) continue;
      const t = startAt + candle * lengthMs;
      rows.push([t, "1.0", "2.0", "0.5", this.closeOf(candle, at), "3", t + lengthMs - 1]);
    }
    return rows;
  }
}

function candleAt(at: number): number {
  return Math.floor((at - startAt) / lengthMs);
}

type Kline = {
  readonly E: number;
  readonly k: { readonly t: number; readonly c: string; readonly x: boolean };
};

test("every final is sent once and in order, and no tick after its final or after a newer one", async () => {
  let finalsChecked = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(weather, { maxLength: 60 }),
      fc.array(fc.nat(100), { maxLength: 20 }),
      fc.boolean(),
      async (days, absent, isSilentInTheEnd) => {
        const truth = new Truth(absent);
        const time = createManualTime(startAt);
        const heard = createHeard<CandleTopic, MarketData>();
        const slow: (() => void)[] = [];
        let rest: Weather["rest"] = "good";
        const market = createStubMarket((search) => {
          const at = rest === "lagging" ? time.now() - 1_500 : time.now();
          const body = JSON.stringify(truth.rows(search, at));
          const answer: UpstreamAnswer = { unavailable: false, status: 200, text: body };
          if (rest === "refused") return { unavailable: true, reason: "refused" };
          if (rest === "nonsense") return { ...answer, text: body.slice(0, -1) };
          if (rest !== "slow") return answer;
          return new Promise((resolve) => slow.push(() => resolve(answer)));
        });
        const source = createCandles({
          market,
          audience: heard,
          isMetered: false,
          wallClock: time,
          timers: time,
          log: { info() {}, warn() {}, error() {} },
        });
        source.follow(topic);
        const said: Kline[] = [];
        const say = (messages: readonly object[]) => {
          for (const message of messages) {
            said.push(message as Kline);
            market.say(stream, message);
          }
        };
        let late: object[] = [];

        for (const { afterMs, isUp, fate, rest: mode } of days) {
          const from = time.now();
          market.isUp = isUp;
          rest = mode;
          for (const answer of slow.splice(0)) answer();
          time.advance(afterMs);
          await settled();
          const news = isUp ? truth.said(from, time.now()) : [];
          if (fate === "whole") say(news);
          if (fate === "twice") say([...news, ...news]);
          if (fate === "reversed") say(news.toReversed());
          if (fate === "garbled") for (const message of news) market.say(stream, { ...message, E: "soon" });
          if (isUp) say(late);
          late = fate === "late" ? news : [];
          await settled();
        }
        market.isUp = true;
        rest = "good";
        for (let second = 0; second < calmSeconds; second += 1) {
          for (const answer of slow.splice(0)) answer();
          const from = time.now();
          time.advance(777);
          if (!isSilentInTheEnd) say(truth.said(from, time.now()));
          await settled();
        }
        source.close();

        const sent = heard.messages().map(({ candle }) => candle);
        const first = said[0];
        if (first === undefined) {
          expect(sent).toEqual([]);
          return;
        }
        // All finals from the first received candle on, with their last values.
        const finals = sent
          .filter(({ isFinal }) => isFinal)
          .map(({ startTime, close }) => `${startTime} ${close}`);
        const expected: string[] = [];
        for (let candle = candleAt(first.k.t); candle < candleAt(time.now()); candle += 1) {
          const t = startAt + candle * lengthMs;
          if (truth.exists(candle)) expected.push(`${t} ${truth.closeOf(candle, t + lengthMs)}`);
        }
        const due = expected.filter(
          (final) => Number(final.split(" ")[0]) + lengthMs + finalWithinMs < time.now(),
        );
        expect(finals).toEqual(expected.slice(0, finals.length));
        expect(finals.length).toBeGreaterThanOrEqual(due.length);
        finalsChecked += finals.length;
        // Ticks: in the order of upstream, never back.
        const ticks = new Set(said.filter(({ k }) => !k.x).map(({ k }) => `${k.t} ${k.c}`));
        for (const [place, { startTime, close, isFinal }] of sent.entries()) {
          if (!isFinal) expect(ticks).toContain(`${startTime} ${close}`);
          const before = sent[place - 1];
          if (before === undefined) continue;
          if (before.isFinal) expect(startTime).toBeGreaterThan(before.startTime);
          else if (startTime === before.startTime) expect(close > before.close).toBe(true);
          else expect(startTime).toBeGreaterThan(before.startTime);
        }
      },
    ),
    { numRuns: 300 },
  );
  expect(finalsChecked).toBeGreaterThan(5_000);
});

/** Runs everything that is ready. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
