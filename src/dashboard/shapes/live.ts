// What the server and the browser send each other live, over Socket.IO, in the namespace /dashboard.
import type { StrategyType } from "../../domain/account.ts";
import type { BookShape, CandleShape, PriceShape } from "./markets.ts";

/** What of a strategy has changed. */
export type ChangedPart =
  | "account"
  | "orders"
  | "legs"
  | "positions"
  | "trades"
  | "signals"
  | "status"
  | "requests";
export type Topic =
  | {
      readonly kind: "candles";
      readonly family: StrategyType;
      readonly symbol: string;
      readonly interval: string;
    }
  | { readonly kind: "depth"; readonly family: StrategyType; readonly symbol: string }
  | { readonly kind: "prices"; readonly family: StrategyType; readonly symbol: string };
/** By name, what the server sends. */
export type ServerMessages = {
  readonly changed: { readonly strategyId: string; readonly what: readonly ChangedPart[] };
  /** A copy of one's own has changed, or what became of its orders. */
  readonly copyChanged: { readonly copyId: string };
  readonly candle: {
    readonly family: StrategyType;
    readonly symbol: string;
    readonly interval: string;
    readonly candle: CandleShape;
  };
  readonly book: BookShape;
  readonly price: PriceShape;
  /** Nothing has been heard of a topic for a while, since `since`; the next message of it ends that. */
  readonly stale: { readonly topic: Topic; readonly since: number };
  readonly refused: { readonly code: string; readonly message: string };
  /**
   * At once, and every second while the connection lasts: without one for a while, what a page shows is not
   * live.
   */
  readonly heartbeat: Readonly<Record<string, never>>;
};
/** By name, what the browser sends. */
export type ClientMessages = {
  readonly watch: { readonly strategyId: string };
  readonly unwatch: { readonly strategyId: string };
  readonly watchCopy: { readonly copyId: string };
  readonly unwatchCopy: { readonly copyId: string };
  readonly follow: Topic;
  readonly unfollow: Topic;
};
