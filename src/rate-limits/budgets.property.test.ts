// Budgets against an oracle: a model that stores every request with its time and counts again at each step,
// written from the specification alone. Times jump around the edges of windows; several holders alternate.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Budgets, type LoggedBudgets } from "./budgets.ts";

/** A full minute by the clock. */
const START = 29_000_000 * 60_000;
const HOLDERS = ["key:a", "key:b", "ip:192.0.2.7"] as const;

type Cost = { readonly weight: number; readonly placesOrder: boolean; readonly isRead?: boolean };

type Step = {
  readonly holder: string;
  readonly now: number;
  readonly request: Cost | "failure";
};

type Verdict = {
  readonly answer:
    | "granted"
    | "weight"
    | "orders in 10 s"
    | "orders in 1 min"
    | "reads"
    | "failures"
    | "banned";
  readonly retryAfterSeconds: number;
  readonly usage: { readonly weight: number; readonly orders10s: number; readonly orders1m: number };
};

/** A request of one holder, and the windows of the clock that its time lies in. */
type Row = {
  readonly at: number;
  readonly minute: string;
  readonly tenSeconds: string;
  readonly weight: number;
};

/** The specification, sentence by sentence, over a list of all requests of one holder. */
class Referee {
  readonly #weights: Row[] = [];
  readonly #orders: Row[] = [];
  readonly #reads: Row[] = [];
  readonly #failures: Row[] = [];
  readonly #refusals: Row[] = [];
  readonly #bans: { readonly until: number }[] = [];

