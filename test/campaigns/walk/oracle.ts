// Checks every decision of a life, and keeps its books a second time.
import type { Account } from "../../../src/domain/account.ts";
import type { Command } from "../../../src/domain/command.ts";
import type { DomainEvent } from "../../../src/domain/event.ts";
import type { Income } from "../../../src/domain/income.ts";
import type { Leg } from "../../../src/domain/leg.ts";
import type { Market } from "../../../src/domain/market.ts";
import type { Order } from "../../../src/domain/order.ts";
import type { Refusal } from "../../../src/domain/refusal.ts";

/** What was decided, and what came of it. */
export type Decided = {
  /** Null for the opening of the strategy. */
  readonly command: Command | null;
  /** Why nothing was done, null if something was. */
  readonly refusal: Refusal | null;
  /** None if it was refused. */
  readonly events: readonly DomainEvent[];
  readonly incomes: readonly Income[];
  /** The orders and the legs that they concern, each as it then stood. */
  readonly orders: readonly Order[];
  readonly legs: readonly Leg[];
  /** What was free of the margin asset before. */
  readonly freeBefore: bigint;
  /** The account after it. */
  readonly account: Account;
  /** The market that it was decided at. */
  readonly market: Market;
};

export type Oracle = {
  /** Throws, saying what does not hold. */
  judge(decided: Decided): void;
};
