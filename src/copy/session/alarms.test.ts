import { beforeEach, expect, test } from "vitest";
import { type CopyAlarm, type CopyBook, EMPTY_BOOK } from "../../domain/copying.ts";
import { type Amount, decimal, type Price, type Quantity } from "../../money/decimal.ts";
import { Alarms, EXIT_ATTEMPTS_TOLD } from "./alarms.ts";

const PRICES = new Map([["BTCUSDT", decimal<Price>("100")]]);

let now: number;
let told: CopyAlarm[];
let alarms: Alarms;

beforeEach(() => {
  now = 1_000_000;
  told = [];
  alarms = new Alarms({ tell: (alarm) => told.push(alarm), now: () => now });
});

/** A copy of 1,000 that has so much more than its target, at 100 each. */
function bookWith(excess: string): CopyBook {
  const quantity = decimal<Quantity>(excess);
  const worth = decimal<Amount>("1000");
  return {
    ...EMPTY_BOOK,
    holdings: new Map([
      ["BTCUSDT", { quantity, cost: decimal<Amount>("1"), target: decimal<Quantity>("0") }],
    ]),
    snapshot: { at: now, wallet: worth, available: worth, equity: worth, held: new Map() },
  };
}

test("a copier gets a mail about an exit that the venue refuses repeatedly, and not about one refused once", () => {
  for (let attempt = 1; attempt < EXIT_ATTEMPTS_TOLD; attempt += 1) alarms.noteExit("BTCUSDT", true);
  alarms.noteExit("BTCUSDT", false);
  for (let attempt = 1; attempt < EXIT_ATTEMPTS_TOLD; attempt += 1) alarms.noteExit("BTCUSDT", true);
  expect(told).toEqual([]);
  alarms.noteExit("BTCUSDT", true);
  alarms.noteExit("BTCUSDT", true);
  expect(told).toEqual(["EXIT_FAILED"]);
});

test("the same mail is sent again after six hours", () => {
  alarms.raise("CLOSED_BY_VENUE");
  now += 6 * 3_600_000 - 1;
  alarms.raise("CLOSED_BY_VENUE");
  expect(told).toEqual(["CLOSED_BY_VENUE"]);
  now += 1;
  alarms.raise("CLOSED_BY_VENUE");
  expect(told).toEqual(["CLOSED_BY_VENUE", "CLOSED_BY_VENUE"]);
});

test("a copy is behind when something is not dealt with after a minute", () => {
  const due = [{ leadAt: now }];
  now += 60_000;
  alarms.check(EMPTY_BOOK, PRICES, due);
  expect(told).toEqual([]);
  now += 1;
  alarms.check(EMPTY_BOOK, PRICES, due);
  expect(told).toEqual(["BEHIND"]);
});

test("a copy is off its target when more than a tenth of it is in excess for more than a minute", () => {
  const passes = (excess: string, seconds: number) => {
    alarms.check(bookWith(excess), PRICES, []);
    now += seconds * 1_000;
    alarms.check(bookWith(excess), PRICES, []);
  };
  passes("1", 600);
  passes("-1.1", 60);
  passes("1", 1);
  passes("1.1", 60);
  expect(told).toEqual([]);
  passes("1.1", 1);
  expect(told).toEqual(["OFF_TARGET"]);
});
