// The tests' interface to a stock client: its own calls under one set of names, and the answers as the wire
// had them. An adapter renames; it never corrects what a client sends or receives.
import type { Credentials } from "../support/servers/gateway.ts";
import type { SeededGateway } from "../support/servers/seeded-gateway.ts";

/**
 * How long the exchange's own connectors wait for an answer here, ms. By default they give up after a second,
 * which a busy machine may take.
 */
export const CONNECTOR_TIMEOUT_MS = 30_000;

/** The pair, and the contract, on which every client trades. */
export const SYMBOL = "BTCUSDT";

// biome-ignore lint/suspicious/noExplicitAny: clients' own types differ, and some are wrong about the wire.
export type Told = any;

export type Key = Pick<Credentials, "apiKey" | "apiSecret">;

/** The terms of a client for a life of one of the types. */
export type Life<Client> = {
  /** The client's name, for the reports. */
  readonly name: string;
  readonly gateway: SeededGateway;
  /** A client on a key of the gateway at an address. */
  connect(key: Key, url: string): Client;
  /** Fails unless the client reports this refusal in its own way. */
  expectRefusal(error: unknown, name: RefusalName): void;
};

/** A spot order as a trader would say it; amounts are decimals. */
export type NewOrder = {
  readonly side: "BUY" | "SELL";
  readonly type: "MARKET" | "LIMIT" | "LIMIT_MAKER" | "STOP_LOSS" | "STOP_LOSS_LIMIT";
  /** GTC unless given, for the types that have one. */
  readonly timeInForce?: "IOC";
  readonly quantity?: string;
  readonly quoteOrderQty?: string;
  readonly price?: string;
  readonly stopPrice?: string;
  readonly newClientOrderId?: string;
};

/** An order on a contract. */
export type NewContractOrder = {
  readonly side: "BUY" | "SELL";
  readonly type: "MARKET" | "LIMIT";
  /** GTC unless given, for limit orders. */
  readonly timeInForce?: "IOC" | "GTX";
  readonly quantity: string;
  readonly price?: string;
  readonly reduceOnly?: true;
  readonly newClientOrderId?: string;
};

/** A leg, which always closes the whole position. */
export type NewLeg = {
  readonly side: "BUY" | "SELL";
  readonly type: "STOP_MARKET" | "TAKE_PROFIT_MARKET";
  readonly triggerPrice: string;
  readonly clientAlgoId?: string;
};

export type OrderName = { readonly orderId: number } | { readonly origClientOrderId: string };
export type LegName = { readonly algoId: number } | { readonly clientAlgoId: string };

/** The public market data of one type. */
export type MarketClient = {
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
};

/** What both types have on the key of one strategy. Orders, trades and the account are as on the wire. */
type TradingClient<Order> = MarketClient & {
  account(): Promise<Told>;
  /** An order id of its own that the client accepts. */
  newClientOrderId(): string;
  place(order: Order): Promise<Told>;
  query(order: OrderName): Promise<Told>;
  cancel(order: OrderName): Promise<Told>;
  /** A list of orders on spot, one confirmation on futures. */
  cancelAll(): Promise<Told>;
  openOrders(): Promise<Told[]>;
  allOrders(): Promise<Told[]>;
  trades(): Promise<Told[]>;
};

export type SpotClient = TradingClient<NewOrder>;

export type FuturesClient = TradingClient<NewContractOrder> & {
  /** The mark price of now, with the funding rate. */
  premium(): Promise<Told>;
  /** The last settlements of the symbol. */
  settlements(count: number): Promise<Told[]>;
  balances(): Promise<Told[]>;
  /** The rows of the symbol; without a position there may be none. */
  positions(): Promise<Told[]>;
  isHedged(): Promise<boolean>;
  /** The client's name for it is the wire's. */
  setLeverage(leverage: number): Promise<Told>;
  setMarginType(marginType: "ISOLATED" | "CROSSED"): Promise<Told>;
  /** The brackets of the symbol. */
  brackets(): Promise<Told[]>;
  fees(): Promise<Told>;
  incomes(): Promise<Told[]>;
  fundingFees(): Promise<Told[]>;
  placeLeg(leg: NewLeg): Promise<Told>;
  queryLeg(leg: LegName): Promise<Told>;
  cancelLeg(leg: LegName): Promise<Told>;
  cancelAllLegs(): Promise<Told>;
  openLegs(): Promise<Told[]>;
  allLegs(): Promise<Told[]>;
  /**
   * Sends a stop to the route of ordinary orders; left out if the client itself sends it to where it belongs.
   */
  misplaceStop?(): Promise<Told>;
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
  LIMIT_MAKER_WOULD_TAKE: { code: -2010, msg: "Order would immediately match and take." },
  WRONG_SECRET: { code: -2015, msg: "Invalid API-key, IP, or permissions for action." },
  NOT_LIVE: { code: -2010, msg: "Strategy not live" },
  OTHER_FAMILY: { code: -2010, msg: "This API key manages a strategy of the other family." },

  MARGIN_INSUFFICIENT: { code: -2019, msg: "Margin is insufficient." },
  QUANTITY_TOO_HIGH: { code: -4005, msg: "Quantity greater than max quantity." },
  NOTIONAL_TOO_SMALL: {
    code: -4164,
    msg: "Order's notional must be no smaller than 50 (unless you choose reduce only).",
  },
  REDUCE_ONLY_REJECTED: { code: -2022, msg: "ReduceOnly Order is rejected." },
  STOP_MISPLACED: {
    code: -4120,
    msg: "Order type not supported for this endpoint. Please use the Algo Order API endpoints instead.",
  },
  POST_ONLY_WOULD_TAKE: {
    code: -5022,
    msg: "Due to the order could not be executed as maker, the Post Only order will be rejected.",
  },
  LEG_WOULD_TRIGGER: { code: -2021, msg: "Order would immediately trigger." },
  LEG_EXISTS: {
    code: -4130,
    msg: "An open stop or take profit order with GTE and closePosition in the direction is existing.",
  },
  NO_POSITION: {
    code: -4509,
    msg: "Time in Force (TIF) GTE can only be used with open positions. Please ensure that positions are available.",
  },
  LEVERAGE_LOWERED: {
    code: -4161,
    msg: "Leverage reduction is not supported in Isolated Margin Mode with open positions",
  },
  CROSSED_MARGIN: { code: -2010, msg: "Only isolated margin is supported." },
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

type Amounts = Pick<NewOrder, "quantity" | "quoteOrderQty" | "price" | "stopPrice">;

/** What a client makes numbers of: the digits stay the same. */
export function numbersOf({ quantity, quoteOrderQty, price, stopPrice }: Amounts) {
  return {
    ...(quantity === undefined ? {} : { quantity: Number(quantity) }),
    ...(quoteOrderQty === undefined ? {} : { quoteOrderQty: Number(quoteOrderQty) }),
    ...(price === undefined ? {} : { price: Number(price) }),
    ...(stopPrice === undefined ? {} : { stopPrice: Number(stopPrice) }),
  };
}

/** The time in force of an order; GTC for the types that require one: some clients add none. */
export function timeInForceOf<TimeInForce extends string = never>({
  type,
  timeInForce,
}: Pick<NewOrder, "type"> & { readonly timeInForce?: TimeInForce }) {
  if (timeInForce !== undefined) return { timeInForce };
  return type === "LIMIT" || type === "STOP_LOSS_LIMIT" ? ({ timeInForce: "GTC" } as const) : {};
}