  judge({ now, request }: Omit<Step, "holder">): Verdict {
    // "banned for two minutes, and every request in that time answers 418"
    const ban = this.#bans.find(({ until }) => now < until);
    if (ban !== undefined) return this.#verdict("banned", now, ban.until);

    if (request === "failure") {
      // "charged to a bucket of their own per IP (1,200 a minute, then 429)"
      this.#failures.push(rowOf(now));
      if (inMinuteOf(now, this.#failures).length > 1_200)
        return this.#refuse("failures", now, nextMinute(now));
      return this.#verdict("granted", now, now);
    }
    // "Weight is charged before execution and is not refunded"; "1,200 weight per minute"
    this.#weights.push(rowOf(now, request.weight));
    if (request.weight > 0 && this.#usage(now).weight > 1_200)
      return this.#refuse("weight", now, nextMinute(now));
    // "60 requests per 10 seconds per key"
    if (request.isRead === true) {
      this.#reads.push(rowOf(now));
      const tenSeconds = tenSecondsOf(now);
      if (this.#reads.filter((row) => row.tenSeconds === tenSeconds).length > 60)
        return this.#refuse("reads", now, nextTenSeconds(now));
    }
    // "50 per 10 seconds and 1,200 per minute", "placements only"
    if (request.placesOrder) {
      this.#orders.push(rowOf(now));
      const { orders10s, orders1m } = this.#usage(now);
      if (orders10s > 50) return this.#refuse("orders in 10 s", now, nextTenSeconds(now));
      if (orders1m > 1_200) return this.#refuse("orders in 1 min", now, nextMinute(now));
    }
    return this.#verdict("granted", now, now);
  }

  isBanned(now: number): boolean {
    return this.#bans.some(({ until }) => now < until);
  }

  #refuse(answer: Verdict["answer"], now: number, until: number): Verdict {
    this.#refusals.push(rowOf(now));
    // "ten 429s inside one minute"
    if (this.#refusals.filter(({ at }) => at > now - 60_000).length >= 10)
      this.#bans.push({ until: now + 120_000 });
    return this.#verdict(answer, now, until);
  }

  #verdict(answer: Verdict["answer"], now: number, until: number): Verdict {
    return { answer, retryAfterSeconds: Math.ceil((until - now) / 1_000), usage: this.#usage(now) };
  }

  // "Windows are calendar-aligned (the minute bucket resets on the minute)"
  #usage(now: number): Verdict["usage"] {
    const orders = inMinuteOf(now, this.#orders);
    const tenSeconds = tenSecondsOf(now);
    return {
      weight: inMinuteOf(now, this.#weights).reduce((total, { weight }) => total + weight, 0),
      orders10s: orders.filter((row) => row.tenSeconds === tenSeconds).length,
      orders1m: orders.length,
    };
  }
}

function rowOf(at: number, weight = 0): Row {
  return { at, minute: minuteOf(at), tenSeconds: tenSecondsOf(at), weight };
}

function inMinuteOf(now: number, rows: readonly Row[]): Row[] {
  const minute = minuteOf(now);
  return rows.filter((row) => row.minute === minute);
}

/** The minute and the ten seconds of the clock, read off its face. */
function minuteOf(time: number): string {
  return new Date(time).toISOString().slice(0, "2025-01-01T00:00".length);
}

function tenSecondsOf(time: number): string {
  return new Date(time).toISOString().slice(0, "2025-01-01T00:00:0".length);
}

function nextMinute(time: number): number {
  return Date.parse(`${minuteOf(time)}:00.000Z`) + 60_000;
}

function nextTenSeconds(time: number): number {
  return Date.parse(`${tenSecondsOf(time)}0.000Z`) + 10_000;
}

function verdictOf(budgets: Budgets, { holder, now, request }: Step): Verdict {
  const charged =
    request === "failure" ? budgets.chargeFailure(holder, now) : budgets.charge(holder, now, request);
  const usage = budgets.usage(holder, now);
  if (charged === null) return { answer: "granted", retryAfterSeconds: 0, usage };
  expect(charged.usage).toEqual(usage);
  return { answer: answerOf(charged.refusal, request), retryAfterSeconds: charged.retryAfterSeconds, usage };
}

function answerOf(
  refusal: ReturnType<Budgets["charge"]>["refusal"],
  request: Step["request"],
): Verdict["answer"] {
  switch (refusal?.refusal) {
    case undefined:
      return "granted";
    case "BANNED":
      return "banned";
    case "WEIGHT_EXHAUSTED":
      return request === "failure" ? "failures" : "weight";
    case "READS_EXHAUSTED":
      return "reads";
    case "ORDERS_EXHAUSTED":
      return refusal.interval === "1 MINUTE" ? "orders in 1 min" : "orders in 10 s";
    default:
      throw new Error(`budgets refuse for reasons of their own only: ${refusal?.refusal}`);
  }
}

/** How the clock advances from one request to the next. */
const hop = fc.oneof(
  { weight: 12, arbitrary: fc.constant((now: number) => now) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 900 }).map((ms) => (now: number) => now + ms) },
  { weight: 2, arbitrary: fc.constant((now: number) => nextTenSeconds(now) - 1) },
  { weight: 2, arbitrary: fc.constant(nextTenSeconds) },
  { weight: 1, arbitrary: fc.constant((now: number) => nextMinute(now) - 1) },
  { weight: 1, arbitrary: fc.constant(nextMinute) },
  // The edges of the sliding minute and of a ban.
  {
    weight: 1,
    arbitrary: fc.constantFrom(59_999, 60_000, 119_999, 120_000).map((ms) => (now: number) => now + ms),
  },
);
const request = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(1, 20, 40, 300, 1_200).map((weight) => ({ weight, placesOrder: false })),
  },
  { weight: 6, arbitrary: fc.constant({ weight: 1, placesOrder: true }) },
  { weight: 3, arbitrary: fc.constant({ weight: 0, placesOrder: false, isRead: true }) },
  { weight: 2, arbitrary: fc.constant({ weight: 0, placesOrder: true }) },
  { weight: 1, arbitrary: fc.constant("failure" as const) },
);
/** Requests come in bursts: one alone hardly ever uses a budget up. */
const burst = fc.record({
  holder: fc.constantFrom(...HOLDERS),
  hop,
  request,
  /** Which of two processes gets the request, and whether it has just been restarted. */
  by: fc.constantFrom(0 as const, 1 as const),
  isRestarted: fc.boolean(),
  times: fc.constantFrom(1, 1, 1, 2, 2, 9, 10, 10, 30, 51, 60, 1_201),
});
const bursts = fc.array(burst, { minLength: 1, maxLength: 30, size: "max" });

type Burst = typeof burst extends fc.Arbitrary<infer Value> ? Value : never;

/** Runs every step of a sequence through both; returns the cases that occurred. */
function compare(
  sequence: readonly Burst[],
  budgetsOf: (each: Burst, now: number) => Budgets,
  afterwards: (budgets: Budgets, now: number) => void = () => {},
): Set<Verdict["answer"]> {
  const seen = new Set<Verdict["answer"]>();
  const referees = new Map<string, Referee>();
  let now = START;
  for (const each of sequence) {
    const { holder, request: asked } = each;
    const referee = referees.get(holder) ?? new Referee();
    referees.set(holder, referee);
    now = each.hop(now);
    const budgets = budgetsOf(each, now);
    // Only failures have to come by the thousand.
    const times = asked === "failure" ? each.times : Math.min(each.times, 61);
    for (let count = 0; count < times; count += 1) {
      const step = { holder, now, request: asked };
      const expected = referee.judge(step);
      seen.add(expected.answer);
      expect(verdictOf(budgets, step)).toEqual(expected);
      expect(budgets.ban(holder, now) !== null).toBe(referee.isBanned(now));
      afterwards(budgets, now);
    }
  }
  return seen;
}

/** A run that never came to these would prove nothing about them. */
const ANSWERS: readonly Verdict["answer"][] = [
  "banned",
  "failures",
  "granted",
  "orders in 10 s",
  "reads",
  "weight",
];

test("usage, refusal, Retry-After and ban equal those of a model that counts every request again", async () => {
  const seen = new Set<Verdict["answer"]>();
  await fc.assert(
    fc.property(bursts, (sequence) => {
      const budgets = new Budgets();
      for (const answer of compare(sequence, () => budgets)) seen.add(answer);
    }),
    { numRuns: 300 },
  );
  expect([...seen].sort()).toEqual(ANSWERS);
});

test("two processes that read each other's log at every step, and are restarted now and then, are like one", async () => {
  const seen = new Set<Verdict["answer"]>();
  let restarts = 0;
  await fc.assert(
    fc.property(bursts, (sequence) => {
      const processes = [new Budgets(), new Budgets()] as [Budgets, Budgets];
      const log: LoggedBudgets[] = [];
      const budgetsOf = ({ by, isRestarted }: Burst, now: number) => {
        if (isRestarted) {
          restarts += 1;
          processes[by] = new Budgets();
          for (const entry of log) processes[by].absorb(entry, now);
        }
        return processes[by];
      };
      const exchange = (budgets: Budgets, now: number) => {
        const entry = budgets.takeUnlogged(HOLDERS.length);
        if (entry === null) return;
        log.push(entry);
        for (const other of processes) if (other !== budgets) other.absorb(entry, now);
      };
      for (const answer of compare(sequence, budgetsOf, exchange)) seen.add(answer);
    }),
    { numRuns: 300 },
  );
  expect([...seen].sort()).toEqual(ANSWERS);
  expect(restarts).toBeGreaterThan(0);
});
