// A bot's stop orders over a recorded interval of the real market, through the whole of Lyrebird. The oracle
// finds in the recording which trade triggers each of them; it must be triggered by that message and no
// other, and fill at the best price in force then, to the last digit.
import { beforeAll, describe, expect, test } from "vitest";
import { decimal, type Price } from "../../src/money/decimal.ts";
import { seededRandom } from "../support/random.ts";
import { cleanFixtures, openLife, openManualTape } from "./fixture.ts";
import type { Terms } from "./oracle.ts";
import {
  expectAsWanted,
  expectNoFillTwice,
  type Followed,
  isOpen,
  placeOrder,
  playThrough,
} from "./orders.ts";
import { countUntil, isHere, type Message, readMessages, SKIPPED, SYMBOL } from "./recorded.ts";

const SEED = 20240808;
/** At each of them four stops are placed: one of either kind and side. */
const PLACINGS = 40;
/** From a tick to some dollars. */
const DISTANCES = ["0.01", "0.02", "0.05", "0.3", "1", "2.5", "6", "15", "40"].map((text) => decimal(text));
/** Minimum number of cases for each outcome. */
const SEEN_MIN = 10;

cleanFixtures();

describe.skipIf(!isHere)(`stops on the recorded market${SKIPPED}`, () => {
  let messages: readonly Message[];

  beforeAll(() => {
    messages = readMessages();
  });

  test(`${4 * PLACINGS} stops are triggered by the right trades and by nothing else (seed ${SEED})`, async () => {
    const tape = await openManualTape();
    // The oracle and the tape agree on the arrival times.
    expect([...new Set(messages.map(({ at }) => at)).difference(new Set(tape.instants()))]).toEqual([]);
    const life = await openLife(tape);
    const random = seededRandom(SEED);
    const orders: Followed[] = [];
    const playTo = (at: number) => playThrough(life, tape, messages, orders, at);

    for (const [index, strategy] of (await life.seed(PLACINGS)).entries()) {
      const share = index / PLACINGS;
      const at = Math.floor(tape.startsAt + 2_003 + (tape.endsAt - tape.startsAt - 10_000) * share);
      await playTo(at);
      const market = { symbol: SYMBOL, side: "BUY", type: "MARKET", quantity: "0.0003" };
      await life.call(strategy, "POST", "/api/v3/order", market);
      for (const side of ["BUY", "SELL"] as const) {
        for (const hasLimit of [false, true]) {
          orders.push(await placeOrder(life, strategy, stopAt(lastPriceAt(at), side, hasLimit, random)));
        }
      }
    }
    await playTo(tape.endsAt);

    // Nothing has touched what the recording did not reach.
    for (const order of orders) await expectAsWanted(life, order);
    await expectNoFillTwice(life, orders, 1);
    const seen = {
      filled: orders.filter((order) => !isOpen(order) && order.terms.limit === null),
      limitFilled: orders.filter((order) => !isOpen(order) && order.terms.limit !== null),
      resting: orders.filter((order) => isOpen(order) && order.terms.stop === null),
      waiting: orders.filter((order) => order.terms.stop !== null),
    };
    for (const [what, those] of Object.entries(seen)) expect(those.length, what).toBeGreaterThan(SEEN_MIN);
  });

  function lastPriceAt(at: number): Price {
    const heard = messages.slice(0, countUntil(messages, at));
    const price = heard.findLast(({ trade }) => trade !== null)?.trade?.price;
    if (price === undefined) throw new Error(`nothing was traded before ${at}`);
    return price;
  }
});

/**
 * A stop on the far side of the last price; half of the limits lie beyond it, where the market meets them at
 * once.
 */
function stopAt(last: Price, side: Terms["side"], hasLimit: boolean, random: () => number): Terms {
  const distance = () => DISTANCES[Math.floor(random() * DISTANCES.length)] ?? 0n;
  const sign = side === "BUY" ? 1n : -1n;
  const stop = (last + sign * distance()) as Price;
  const beyond = random() < 0.5 ? sign : -sign;
  return { side, stop, limit: hasLimit ? ((stop + beyond * distance()) as Price) : null };
}
