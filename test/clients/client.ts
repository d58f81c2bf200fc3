// What the tests want of a stock client: its own calls under one set of names, and what it was told as the wire had it.
// An adapter renames; it never mends what a client sends or receives.
import type { Credentials } from "../support/gateway.ts";

/** The pair on which every client trades. */
export const SYMBOL = "BTCUSDT";

// biome-ignore lint/suspicious/noExplicitAny: clients' own types differ, and some are wrong about the wire.
export type Told = any;

export type Key = Pick<Credentials, "apiKey" | "apiSecret">;

/** An order as a trader would say it; amounts are decimals. */
export type NewOrder = {
  readonly side: "BUY" | "SELL";
  readonly type: "MARKET" | "LIMIT" | "STOP_LOSS" | "STOP_LOSS_LIMIT";
  readonly quantity?: string;
  readonly quoteOrderQty?: string;
  readonly price?: string;
  readonly stopPrice?: string;
  readonly newClientOrderId?: string;
};

export type OrderName = { readonly orderId: number } | { readonly origClientOrderId: string };

/** A client on the key of one strategy. Orders, trades and the account are as on the wire. */
export type SpotClient = {
  ping(): Promise<Told>;
  /** Server time, Unix ms; left out if the client asks another host than the one it was given. */
  serverTime?(): Promise<number>;
  /** The row of the symbol in the exchange's information. */
  symbolRules(): Promise<Told>;
  bookTicker(): Promise<{ readonly bidPrice: string; readonly askPrice: string }>;
  dayTicker(): Promise<Told>;
  /** The open times of the last candles of a minute, Unix ms. */
  candleTimes(count: number): Promise<number[]>;
  /** The prices of the best levels. */
  depth(levels: number): Promise<{ readonly bids: readonly number[]; readonly asks: readonly number[] }>;
  account(): Promise<Told>;
  /** An order id of its own that the client lets pass. */
  newClientOrderId(): string;
  place(order: NewOrder): Promise<Told>;
  query(order: OrderName): Promise<Told>;
  cancel(order: OrderName): Promise<Told>;
  cancelAll(): Promise<Told[]>;
  openOrders(): Promise<Told[]>;
  allOrders(): Promise<Told[]>;
  trades(): Promise<Told[]>;
};

/** What the gateway refuses in the life of a bot, as the wire has it. */
export const REFUSALS = {
  INSUFFICIENT_BALANCE: {
    code: -2010,
    msg: "Account has insufficient balance for requested action.",
  },
  LOT_SIZE: { code: -1013, msg: "Filter failure: LOT_SIZE" },
  ORDER_UNKNOWN: { code: -2013, msg: "Order does not exist." },
  ORDER_OVER: { code: -2011, msg: "Unknown order sent." },
  STOP_WOULD_TRIGGER: { code: -2010, msg: "Stop price would trigger immediately." },
  WRONG_SECRET: { code: -2015, msg: "Invalid API-key, IP, or permissions for action." },
  NOT_LIVE: { code: -2010, msg: "Strategy not live" },
} as const;
export type RefusalName = keyof typeof REFUSALS;

/** What a call that must be refused throws. */
export async function errorOf(call: Promise<unknown>): Promise<unknown> {
  return await call.then(
    () => {
      throw new Error("a call that must be refused was answered");
    },
    (error: unknown) => error,
  );
}

/** What a client makes numbers of: the digits stay the same. */
export function numbersOf({ quantity, quoteOrderQty, price, stopPrice }: NewOrder) {
  return {
    ...(quantity === undefined ? {} : { quantity: Number(quantity) }),
    ...(quoteOrderQty === undefined ? {} : { quoteOrderQty: Number(quoteOrderQty) }),
    ...(price === undefined ? {} : { price: Number(price) }),
    ...(stopPrice === undefined ? {} : { stopPrice: Number(stopPrice) }),
  };
}

/** GTC for the types that ask for a time in force: clients that add none want to be told. */
export function timeInForceOf({ type }: NewOrder) {
  return type === "LIMIT" || type === "STOP_LOSS_LIMIT" ? ({ timeInForce: "GTC" } as const) : {};
}
