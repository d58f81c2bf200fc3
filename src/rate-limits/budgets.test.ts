import { describe, expect, test } from "vitest";
import { ORDERS_PER_10_SECONDS } from "../domain/order-counts.ts";
import { decodeBudgets, encodeBudgets } from "../store/budget-codec.ts";
import {
  Budgets,
  PLACEMENTS_PER_PERSON_PER_DAY,
  READS_PER_10_SECONDS,
  WEIGHT_PER_MINUTE,
} from "./budgets.ts";

const MINUTE = 60_000;
/** A full minute by the clock. */
const T = 29_000_000 * MINUTE;
const read = (weight: number) => ({ weight, placesOrder: false });
const order = { weight: 1, placesOrder: true };

describe("request weight", () => {
  test("1,200 a minute are granted, the next unit is refused until the minute ends", () => {
    const budgets = new Budgets();
    expect(budgets.charge("key:a", T, read(WEIGHT_PER_MINUTE)).refusal).toBeNull();
    const refused = budgets.charge("key:a", T + 15_500, read(1));
    expect(refused.refusal?.refusal).toBe("WEIGHT_EXHAUSTED");
    expect(refused.retryAfterSeconds).toBe(45);
    expect(budgets.charge("key:a", T + MINUTE, read(1))).toMatchObject({
      refusal: null,
      usage: { weight: 1 },
    });
  });

  test("the window is the clock's minute, not sixty seconds from the first request", () => {
    const budgets = new Budgets();
    budgets.charge("key:a", T + MINUTE - 1, read(WEIGHT_PER_MINUTE));
    expect(budgets.charge("key:a", T + MINUTE, read(WEIGHT_PER_MINUTE)).refusal).toBeNull();
  });

  test("holders do not share", () => {
    const budgets = new Budgets();
    budgets.charge("key:a", T, read(WEIGHT_PER_MINUTE));
    expect(budgets.charge("key:b", T, read(1)).refusal).toBeNull();
  });
});

describe("order counts", () => {
  test("50 in ten seconds are granted, the next is refused until the ten seconds are over", () => {
    const budgets = new Budgets();
    for (let count = 1; count <= ORDERS_PER_10_SECONDS; count += 1) {
      expect(budgets.charge("key:a", T, order)).toMatchObject({ refusal: null, usage: { orders10s: count } });
    }
    const refused = budgets.charge("key:a", T + 3_000, order);
    expect(refused).toMatchObject({ refusal: { refusal: "ORDERS_EXHAUSTED" }, retryAfterSeconds: 7 });
    expect(budgets.charge("key:a", T + 10_000, order).refusal).toBeNull();
  });

  test("a read does not count as an order", () => {
    const budgets = new Budgets();
    expect(budgets.charge("key:a", T, read(20)).usage).toEqual({ weight: 20, orders10s: 0, orders1m: 0 });
  });
});

describe("placements of a person's day", () => {
  const DAY = 24 * 60 * MINUTE;
  /** Noon. */
  const NOON = Math.floor(T / DAY) * DAY + DAY / 2;
  const placement = { weight: 0, placesOrder: true, person: "person:ada" };

  /** Uses up a day except for this many placements, with keys that each stay within their own budgets. */
  function useUp(budgets: Budgets, left: number): void {
    for (let placed = 0; placed < PLACEMENTS_PER_PERSON_PER_DAY - left; placed += 1) {
      const key = `key:${Math.floor(placed / ORDERS_PER_10_SECONDS)}`;
      if (budgets.charge(key, NOON, placement).refusal !== null)
        throw new Error("a key keeps within its budgets");
    }
  }

  test("fit what one key may place that never pauses", () => {
    expect(PLACEMENTS_PER_PERSON_PER_DAY).toBe(ORDERS_PER_10_SECONDS * 6 * 60 * 24);
  });

  test("are granted to all keys together, the next is refused until the day ends", () => {
    const budgets = new Budgets();
    useUp(budgets, 1);
    expect(budgets.charge("key:mine", NOON, placement).refusal).toBeNull();
    const refused = budgets.charge("key:mine", NOON, placement);
    expect(refused).toMatchObject({
      refusal: { refusal: "ORDERS_EXHAUSTED", limit: PLACEMENTS_PER_PERSON_PER_DAY, interval: "1 DAY" },
      retryAfterSeconds: 43_200,
    });
    expect(budgets.charge("key:mine", NOON, read(1)).refusal).toBeNull();
    expect(budgets.charge("key:of another", NOON, { ...placement, person: "person:bob" }).refusal).toBeNull();
    expect(budgets.charge("key:mine", NOON + DAY / 2, placement).refusal).toBeNull();
  });

  test("are known to the other servers of the database by the log", () => {
    const [here, there] = [new Budgets(), new Budgets()];
    useUp(here, 0);
    const logged = here.takeUnlogged(100_000);
    if (logged === null) throw new Error("there is something to log");
    there.absorb(decodeBudgets(encodeBudgets(logged)), NOON);
    expect(there.charge("key:mine", NOON, placement).refusal).toMatchObject({ interval: "1 DAY" });
  });
});

