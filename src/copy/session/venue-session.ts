// A copy's session with its account at the venue: the credentials, opened at their first use, and the
// requests made with them. A query is repeated until it is answered, or until its time limit (NotAnswered).
// An order, a leg or a cancel is one attempt, whose outcome its sender handles.
// A key that the venue rejects ends every request (CredentialsRejected). Nothing is sent once the copy may
// not run (MayNotRun).
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import { BackOff } from "../../concurrency/delays.ts";
import {
  type Copy,
  type KillSwitch,
  type Skip,
  type SwitchKind,
  skipOf,
  type VenueAccount,
} from "../../domain/copying.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { isOnlyUnfit } from "../../domain/unfit-account.ts";
import type { MasterKey } from "../../keys/master-key.ts";
import type { CopiesStore } from "../../store/ports/copies.ts";
import { openCredentials } from "../credentials.ts";
import type { VenuePrices } from "../sizing/proportion.ts";
import type { Venue, VenueAnswer, VenueClient, VenueRefusal, VenueRejection } from "../venue/venue.ts";
import type { Venues } from "../venue/venues.ts";
import {
  AccountGone,
  CredentialsRejected,
  isOfRules,
  MayNotRun,
  NotAnswered,
  orElse,
  Postponed,
  UNKNOWN_SYMBOL_CODE,
  VenueRefused,
} from "./failures.ts";

/** A question that stays open this long is reported, ms; */
export const STUCK_AFTER_MS = 30_000;
/** and again after this, while it stays so, ms. */
export const STUCK_AGAIN_MS = 60_000;

/** How long a question is repeated that stops and exits wait for, ms. */
const URGENT_MS_MAX = 2_000;
/** Until an order is tried again that the venue has not answered a question for, ms. */
const POSTPONED_MS = 2_000;

/** Delays between attempts at a venue that were not answered, or did not find an order. */
export const VENUE_RETRIES = { minMs: 100, maxMs: 2_000 };

export type SessionParts = {
  readonly copyId: string;
  readonly accountId: string;
  readonly store: Pick<CopiesStore, "findAccount" | "noteAccountChecked">;
  readonly venues: Pick<Venues, "venue">;
  readonly master: MasterKey;
  readonly mayRun: () => boolean;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly pause: (ms: number) => Promise<void>;
  readonly log: Pick<Logger, "warn">;
};

type Opened = {
  readonly account: VenueAccount;
  readonly venue: Venue;
  readonly client: VenueClient;
  /** The same account's, for polls. */
  readonly pollers: { readonly [P in PollPriority]: VenueClient };
};

/** See `Priority`. */
type PollPriority = "DOUBT" | "POLL";

/** A question for the venue, or for one account there. */
type Question<Value> = (to: {
  readonly venue: Venue;
  readonly client: VenueClient;
}) => Promise<VenueAnswer<Value>>;

/**
 * `until`: time limit of queries, wall time, Unix ms; null: until they are answered. `priority`: of all that
 * is asked; null: each question has its own.
 */
type Limits = { readonly until: number | null; readonly priority: PollPriority | null };
/** What variants of a session share. `rulesUsed`: by symbol, what sizes were fitted to. */
type Shared = { opened: Opened | null; readonly rulesUsed: Map<string, SymbolRules | null> };

export class VenueSession {
  readonly #parts: SessionParts;
  readonly #of: Shared;
  readonly #limits: Limits;

  constructor(
    parts: SessionParts,
    of: Shared = { opened: null, rulesUsed: new Map() },
    limits: Limits = { until: null, priority: null },
  ) {
    this.#parts = parts;
    this.#of = of;
    this.#limits = limits;
  }

