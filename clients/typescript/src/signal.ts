// Signals and what they are about: the words of the specification, 2.5 and 2.8. Amounts are decimal strings,
// exact to the last digit; never make floating-point numbers of them.

export type TradeType = "BUY" | "SELL";
export type OrderType = "MARKET" | "LIMIT" | "LIMIT_MAKER" | "STOP_LOSS" | "STOP_LOSS_LIMIT";

type Base = { readonly symbol: string; readonly tradeType: TradeType };

/**
 * An order to be submitted. `quantity` is in the base asset, `quoteOrderQty` in the quote asset; never both.
 */
export type BotOrder =
  | (Base & {
      readonly orderType?: "MARKET";
      readonly quantity: string;
      readonly quoteOrderQty?: never;
    })
  | (Base & {
      readonly tradeType: "BUY";
      readonly orderType?: "MARKET";
      readonly quoteOrderQty: string;
      readonly quantity?: never;
    })
  | (Base & {
      /** LIMIT_MAKER is for strategies with the fill profile `strict`. */
      readonly orderType: "LIMIT" | "LIMIT_MAKER";
      readonly quantity: string;
      readonly price: string;
    })
  | (Base & { readonly orderType: "STOP_LOSS"; readonly quantity: string; readonly stopPrice: string })
  | (Base & {
      readonly orderType: "STOP_LOSS_LIMIT";
      readonly quantity: string;
      readonly price: string;
      readonly stopPrice: string;
    });

/** An order as the exchange-style family shows it. Times are Unix ms. */
export type SpotOrder = {
  readonly symbol: string;
  readonly orderId: number;
  readonly orderListId: number;
  readonly clientOrderId: string;
  readonly price: string;
  readonly origQty: string;
  readonly executedQty: string;
  readonly cummulativeQuoteQty: string;
  readonly stopPrice: string;
  readonly status: "NEW" | "PARTIALLY_FILLED" | "FILLED" | "CANCELED" | "REJECTED" | "EXPIRED";
  readonly timeInForce: string;
  readonly type: OrderType;
  readonly side: TradeType;
  readonly time: number;
  readonly updateTime: number;
  readonly isWorking: boolean;
  /** Names the order and its copies; what `cancel` takes. */
  readonly collectiveId: string;
};

/** Why a signal was rejected, or could not be tried; `code` is that of the exchange-style family. */
export type SignalFault = { readonly status: false; readonly message: string; readonly code: number };

/** The outcome of a signal. Times are ISO 8601 with milliseconds. */
export type SignalState =
  /** Recorded, not tried yet. */
  | { readonly status: "RECEIVED"; readonly result: null; readonly processedAt: null }
  /** The market or the store was not there; the server tries again by itself. */
  | { readonly status: "FAILED"; readonly result: SignalFault; readonly processedAt: string | null }
  | SettledState;

/** States that never change any more. */
export type SettledState =
  | {
      readonly status: "EXECUTED";
      /** The order as its execution left it; an open one may have been filled since. */
      readonly result: { readonly status: true; readonly message: string; readonly data: SpotOrder };
      readonly processedAt: string;
    }
  | { readonly status: "REJECTED"; readonly result: SignalFault; readonly processedAt: string };

type Recorded = {
  readonly signalId: string;
  /** The key of its submission, by which a restarted program finds what it had sent. */
  readonly idempotencyKey: string;
  readonly receivedAt: string;
};

/** A signal as it is looked up by its id. */
export type Signal = Recorded & SignalState;

/** A signal that is EXECUTED or REJECTED. */
export type SettledSignal = Recorded & SettledState;

/** A signal of the list. */
export type ListedSignal = Signal & {
  /** Names the order of an executed signal; null of any other. */
  readonly collectiveId: string | null;
  /** The order as it was submitted. */
  readonly order: BotOrder;
};

/** A signal as its submission is answered. */
export type SubmittedSignal = ListedSignal & {
  /** Whether this is the stored outcome of an earlier submission under the same key. */
  readonly replayed: boolean;
};

/** Whether it can be relied on to stay as it is. */
export function isSettled(signal: Signal): signal is SettledSignal {
  return signal.status === "EXECUTED" || signal.status === "REJECTED";
}
