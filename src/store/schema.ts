// The tables, for Kysely's types, written once for both databases. `migrations.ts` makes them; those about
// people are in `people/tables.ts`, those about copying in `copying/tables.ts`.
//
// The cost of an order is the number of places that it is written to: rows are appended in the order of their
// commits, and a table has no more indexes than its queries need.
import type { ColumnType, Generated } from "kysely";
import type { StrategyStatus, StrategyType } from "../domain/account.ts";
import type { IncomeType } from "../domain/income.ts";
import type { SignalStatus } from "../domain/signal.ts";
import type { CopyingTables } from "./copying/tables.ts";
import type { Integer } from "./dialect.ts";
import type { PeopleTables } from "./people/tables.ts";

/** A strategy type means the watermark of its market data, "FUNDING" that of funding settlements. */
export type SymbolNoteKind = StrategyType | "FUNDING";

export type Tables = PeopleTables &
  CopyingTables & {
    strategies: {
      id: string;
      type: StrategyType;
      status: StrategyStatus;
      version: Integer;
      /** Whether the market can still reach it, as `isExposed` says. */
      is_exposed: Integer;
      state: string;
      /** Null if it is nobody's. */
      owner_id: string | null;
      name: string;
      created_at: Integer;
      /** Whether people may begin to follow it. */
      is_open_to_copiers: ColumnType<number, number | undefined, number>;
      /** Whether they ever could: its entries are then listed in `lead_entries` as they are committed. */
      is_lead: ColumnType<number, number | undefined, number>;
    };
    /** The key of an entry without a key is its version, as `journalRow` writes it. */
    journal: {
      position: Generated<Integer>;
      strategy_id: string;
      version: Integer;
      key: string;
      at: Integer;
      events: string;
    };
    orders: {
      strategy_id: string;
      order_id: Integer;
      symbol: string;
      /** Null if the order was placed under the key of its client id: the journal then finds it. */
      client_order_id: string | null;
      is_open: Integer;
      placed_at: Integer;
      /** The first and the last trade of the order; null until it has one. */
      first_trade_id: Integer | null;
      last_trade_id: Integer | null;
      body: string;
    };
    trades: {
      strategy_id: string;
      trade_id: Integer;
      symbol: string;
      order_id: Integer;
      at: Integer;
      body: string;
    };
    /** A leg can be queried without its symbol. */
    legs: {
      strategy_id: string;
      leg_id: Integer;
      symbol: string;
      client_leg_id: string;
      placed_at: Integer;
      body: string;
    };
    incomes: {
      strategy_id: string;
      income_id: Integer;
      type: IncomeType;
      symbol: string | null;
      asset: string;
      /** Decimal text. */
      amount: string;
      at: Integer;
      trade_id: Integer | null;
    };
    /** Rows in the order in which signals were recorded. */
    signals: {
      position: Generated<Integer>;
      signal_id: string;
      strategy_id: string;
      /** As JSON, which holds whatever a text may: some databases refuse a NUL. */
      idempotency_key: string;
      body: string;
      received_at: Integer;
      status: SignalStatus;
      /** Null as long as the signal is pending. */
      processed_at: Integer | null;
      /** By the status: null, the order, or the reason. */
      outcome: string | null;
      attempts: Integer;
      /** Until when a pending one is somebody's, or is to be left alone: wall time, Unix ms. */
      due_at: Integer;
    };
    /** The newest listen key of an API key; it may have expired. */
    listen_keys: {
      api_key: string;
      listen_key: string;
      /** Wall time, Unix ms. */
      expires_at: Integer;
    };
    /** Handshakes of streams, as long as they count. */
    failed_handshakes: {
      position: Generated<Integer>;
      api_key: string;
      at: Integer;
      /** The holder of its address's budgets; empty for one that was noted without. */
      address: Generated<string>;
    };
    /**
     * Signatures that signals were accepted under, until nobody could send them again: wall time, Unix ms.
     */
    signal_signatures: {
      expires_at: Integer;
      signature: string;
      strategy_id: string;
      /** As JSON, like that of the signal. */
      idempotency_key: string;
    };
    api_keys: {
      id: string;
      api_key: string;
      salt: string;
      master_version: Integer;
      label: string;
      owner_id: string | null;
      strategy_id: string | null;
      created_at: Integer;
      revoked_at: Integer | null;
    };
    /**
     * Until when the market data of a symbol is covered, for strategies of a type, or its funding is settled.
     */
    symbol_notes: { kind: SymbolNoteKind; symbol: string; at: Integer };
    /**
     * On PostgreSQL alone: servers and until when their leases are in force, Unix ms by the database's clock.
     */
    servers: { id: string; epoch: Integer; expires_at: Integer };
    /** On PostgreSQL alone: the last owner of each slot; empty once it was given back. */
    slots: { slot: number; server: string; epoch: Integer };
    /** On PostgreSQL alone: what `symbol_notes` has, of the slots of one server. */
    server_notes: { server: string; kind: SymbolNoteKind; symbol: string; at: Integer };
    /** On PostgreSQL alone: the processes that watch a strategy, which another one may commit to. */
    watches: { strategy_id: string; server: string; renewed_at: Integer };
    /** The positions of open orders under `strict` in the queues at their limits. */
    queue_notes: {
      strategy_id: string;
      order_id: Integer;
      symbol: string;
      ahead: string | null;
      traded: string;
      canceled: string;
      trade_id: Integer | null;
      at: Integer;
    };
    /** What orders under `strict` would have done on other terms; what each cost more in units of 1e-8. */
    counterfactuals: {
      strategy_id: string;
      order_id: Integer;
      symbol: string;
      quote_asset: string;
      completed_at: Integer;
      standard: Integer | null;
      strict_0: Integer | null;
      strict_50: Integer | null;
      strict_250: Integer | null;
      body: string;
    };
    master_keys: { version: Integer; check_value: string };
    budget_log: { position: Integer; process: string; at: Integer; body: string };
  };