  /** The same session with a time limit for requests, ms: for information that the caller can do without. */
  briefly(ms: number): VenueSession {
    const until = this.#parts.wallNow() + ms;
    return new VenueSession(this.#parts, this.#of, { ...this.#limits, until });
  }

  /**
   * The same session for a poll, which uses no more than the polls' share of the venue's budgets, or that of
   * what is in doubt. It repeats requests for at most this time, ms.
   */
  polling(ms = 0, priority: PollPriority = "POLL"): VenueSession {
    const until = this.#parts.wallNow() + ms;
    return new VenueSession(this.#parts, this.#of, { until, priority });
  }

  /** The session for requests that stops and exits wait for: with the priority of exits, also of a poll. */
  urgent(): VenueSession {
    return this.#limits.priority === null ? this : this.#withPriority(null);
  }

  /** The session for requests that show whether an order with an unknown outcome was executed. */
  inDoubt(): VenueSession {
    return this.#withPriority("DOUBT");
  }

  #withPriority(priority: PollPriority | null): VenueSession {
    const urgentUntil = this.#parts.wallNow() + URGENT_MS_MAX;
    const until = this.#limits.priority === "POLL" ? urgentUntil : this.#limits.until;
    return new VenueSession(this.#parts, this.#of, { until, priority });
  }

  /** Null before it was opened, and while its account is to be read again. */
  get opened(): Opened | null {
    return this.#of.opened;
  }

  /** Throws if there is no such account, and AccountGone if its credentials are destroyed. */
  async open(): Promise<Opened> {
    if (this.#of.opened !== null) return this.#of.opened;
    const account = await this.#find();
    if (account.sealed === null) throw new AccountGone(account.accountId);
    const credentials = openCredentials(this.#parts.master, account.accountId, account.sealed);
    const venue = this.#parts.venues.venue(account.venue, account.type);
    const clientOf = (priority?: PollPriority) =>
      venue.account(account.accountId, credentials, priority && { priority });
    const pollers = { DOUBT: clientOf("DOUBT"), POLL: clientOf("POLL") };
    this.#of.opened = { account, venue, client: clientOf(), pollers };
    return this.#of.opened;
  }

  /** Whether the venue has rejected the credentials; null while that is not known. */
  get isRejected(): boolean | null {
    if (this.#of.opened === null) return null;
    const { account } = this.#of.opened;
    return account.status === "FAILED" && !isOnlyUnfit(account);
  }

  /**
   * The venue has rejected the credentials. True if the account has others by now; otherwise the rejection is
   * stored.
   */
  async reject({ code, message }: VenueRejection): Promise<boolean> {
    const account = await this.#find();
    const { opened } = this.#of;
    if (opened !== null && account.sealed !== opened.account.sealed) {
      this.#of.opened = null;
      return true;
    }
    const { store, wallNow } = this.#parts;
    const failure = `${code} ${message}`;
    await store.noteAccountChecked(account.accountId, { status: "FAILED", failure, at: wallNow() });
    if (opened !== null) this.#of.opened = { ...opened, account: { ...account, status: "FAILED", failure } };
    return false;
  }

  /** The account may have changed: if its credentials were rejected, it is read again. */
  async refresh(): Promise<void> {
    if (this.isRejected !== true) return;
    const account = await this.#find();
    if (account.status === "CONNECTED") this.#of.opened = null;
  }

  /** Sends something once. Throws CredentialsRejected. */
  async attempt<Value>(send: Question<Value>): Promise<Exclude<VenueAnswer<Value>, VenueRejection>> {
    if (!this.#parts.mayRun()) throw new MayNotRun();
    const answer = await send(await this.open());
    if (answer.kind === "REJECTED") throw new CredentialsRejected(answer);
    return answer;
  }

  /**
   * Asks until there is an answer, or patience has ended. Throws VenueRefused if the venue refuses to give
   * one.
   */
  async ask<Value>(question: Question<Value>): Promise<Value> {
    const { mayRun, wallNow, pause, copyId, log } = this.#parts;
    /** When it is next reported that the venue leaves the question open. */
    let reportAt: number | null = null;
    const { until } = this.#limits;
    const backOff = new BackOff(VENUE_RETRIES);
    while (mayRun()) {
      const { venue, client, pollers } = await this.open();
      const { priority } = this.#limits;
      const answer = await question({ venue, client: priority === null ? client : pollers[priority] });
      if (answer.kind === "OK") return answer.value;
      if (answer.kind === "REJECTED") throw new CredentialsRejected(answer);
      if (answer.kind === "REFUSED") throw new VenueRefused(answer);
      if (answer.kind === "UNKNOWN") {
        reportAt ??= wallNow() + STUCK_AFTER_MS;
        if (wallNow() >= reportAt) {
          reportAt = wallNow() + STUCK_AGAIN_MS;
          log.warn({ copyId, reason: answer.reason }, "a venue does not answer a copy's question");
        }
      }
      const saidUntil = answer.kind === "DELAYED" ? answer.until : 0;
      const again = Math.max(saidUntil, wallNow() + backOff.next());
      if (until !== null && again >= until) throw new NotAnswered(answer.reason, saidUntil);
      while (mayRun() && wallNow() < again) await pause(Math.min(again - wallNow(), VENUE_RETRIES.maxMs));
    }
    throw new MayNotRun();
  }

  /** Null if the venue does not list the symbol. */
  async rules(symbol: string): Promise<SymbolRules | null> {
    const rules = await this.ask(({ venue }) => venue.rules(symbol));
    this.#of.rulesUsed.set(symbol, rules);
    return rules;
  }

  /**
   * Whether the rules of a symbol have changed since a rejected request was fitted to them; fetches them
   * again. If so, the request may be fitted and sent once more, since a rejection is certain.
   */
  async haveRulesChanged(symbol: string, refusal: VenueRefusal): Promise<boolean> {
    const used = this.#of.rulesUsed.get(symbol);
    if (used === undefined || !isOfRules(refusal)) return false;
    (await this.open()).venue.doubtRules(symbol);
    return !isDeepStrictEqual(await this.rules(symbol), used);
  }

  /**
   * Whether the venue does not list a symbol any more: it has refused something for that, and its rules say
   * the same.
   */
  async isUnlisted(symbol: string, { code }: VenueRefusal): Promise<boolean> {
    if (code !== UNKNOWN_SYMBOL_CODE) return false;
    (await this.open()).venue.doubtRules(symbol);
    return (await this.rules(symbol)) === null;
  }

  prices(): Promise<VenuePrices> {
    return this.ask(({ venue }) => venue.prices());
  }

  /** Prices for an order, which does not wait for them longer than an exit may; null if they do not come. */
  async pricesInTime(): Promise<VenuePrices | null> {
    const asking = this.briefly(URGENT_MS_MAX).prices();
    const late = this.#parts.pause(URGENT_MS_MAX).then(() => null);
    return await orElse(Promise.race([asking, late]), null, NotAnswered);
  }

  /** For an order that lacks an answer of the venue. `until`: when it may be asked again, if it said so. */
  postponed(until = 0): Postponed {
    return new Postponed(Math.max(until, this.#parts.wallNow() + POSTPONED_MS));
  }

  /**
   * Null once the venue has it so; its refusal otherwise. Throws NotAnswered if there is no answer in time.
   * OPEN: for something that only opens; throws Postponed instead, and while the venue's limits permit none.
   */
  async setLeverage(
    symbol: string,
    leverage: number,
    priority: "OPEN" | "REDUCE",
  ): Promise<VenueRefusal | null> {
    try {
      return await this.briefly(URGENT_MS_MAX).ask(async ({ client }) => {
        const answer = await client.setLeverage(symbol, leverage, priority);
        const isLimited = answer.kind === "DELAYED" && answer.why === "LIMITED";
        if (isLimited && priority === "OPEN") throw new Postponed(answer.until);
        return answer;
      });
    } catch (error) {
      if (error instanceof VenueRefused) return error.refusal;
      if (error instanceof NotAnswered && priority === "OPEN") throw this.postponed(error.until);
      throw error;
    }
  }

  async #find(): Promise<VenueAccount> {
    const account = await this.#parts.store.findAccount(this.#parts.accountId);
    if (account === null) throw new Error(`a copy has an account: ${this.#parts.accountId}`);
    return account;
  }
}

/** An opening that could not be sent within this time of the strategy's commit is skipped, ms. */
export const ENTRY_AGE_MAX_MS = 60_000;

type GateParts = {
  readonly session: VenueSession;
  /** As it is now. */
  readonly copy: () => Copy;
  /** Why nothing may be sent for a copy to a venue: a kill switch. Null if it may. */
  readonly halted: (of: { readonly personId: string; readonly venue: string }) => Halt | null;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
};

/**
 * Decides what a copy may send at this moment, by kill switches, rejected credentials and the copy's status.
 */
export class Gate {
  readonly #parts: GateParts;

  constructor(parts: GateParts) {
    this.#parts = parts;
  }

  /** Why nothing at all may be sent; null if it may. */
  stopped(): Skip | null {
    return this.blocked() ?? (this.#parts.copy().status === "STOPPED" ? skipOf("PAUSED") : null);
  }

  /** The same, of what is sent for a copy that is stopped too: kill switches and credentials. */
  blocked(): Skip | null {
    if (this.#halt() !== null) return skipOf("HALTED");
    return this.#parts.session.isRejected === true ? skipOf("CREDENTIALS") : null;
  }

  /** Why nothing may be sent that opens something, given when the strategy did it; null if it may. */
  opensNot(at: number): Skip | null {
    if (this.#parts.copy().status !== "FOLLOWING") return skipOf("PAUSED");
    return this.now() - at > ENTRY_AGE_MAX_MS ? skipOf("TOO_LATE") : null;
  }

  /**
   * The time that a strategy's is compared with, Unix ms. Its own is the market's, by the exchange's clock or
   * by a server's: late is what is late by ours and by the venue's.
   */
  now(): number {
    const wallNow = this.#parts.wallNow();
    return Math.min(wallNow, this.#parts.session.opened?.venue.now() ?? wallNow);
  }

  /** Whether not even a question may be sent. */
  isBlind(): boolean {
    return this.#parts.session.isRejected === true || this.#halt() === "VENUE";
  }

  #halt(): Halt | null {
    const { session, halted, copy } = this.#parts;
    const venue = session.opened?.account.venue;
    return venue === undefined ? null : halted({ personId: copy().personId, venue });
  }
}

/** COPY: nothing is sent for the copy. VENUE: the venue is not even queried. */
export type Halt = "COPY" | "VENUE";

/** The kill switches as they are set: whether anything may be sent for a copier, a strategy, to a venue. */
export class Switches {
  readonly #isAllowed: (origin: string) => boolean;
  #set = new Set<string>();

  /** `isAllowed`: whether the operator allows a venue; any other is halted. */
  constructor(isAllowed: (origin: string) => boolean) {
    this.#isAllowed = isAllowed;
  }

  replace(switches: readonly KillSwitch[]): void {
    this.#set = new Set(switches.map(({ kind, id }) => nameOf(kind, id)));
  }

  /** The kill switch that halts a copy; null if none does. */
  halted(of: {
    readonly strategyId: string;
    readonly personId: string;
    readonly venue: string;
  }): Halt | null {
    if (!this.#isAllowed(of.venue) || this.#set.has(nameOf("VENUE", of.venue))) return "VENUE";
    const isHalted =
      this.#set.has(nameOf("COPIER", of.personId)) || this.#set.has(nameOf("STRATEGY", of.strategyId));
    return isHalted ? "COPY" : null;
  }
}

function nameOf(kind: SwitchKind, id: string): string {
  return `${kind} ${id}`;
}
