// The input and the result of a decision.
import type { DomainEvent } from "../domain/event.ts";
import type { Market } from "../domain/market.ts";
import type { Refusal } from "../domain/refusal.ts";
import type { Quantity } from "../money/decimal.ts";

export type Circumstances = {
  readonly market: Market;
  /** Market time, Unix ms: the time of whatever is decided. */
  readonly at: number;
  /**
   * When the gateway admitted a client's request, wall time in Unix ms; absent for commands without a
   * client's request.
   */
  readonly admittedAt?: number | undefined;
  /**
   * What others display in front of an open order under `strict` now; undefined if that is not followed.
   * Null: unknown.
   */
  readonly aheadOf?: ((orderId: number) => Quantity | null | undefined) | undefined;
};

/** Either what happened, in order, or why nothing did. An empty list is a success that changed nothing. */
export type Decision = Happened | Refusal;
export type Happened = { readonly events: readonly DomainEvent[] };
