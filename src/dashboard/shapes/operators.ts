// What operators get: identity forms and people, and how the service fares.
import type { StrategyType } from "../../domain/account.ts";
import type { KycStatus } from "../../domain/person.ts";
import type { AccountContentsShape, AuditShape, KycForm, PersonShape } from "./people.ts";
import type { KeyShape, StrategyNameShape } from "./strategies.ts";

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
  readonly contents: AccountContentsShape;
  readonly strategies: readonly StrategyNameShape[];
  readonly keys: readonly KeyShape[];
  readonly submissions: readonly KycEntryShape[];
  readonly audit: readonly AuditShape[];
};
export type HealthShape = {
  readonly version: string;
  readonly startedAt: number;
  readonly market: "sim" | "live" | "tape";
  readonly feeds: readonly {
    readonly family: StrategyType;
    readonly isConnected: boolean;
    readonly lastMessageAt: number;
    /** How old the newest market data is, ms; null while nothing is streamed. */
    readonly dataAgeMs: number | null;
    /** Whether messages come too late to trade by. */
    readonly isLate: boolean;
    readonly symbols: number;
    readonly streams: number;
    readonly connects: number;
    readonly staleSymbols: readonly string[];
    readonly pausedUntil: number;
    /** Why a recorded market takes no orders; null where prices may be expected. */
    readonly untradable: "RECORDING_ENDED" | "MARK_PRICES_MISSING" | null;
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
