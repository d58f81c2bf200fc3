import { describe, expect, test } from "vitest";
import { ORDERS_PER_10_SECONDS } from "../domain/order-counts.ts";
import { Budgets, WEIGHT_PER_MINUTE } from "./budgets.ts";

const MINUTE = 60_000;
/** A full minute by the clock. */
const T = 29_000_000 * MINUTE;
const read = (weight: number) => ({ weight, placesOrder: false });
const order = { weight: 1, placesOrder: true };

describe("request weight", () => {
  test("1,200 a minute are granted, the next unit is refused until the minute is over", () => {
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
