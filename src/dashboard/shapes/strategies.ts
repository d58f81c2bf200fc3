// Keys and strategies as the browser gets them: how they have done, what they hold, and their orders, trades and signals.
import type { StrategyStatus, StrategyType } from "../../domain/account.ts";
import type { ReportRange } from "../../performance/report.ts";

export type { StrategyStatus, StrategyType };

export type KeyShape = {
  readonly keyId: string;
  readonly apiKey: string;
  readonly label: string;
  readonly createdAt: number;
  readonly revokedAt: number | null;
  readonly strategy: StrategyNameShape | null;
  readonly lastUse: { readonly at: number; readonly address: string; readonly route: string } | null;
};
export type CreatedKeyShape = {
  readonly key: KeyShape;
  /** Shown only once. */
  readonly apiSecret: string;
};
/** "Test this key": one line a check, in the order in which a request meets them. */
export type KeyTestShape = {
  readonly isFine: boolean;
  readonly checks: readonly {
    readonly name: string;
    readonly outcome: "PASSED" | "FAILED" | "UNKNOWN";
    /** What was found. */
    readonly says: string;
    /** What to do about it; absent where nothing is. */
    readonly action?: string;
  }[];
};

export type StrategyNameShape = {
  readonly strategyId: string;
  readonly name: string;
  readonly type: StrategyType;
  readonly status: StrategyStatus;
};
export type StrategyShape = StrategyNameShape & {
  readonly createdAt: number;
  readonly key: Pick<KeyShape, "keyId" | "apiKey" | "label" | "lastUse"> | null;
  /** In USDT, at the last known prices. */
  readonly equity: string;
  readonly seed: string;
  /** Equity less the seed. */
  readonly profit: string;
  readonly openOrders: number;
  readonly openPositions: number;
  /** When prices were last heard of everything it holds; null if it holds nothing but its quote asset. */
  readonly pricedAt: number | null;
};
/** The newest equity curves of a list of strategies, for its small pictures. */
export type SparklineShape = { readonly strategyId: string; readonly equity: readonly string[] };

export type Range = ReportRange;
export type EquityPointShape = {
  readonly at: number;
  readonly equity: string;
  /** Zero or negative: how far equity lies below its highest so far in the range, in USDT, and as a fraction of that. */
  readonly drawdown: string;
  readonly drawdownRate: string;
};
export type StatisticsShape = {
  readonly startEquity: string;
  readonly endEquity: string;
  readonly profit: string;
  /** Profit as a fraction of the equity at the start. */
  readonly profitRate: string;
  readonly realised: string;
  readonly unrealised: string;
  /** What was paid, in USDT: positive. */
  readonly fees: string;
  /** Received less paid; "0" on spot. */
  readonly funding: string;
  readonly trades: number;
  readonly closingTrades: number;
  readonly wins: number;
  readonly losses: number;
  /** Wins among the closing trades, as a fraction; null without any. */
  readonly winRate: string | null;
  /** What the winning trades gained by what the losing ones lost; null without a loss. */
  readonly profitFactor: string | null;
  /** Positive. */
  readonly maximumDrawdown: string;
  readonly maximumDrawdownRate: string;
};
export type PerformanceShape = {
  readonly range: Range;
  readonly from: number;
  readonly to: number;
  /** How far apart the points are, ms. */
  readonly stepMs: number;
  readonly points: readonly EquityPointShape[];
  readonly statistics: StatisticsShape;
  /** Symbols that a price was missing of somewhere: the last known one was taken. */
  readonly unpriced: readonly string[];
  /** False if there was more history than a report looks at: what is older than `from` is then missing. */
  readonly isWhole: boolean;
};

