// What the dashboard's server says to its browser, as JSON. The browser imports these types (types alone), so that both sides are
// checked as one. Amounts, prices, rates and quantities are exact decimal strings; times are Unix ms, wall time for what people
// and requests do, market time for what trading does.
import type { AuditAction } from "../domain/audit.ts";
import type { KycStatus, Profile, Role } from "../domain/person.ts";

/** Every refusal. `fields` says by field of the body what is wrong with it. */
export type ErrorShape = {
  readonly error: {
    readonly code: string;
    /** A plain sentence. */
    readonly message: string;
    /** What to do about it. */
    readonly action?: string;
    readonly fields?: Readonly<Record<string, string>>;
    readonly retryAfterSeconds?: number;
  };
};

// People

export type PersonShape = {
  readonly personId: string;
  readonly email: string;
  readonly name: string;
  readonly role: Role;
  readonly profile: Profile;
  readonly isEmailVerified: boolean;
  readonly kyc: KycStatus;
  readonly kycReason: string | null;
  readonly hasSecondFactor: boolean;
  readonly createdAt: number;
};
export type SessionShape = {
  readonly person: PersonShape | null;
  readonly server: {
    readonly version: string;
    readonly market: "sim" | "live" | "tape";
    /** Where bots reach the server. */
    readonly publicUrl: string;
    /** False: links that would be sent are written to the server's log. */
    readonly sendsMail: boolean;
    readonly isDemo: boolean;
  };
};
/** Where the link went that was asked for. */
export type MailShape = { readonly mail: "SENT" | "LOGGED" };
export type OwnSessionShape = {
  readonly sessionId: string;
  readonly isThisOne: boolean;
  readonly address: string;
  readonly userAgent: string;
  readonly createdAt: number;
  readonly expiresAt: number;
};
export type AuditShape = {
  readonly position: number;
  readonly at: number;
  readonly what: AuditAction;
  /** A person's e-mail address, or "the command line", "the service". */
  readonly who: string;
  readonly about: { readonly kind: string; readonly id: string };
  readonly details: Readonly<Record<string, string>>;
  readonly hash: string;
};
export type KycForm = {
  readonly fullName: string;
  /** YYYY-MM-DD */
  readonly birthDate: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  readonly address: string;
  readonly documentKind: "PASSPORT" | "IDENTITY_CARD" | "DRIVING_LICENCE";
  readonly documentNumber: string;
};
export type KycShape = {
  readonly status: KycStatus;
  readonly reason: string | null;
  readonly submittedAt: number | null;
  readonly decidedAt: number | null;
};
/** To be shown while an authenticator is set up, and never again. */
export type SecondFactorSetupShape = { readonly uri: string; readonly secret: string };
/** Shown this once. */
export type RecoveryCodesShape = { readonly recoveryCodes: readonly string[] };
export type SecondFactorShape = { readonly isEnabled: boolean; readonly recoveryCodesLeft: number };

// Keys

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
  /** Shown this once. */
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

// Strategies

export type StrategyType = "SPOT" | "FUTURES";
export type StrategyStatus = "LIVE" | "CLOSING" | "CLOSED";
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

