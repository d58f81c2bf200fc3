// The tables that are about copying, for Kysely's types; `migrations.ts` makes them. Times are wall time,
// Unix ms, but for `lead_at`, which is market time. Truths are 0 or 1.
import type { ColumnType } from "kysely";
import type { StrategyType } from "../../domain/account.ts";
import type {
  CopyReason,
  CopyRequestKind,
  CopyStatus,
  MirrorStatus,
  OrderIntentKind,
  SkipReason,
  SwitchKind,
  VenueAccountStatus,
} from "../../domain/copying.ts";
import type { Integer } from "../dialect.ts";

export type CopyingTables = {
  venue_accounts: {
    id: string;
    person_id: string;
    /** Its type. */
    family: StrategyType;
    venue: string;
    label: string;
    key_hint: string;
    /** The digest that identifies its key; null once it is disconnected. */
    key_digest: string | null;
    /** The row of its sealed credentials; null once they are destroyed. */
    credentials: Integer | null;
    status: VenueAccountStatus;
    /** The venue's words as JSON, which holds whatever a text may. */
    failure: string | null;
    created_at: Integer;
    checked_at: Integer;
    disconnected_at: Integer | null;
  };
  /** Sealed credentials, and blanks where some were: written as `sealed-credentials.ts` says alone. */
  venue_credentials: { position: ColumnType<number, number | undefined, never>; sealed: string };
  /**
   * Strategies that were ever open to copiers: how far they were turned into actions, and who works at them
   * until when.
   */
  leads: {
    strategy_id: string;
    version: Integer;
    seq: Integer;
    holder: string | null;
    lease_until: Integer;
    revision: Integer;
  };
  /** The account as of the lead's version, once it has one. */
  lead_accounts: { strategy_id: string; account: string };
  /** Where the entries of leads are in the journal, by their versions. */
  lead_entries: { strategy_id: string; version: Integer; position: Integer };
  lead_actions: {
    strategy_id: string;
    seq: Integer;
    version: Integer;
    kind: OrderIntentKind;
    body: string;
  };
  copies: {
    id: string;
    person_id: string;
    strategy_id: string;
    account_id: string;
    /** Its type. */
    family: StrategyType;
    settings: string;
    status: CopyStatus;
    reason: CopyReason | null;
    started_at: Integer;
    ended_at: Integer | null;
    from_version: Integer;
    done_seq: Integer;
    revision: Integer;
    book: string;
  };
  mirror_entries: {
    copy_id: string;
    entry_id: Integer;
    /** The copy's, so that a strategy's entries are found together. */
    strategy_id: string;
    collective_id: string | null;
    symbol: string | null;
    status: MirrorStatus;
    skip_reason: SkipReason | null;
    /** Whether it is of a kind that is counted. */
    is_counted: Integer;
    /** Whether it executed something of which the strategy's own price is known. */
    is_executed: Integer;
    /**
     * Whether something is still to be done: it is in the outbox, open at the venue, or its fees are not
     * known.
     */
    is_open: Integer;
    lead_at: Integer;
    body: string;
  };
  /** Entries of a copy that are counted; no reason is the empty text. */
  copy_counts: { copy_id: string; status: MirrorStatus; skip_reason: SkipReason | ""; count: Integer };
  /** Those of a strategy's copies by the day of `lead_at`, numbered from the beginning of 1970, UTC. */
  day_counts: {
    strategy_id: string;
    day: Integer;
    status: MirrorStatus;
    skip_reason: SkipReason | "";
    count: Integer;
  };
  copy_requests: {
    id: string;
    copy_id: string;
    kind: CopyRequestKind;
    may_increase: Integer;
    asked_at: Integer;
    /** Null while it is pending. */
    done_at: Integer | null;
    /** As JSON, which holds whatever a text may. */
    failure: string | null;
  };
  /** What each copier has said last; `venues` as JSON. */
  venue_reports: { copier: string; at: Integer; venues: string };
  kill_switches: {
    kind: SwitchKind;
    id: string;
    reason: string;
    set_by: string;
    set_at: Integer;
    /** What another person had set before an operator took it over; null if none had. */
    own_reason: string | null;
    own_set_by: string | null;
    own_set_at: Integer | null;
  };
};
