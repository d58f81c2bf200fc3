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

test("a refused request is not counted, and a charge is given back within its minute alone", () => {
  const budgets = new RequestBudgets();
  const ask = (now: number) => budgets.charge("one", 2, now);
  expect([ask(0), ask(0), ask(0), ask(0)]).toEqual([null, null, 60, 60]);
  budgets.giveBack("one", 0);
  expect([ask(1_000), ask(1_000)]).toEqual([null, 59]);
  expect([ask(MINUTE_MS), ask(MINUTE_MS)]).toEqual([null, null]);
  budgets.giveBack("one", 59_999);
  expect(ask(MINUTE_MS)).toBe(60);
});

test("a charge of a holder beyond the bound is given back to the budget that all such holders share", () => {
  const budgets = new RequestBudgets();
  for (let holder = 0; holder < HOLDERS_MAX; holder += 1) budgets.charge(`holder ${holder}`, 2, 0);
  for (let count = 0; count < 5; count += 1) {
    expect(budgets.charge("a stranger", 1, 0)).toBeNull();
    budgets.giveBack("a stranger", 0);
  }
  budgets.charge("a stranger", 1, 0);
  expect(budgets.charge("another", 1, 0)).toBe(60);
});

test("whose token was sent is known for at least ten minutes, and not for more than twenty", () => {
  const known = new KnownSessions();
  known.note("token 1", "a person", 9 * MINUTE_MS);
  expect(known.personOf("token 1", 19 * MINUTE_MS)).toBe("a person");
  expect(known.personOf("token 2", 19 * MINUTE_MS)).toBeNull();
  expect(known.personOf("token 1", 20 * MINUTE_MS)).toBeNull();
  known.note("token 1", "a person", 20 * MINUTE_MS);
  known.forget("token 1");
  expect(known.personOf("token 1", 20 * MINUTE_MS)).toBeNull();
  known.note("token 1", "a person", 20 * MINUTE_MS);
  expect(known.personOf("token 1", 40 * MINUTE_MS), "after a long silence").toBeNull();
});