export const RANGES = ["24h", "7d", "30d", "all"] as const;
export type Range = (typeof RANGES)[number];
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
  readonly placedAt: number;
  readonly updatedAt: number;
};
export type OrderDetailShape = {
  readonly order: OrderShape;
  readonly trades: readonly TradeShape[];
  /** The signal that placed it, if one did. */
  readonly signalId: string | null;
  /** What became of it, oldest first, in plain words. */
  readonly history: readonly { readonly at: number; readonly says: string }[];
};
/** A take profit or stop loss of a futures position. */
export type LegShape = {
  readonly legId: number;
  readonly clientLegId: string;
  readonly symbol: string;
  readonly kind: "TAKE_PROFIT" | "STOP_LOSS";
  readonly side: "BUY" | "SELL";
  readonly triggerPrice: string;
  readonly status: string;
  readonly isOpen: boolean;
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
/** A part of a list, and what to ask for to go on; null at its end. */
export type PageShape<Row> = { readonly rows: readonly Row[]; readonly next: string | null };
export type SignalShape = {
  readonly signalId: string;
  readonly idempotencyKey: string;
  readonly status: "RECEIVED" | "EXECUTED" | "REJECTED" | "FAILED";
  /** Why it was rejected or has failed so far; null otherwise. */
  readonly reason: string | null;
  /** The order as it was asked for. */
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

// Requests of a key

export type RequestShape = {
  readonly requestId: string;
  readonly at: number;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The exchange's code of a refusal; null for success and for the bot family. */
  readonly code: number | null;
  readonly message: string | null;
  readonly weight: number;
  readonly latencyMs: number;
  readonly address: string;
  readonly userAgent: string;
  readonly diagnosis: DiagnosisShape | null;
};
/** Why a request was not let in. */
export type DiagnosisShape = {
  /** The check that failed. */
  readonly check:
    | "TIMESTAMP"
    | "RECV_WINDOW"
    | "SIGNATURE_MISSING"
    | "SIGNATURE"
    | "WINDOW"
    | "PARAMETERS"
    | "HEADER";
  /** SHA-256, hex, of the message as received, its signature cut out: to be compared with what the client signed. */
  readonly messageSha256: string | null;
  /** How far the client's clock is ahead of the server's, ms; null if it sent no time that can be read. */
  readonly clockOffsetMs: number | null;
  readonly hints: readonly string[];
};
export type MeterShape = {
  readonly name: string;
  readonly used: number;
  readonly limit: number;
  readonly windowSeconds: number;
};
export type RequestsShape = {
  readonly requests: readonly RequestShape[];
  readonly meters: readonly MeterShape[];
  /** Until when the key is banned; null if it is not. */
  readonly bannedUntil: number | null;
  /** Requests are remembered by the server process that answered them, since this time. */
  readonly since: number;
};

// Market data for charts

export type CandleShape = {
  readonly openTime: number;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly volume: string;
  readonly isFinal: boolean;
};
export type BookShape = {
  readonly family: StrategyType;
  readonly symbol: string;
  readonly lastUpdateId: number;
  readonly bids: readonly (readonly [price: string, quantity: string])[];
  readonly asks: readonly (readonly [price: string, quantity: string])[];
};
export type PriceShape = {
  readonly family: StrategyType;
  readonly symbol: string;
  readonly bid: string | null;
  readonly ask: string | null;
  /** Of the last trade: what coins are valued at, or at the bid where there is none. */
  readonly last: string | null;
  /** Of contracts: what positions are valued at. */
  readonly mark: string | null;
  readonly at: number;
};
export type SymbolShape = {
  readonly symbol: string;
  readonly baseAsset: string;
  readonly quoteAsset: string;
  readonly tickSize: string;
  readonly stepSize: string;
};

// Live, over Socket.IO, namespace /dashboard

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
};
/** By name, what the browser sends. */
export type ClientMessages = {
  readonly watch: { readonly strategyId: string };
  readonly unwatch: { readonly strategyId: string };
  readonly follow: Topic;
  readonly unfollow: Topic;
};

// Operators

export type KycEntryShape = {
  readonly submissionId: string;
  readonly person: PersonShape;
  readonly status: "PENDING" | "APPROVED" | "REJECTED";
  readonly submittedAt: number;
  readonly decidedAt: number | null;
  readonly decidedBy: string | null;
  readonly reason: string | null;
};
export type KycDetailShape = KycEntryShape & {
  readonly form: KycForm;
  readonly audit: readonly AuditShape[];
};
export type PersonDetailShape = {
  readonly person: PersonShape;
  readonly strategies: readonly StrategyNameShape[];
  readonly keys: readonly KeyShape[];
  readonly submissions: readonly KycEntryShape[];
  readonly audit: readonly AuditShape[];
};
export type HealthShape = {
  readonly version: string;
  readonly startedAt: number;
  readonly market: string;
  readonly feeds: readonly {
    readonly family: StrategyType;
    readonly isConnected: boolean;
    readonly lastMessageAt: number;
    readonly symbols: number;
    readonly streams: number;
    readonly connects: number;
    readonly staleSymbols: readonly string[];
    readonly pausedUntil: number;
  }[];
  readonly store: {
    readonly kind: "SQLite" | "PostgreSQL";
    readonly answersInMs: number;
    readonly isBehind: boolean;
  };
  /** How long the oldest pending signal waits, ms; null if none does. */
  readonly sweepLagMs: number | null;
  readonly pendingSignals: number;
  readonly eventLoopDelayMs: { readonly p50: number; readonly p99: number; readonly max: number };
  readonly memoryBytes: { readonly heapUsed: number; readonly resident: number };
  readonly people: { readonly [S in KycStatus]: number };
};
export type SecurityShape = {
  readonly bans: readonly { readonly holder: string; readonly until: number }[];
  readonly failedHandshakes: readonly {
    readonly apiKey: string;
    readonly count: number;
    readonly lastAt: number;
  }[];
  readonly failedSignIns: readonly {
    readonly holder: string;
    readonly count: number;
    readonly isLocked: boolean;
  }[];
  readonly auditIsWhole: boolean;
};
export type TrafficShape = {
  readonly since: number;
  readonly routes: readonly {
    readonly method: string;
    readonly path: string;
    readonly count: number;
    readonly byStatus: Readonly<Record<string, number>>;
    readonly p50Ms: number;
    readonly p99Ms: number;
  }[];
  /** Requests answered within each of the last minutes, oldest first, the present one last; errors are answers of 500 and above. */
  readonly perMinute: readonly { readonly at: number; readonly count: number; readonly errors: number }[];
};
export type FidelityShape = {
  /** The text of docs/fidelity.md. */
  readonly text: string;
  readonly feeds: readonly {
    readonly family: StrategyType;
    readonly quotes: Readonly<Record<string, number>>;
    readonly trades: Readonly<Record<string, number>>;
    readonly marks: Readonly<Record<string, number>>;
    readonly malformedMessages: number;
  }[];
};
