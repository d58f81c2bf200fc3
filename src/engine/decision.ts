// The input and the result of a decision.
import type { FillProfile } from "../domain/account.ts";
import type { DomainEvent } from "../domain/event.ts";
import type { Market } from "../domain/market.ts";
import type { Refusal } from "../domain/refusal.ts";

export type Circumstances = {
  readonly market: Market;
  readonly profile: FillProfile;
  /** Market time, Unix ms: the time of whatever is decided. */
  readonly at: number;
  /**
   * When the gateway admitted a client's request, wall time in Unix ms; absent for commands without a
   * client's request.
   */
  readonly admittedAt?: number | undefined;
};

/** Either what happened, in order, or why nothing did. An empty list is a success that changed nothing. */
export type Decision = Happened | Refusal;
export type Happened = { readonly events: readonly DomainEvent[] };
