import { describe, expect, test } from "vitest";
import { emptyAccount } from "../domain/account.ts";
import type { DomainEvent } from "../domain/event.ts";
import { apply } from "./apply.ts";

describe("the ids from which times ascend", () => {
  const MINUTE_MS = 60_000;

  /** Whether they are the next ids after an event `stepMs` after the one before it. */
  function areNextAfter(stepMs: number): boolean {
    const account = emptyAccount("one", "FUTURES");
    const changed = (at: number): DomainEvent => ({
      type: "LeverageChanged",
      at,
      symbol: "BTCUSDT",
      leverage: 20,
      postings: [],
    });
    apply(account, changed(10 * MINUTE_MS));
    account.nextOrderId = 7;
    account.nextTradeId = 5;
    apply(account, changed(10 * MINUTE_MS + stepMs));
    expect([1, 7]).toContain(account.ascendsFrom.orderId);
    expect(account.ascendsFrom.tradeId).toBe(account.ascendsFrom.orderId === 7 ? 5 : 1);
    return account.ascendsFrom.orderId === 7;
  }

  test("are the next ids when time goes back, as when a tape is played again", () => {
    expect(areNextAfter(-MINUTE_MS)).toBe(true);
  });

  test("stay when time goes on, or back by no more than clocks of servers differ", () => {
    expect([MINUTE_MS, 0, -1, -1_000].map(areNextAfter)).toEqual([false, false, false, false]);
  });
});