export type BalanceShape = {
  readonly asset: string;
  readonly free: string;
  readonly locked: string;
  /** In USDT at the last known price; null where there is none. */
  readonly value: string | null;
};
export type OrderShape = {
  readonly orderId: number;
  readonly clientOrderId: string;
  readonly collectiveId: string;
  readonly symbol: string;
  readonly side: "BUY" | "SELL";
  readonly type: string;
  readonly status: string;
  /** Null for an order that takes the market's price. */
  readonly price: string | null;
  readonly stopPrice: string | null;
  readonly quantity: string;
  readonly quoteQuantity: string | null;
  readonly executedQuantity: string;
  readonly executedQuote: string;
  /** Null before the first fill. */
  readonly averagePrice: string | null;
  readonly isReduceOnly: boolean;
  readonly isOpen: boolean;
  /** The take profit and the stop loss that it was placed with. */
  readonly legs: readonly Pick<LegShape, "legId" | "kind" | "triggerPrice">[];
  readonly placedAt: number;
  readonly updatedAt: number;
};
export type OrderDetailShape = {
  readonly order: OrderShape;
  readonly trades: readonly TradeShape[];
  /** The take profit and the stop loss that it was placed with, as they now stand. */
  readonly legs: readonly LegShape[];
  /** The signal that placed it, if one did. */
  readonly signalId: string | null;
  /** What became of it, oldest first, in plain words. */
  readonly history: readonly { readonly at: number; readonly says: string }[];
};
/** A take profit or stop loss of a futures position, or of an order that would open one. */
export type LegShape = {
  readonly legId: number;
  readonly clientLegId: string;
  readonly symbol: string;
  readonly kind: "TAKE_PROFIT" | "STOP_LOSS";
  readonly side: "BUY" | "SELL";
  readonly triggerPrice: string;
  /** PENDING while the order that it came with rests. */
  readonly status: string;
  readonly isOpen: boolean;
  /** The order that it came with; null if it was placed by itself. */
  readonly entryId: number | null;
  /** Why it ended without being reached; null otherwise, and if that was not recorded. */
  readonly endReason: string | null;
  readonly placedAt: number;
  readonly updatedAt: number;
};
export type PositionShape = {
  readonly symbol: string;
  /** Negative for a short. */
  readonly quantity: string;
  readonly entryPrice: string;
  readonly markPrice: string | null;
  readonly breakEvenPrice: string;
  readonly unrealised: string | null;
  readonly isolatedMargin: string;
  readonly leverage: number;
  readonly notional: string | null;
  readonly liquidationPrice: string | null;
  /** How far the mark has to move to it, as a fraction of the mark; null where there is none. */
  readonly liquidationDistance: string | null;
  /** The maintenance margin at the mark price, and its bracket's rate; null without a mark price, or for a delisted contract. */
  readonly maintenance: { readonly margin: string; readonly rate: string } | null;
  readonly nextFundingAt: number | null;
  readonly legs: readonly LegShape[];
  /** When its mark price was last heard; null if never. */
  readonly pricedAt: number | null;
};
export type TradeShape = {
  readonly tradeId: number;
  readonly orderId: number;
  readonly symbol: string;
  readonly side: "BUY" | "SELL";
  readonly price: string;
  readonly quantity: string;
  readonly quoteQuantity: string;
  readonly fee: string;
  readonly feeAsset: string;
  readonly isMaker: boolean;
  readonly at: number;
  /** Of a trade that closes something; null otherwise. */
  readonly realised: string | null;
};
export type IncomeShape = {
  readonly incomeId: number;
  readonly type: string;
  readonly symbol: string | null;
  readonly asset: string;
  readonly amount: string;
  readonly at: number;
  readonly tradeId: number | null;
};
export type SignalShape = {
  readonly signalId: string;
  readonly idempotencyKey: string;
  readonly status: "RECEIVED" | "EXECUTED" | "REJECTED" | "FAILED";
  /** Why it was rejected or has failed so far; null otherwise. */
  readonly reason: string | null;
  /** Requested order. */
  readonly order: Readonly<Record<string, unknown>>;
  readonly orderId: number | null;
  readonly collectiveId: string | null;
  readonly attempts: number;
  /** How often its key was sent again since this server has started. */
  readonly replays: number;
  readonly receivedAt: number;
  readonly processedAt: number | null;
  /** From receipt to its end, ms; null while pending. */
  readonly latencyMs: number | null;
};
export type ClosePreviewShape = {
  /** What is to be typed. */
  readonly confirmation: string;
  readonly cancelled: readonly OrderShape[];
  readonly legs: readonly LegShape[];
  readonly sold: readonly {
    readonly symbol: string;
    readonly side: "BUY" | "SELL";
    readonly quantity: string;
    /** About what it brings, in USDT, less the fee; null without a price. */
    readonly brings: string | null;
  }[];
  /** What is too little to be sold, and stays. */
  readonly dust: readonly {
    readonly asset: string;
    readonly quantity: string;
    readonly value: string | null;
  }[];
  /** Symbols that are silent now: closing waits for them. */
  readonly waitingFor: readonly string[];
};