describe("reads of the bot family", () => {
  const botRead = { weight: 0, placesOrder: false, isRead: true };

  test("60 in ten seconds are granted, the next is refused until the ten seconds are over", () => {
    const budgets = new Budgets();
    for (let count = 1; count <= READS_PER_10_SECONDS; count += 1) {
      expect(budgets.charge("key:a", T, botRead).refusal).toBeNull();
    }
    const refused = budgets.charge("key:a", T + 3_000, botRead);
    expect(refused.refusal).toEqual({ refusal: "READS_EXHAUSTED", limit: 60 });
    expect(refused.retryAfterSeconds).toBe(7);
    expect(budgets.charge("key:a", T + 10_000, botRead).refusal).toBeNull();
  });

  test("they use up nothing else, and nothing else uses them up", () => {
    const budgets = new Budgets();
    for (let count = 0; count <= READS_PER_10_SECONDS; count += 1) budgets.charge("key:a", T, botRead);
    expect(budgets.usage("key:a", T)).toEqual({ weight: 0, orders10s: 0, orders1m: 0 });
    expect(budgets.charge("key:a", T, order).refusal).toBeNull();
    budgets.charge("key:b", T, read(WEIGHT_PER_MINUTE + 1));
    expect(budgets.charge("key:b", T, botRead).refusal).toBeNull();
    expect(budgets.charge("key:b", T, { weight: 0, placesOrder: true }).refusal).toBeNull();
    expect(budgets.charge("key:b", T, read(1)).refusal?.refusal).toBe("WEIGHT_EXHAUSTED");
  });

  test("their refusals count towards the ban", () => {
    const budgets = new Budgets();
    for (let count = 0; count < READS_PER_10_SECONDS + 9; count += 1) budgets.charge("key:a", T, botRead);
    expect(budgets.ban("key:a", T)).toBeNull();
    expect(budgets.charge("key:a", T, botRead).banStored).not.toBeNull();
    expect(budgets.ban("key:a", T)).not.toBeNull();
  });

  test("what another process has logged is counted", () => {
    const [one, other] = [new Budgets(), new Budgets()];
    for (let count = 0; count < READS_PER_10_SECONDS; count += 1) one.charge("key:a", T, botRead);
    const logged = one.takeUnlogged(1);
    if (logged === null) throw new Error("there are charges");
    other.absorb(decodeBudgets(encodeBudgets(logged)), T);
    expect(other.charge("key:a", T, botRead).refusal?.refusal).toBe("READS_EXHAUSTED");
  });

  test("an entry of the log from before there were any has none", () => {
    const text = '{"charges":[["key:a",1,20,1,0,[]]],"bans":[]}';
    expect(decodeBudgets(text).charges).toMatchObject([{ weight: 20, orders: 1, reads: 0 }]);
  });
});

describe("bans", () => {
  const exhausted = () => {
    const budgets = new Budgets();
    budgets.charge("key:a", T, read(WEIGHT_PER_MINUTE));
    return budgets;
  };

  test("the tenth refusal within a minute is still a refusal, the request after it finds a ban of two minutes", () => {
    const budgets = exhausted();
    for (let count = 1; count <= 10; count += 1) {
      expect(budgets.ban("key:a", T + 1_000)).toBeNull();
      expect(budgets.charge("key:a", T + 1_000, read(1)).refusal?.refusal).toBe("WEIGHT_EXHAUSTED");
    }
    expect(budgets.ban("key:a", T + 1_001)).toMatchObject({
      refusal: { refusal: "BANNED", until: T + 121_000 },
      retryAfterSeconds: 120,
    });
    expect(budgets.ban("key:b", T + 1_001)).toBeNull();
    expect(budgets.ban("key:a", T + 121_000)).toBeNull();
  });

  test("refusals more than a minute apart do not add up", () => {
    const budgets = exhausted();
    for (let count = 1; count <= 9; count += 1) budgets.charge("key:a", T + 59_000, read(1));
    budgets.charge("key:a", T + MINUTE, read(WEIGHT_PER_MINUTE));
    budgets.charge("key:a", T + 119_001, read(1));
    expect(budgets.ban("key:a", T + 119_002)).toBeNull();
  });
});
