// What happened to a strategy, in the past tense. An event carries its postings, so that applying it needs no rules:
// whoever replays the journal gets the same account, also after a rule has changed.
import type { Posting } from "../money/posting.ts";
import type { Order, Trade } from "./order.ts";

type Happening = {
  /** Market time, Unix ms. */
  readonly at: number;
  /** The money that moved, in order. */
  readonly postings: readonly Posting[];
};

/** The strategy got its virtual seed. */
export type StrategyOpened = Happening & { readonly type: "StrategyOpened" };
/** The order as it came in: NEW, nothing executed yet. */
export type OrderPlaced = Happening & { readonly type: "OrderPlaced"; readonly order: Order };
export type OrderFilled = Happening & { readonly type: "OrderFilled"; readonly trade: Trade };
export type OrderCanceled = Happening & { readonly type: "OrderCanceled"; readonly orderId: number };

export type DomainEvent = StrategyOpened | OrderPlaced | OrderFilled | OrderCanceled;
