// How often a holder may ask within a minute of the clock, and that holders beyond all count share one
// budget.
import { expect, test } from "vitest";
import { HOLDERS_MAX, KnownSessions, RequestBudgets } from "./request-budgets.ts";

const MINUTE_MS = 60_000;

test("a holder has so many a minute, whatever others ask", () => {
  const budgets = new RequestBudgets();
  expect([1, 2, 3].map(() => budgets.charge("one", 2, MINUTE_MS + 1_500))).toEqual([null, null, 59]);
  expect(budgets.charge("other", 2, 2 * MINUTE_MS - 1)).toBeNull();
  expect(budgets.charge("one", 2, 2 * MINUTE_MS - 1)).toBe(1);
  expect(budgets.charge("one", 2, 2 * MINUTE_MS)).toBeNull();
});

test("holders beyond the bound share one budget, and known holders keep theirs", () => {
  const budgets = new RequestBudgets();
  for (let holder = 0; holder < HOLDERS_MAX; holder += 1) budgets.charge(`holder ${holder}`, 2, 0);
  expect([1, 2, 3].map((stranger) => budgets.charge(`stranger ${stranger}`, 2, 0))).toEqual([null, null, 60]);
  expect(budgets.charge("holder 7", 2, 0)).toBeNull();
});

test("whose cookies were sent is known for at least ten minutes, and not for more than twenty", () => {
  const known = new KnownSessions();
  known.note("session=1", "a person", 9 * MINUTE_MS);
  expect(known.personOf("session=1", 19 * MINUTE_MS)).toBe("a person");
  expect(known.personOf("session=2", 19 * MINUTE_MS)).toBeNull();
  expect(known.personOf("session=1", 20 * MINUTE_MS)).toBeNull();
  known.note("session=1", "a person", 20 * MINUTE_MS);
  known.forget("session=1");
  expect(known.personOf("session=1", 20 * MINUTE_MS)).toBeNull();
  known.note("session=1", "a person", 20 * MINUTE_MS);
  expect(known.personOf("session=1", 40 * MINUTE_MS), "after a long silence").toBeNull();
});
