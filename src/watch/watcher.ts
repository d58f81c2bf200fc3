// From tick to command. The watcher keeps the watch list in step with what was committed, has the market stream the symbols
// that somebody waits on or holds, and turns everything that the market reaches into a command through the desk: a limit
// into a fill, a stop or a leg into its trigger, a position at the end of its margin into its liquidation. There is one a
// family, since spot and futures name their symbols alike.
//
// Nothing reached is lost: the price that reached it travels with the command (`errands.ts`); one who starts to wait is held
// against the extremes since it was decided, and against the present mark price, which may not move again; what came while
// nobody was listening is asked for afterwards (`gap-filler.ts`).
//
// Every server on a database watches everything: what the others commit is followed (`stored-accounts.ts`), and whichever
// server sees a crossing first carries it out; the others find it done. What another server began has no mark of this process.
// If nothing that this process heard since shortly before then reaches it, nothing was missed; else what happened since
// then is asked for, as after any other gap.
//
// A position of whose contract the brackets are not known cannot be watched: its symbol counts as not looked at since the
// position last changed, which is made up for when they are known.
import type { Logger } from "pino";
import type { Timers } from "../concurrency/time.ts";
import type { Announcement, Desk } from "../desk/desk.ts";
import type { StrategyType } from "../domain/account.ts";
import type { Settlement } from "../domain/market.ts";
import type { Store } from "../store/store.ts";
import { Errands } from "./errands.ts";
import { FundingSettler } from "./funding-settler.ts";
import { GapFiller } from "./gap-filler.ts";
import { type HeldContract, Holders } from "./holders.ts";
import { Liquidations } from "./liquidations.ts";
import { Listening } from "./listening.ts";
import { LookedAt } from "./looked-at.ts";
import { MARK_INTERVAL_MS, RecentMarks } from "./recent-marks.ts";
import { Roster } from "./roster.ts";
import { StoredAccounts } from "./stored-accounts.ts";
import type { Reached } from "./waiting.ts";
import { type WaitingCounts, WatchList } from "./watch-list.ts";
import type { WatchedMarket } from "./watched-market.ts";

/** How often it is noted until when symbols were looked at, and what was not looked at is asked for, ms. */
const NOTE_INTERVAL_MS = 5_000;

type WatcherStore = Pick<
  Store,
  "loadAccount" | "listExposedAccounts" | "onCommittedElsewhere" | "noteHeard" | "listHeard"
>;

export class Watcher {
  readonly #family: StrategyType;
  readonly #market: WatchedMarket;
  readonly #list = new WatchList();
  readonly #holders = new Holders();
  readonly #accounts: StoredAccounts;
  readonly #errands: Errands;
  readonly #settler: FundingSettler;
  readonly #gaps: GapFiller;
  readonly #lookedAt: LookedAt;
  readonly #listening: Listening;
  readonly #roster: Roster;
  readonly #stops: readonly (() => void)[];

  constructor(parts: {
    family: StrategyType;
    desk: Pick<Desk, "execute" | "onCommitted">;
    store: WatcherStore;
    market: WatchedMarket;
    timers: Timers;
    log: Logger;
  }) {
    const { family, desk, store, market, timers, log } = parts;
    const isSilent = (symbol: string) => this.#isSilent(symbol);
    const marks = new RecentMarks();
    const liquidations = new Liquidations({ market, holders: this.#holders });
    this.#family = family;
    this.#market = market;
    this.#accounts = new StoredAccounts({
      family,
      store,
      take: (account) => this.#roster.take(account),
      followed: () => this.#roster.strategies(),
      now: () => market.now(),
      after: timers.after,
      log,
    });
    this.#errands = new Errands({
      desk,
      market,
      isSilent,
      ask: (strategyId) => this.#accounts.ask(strategyId),
      askLater: (strategyId) => this.#accounts.askLater(strategyId),
      done: (symbol) => this.#roster.releaseIfIdle(symbol),
      log,
    });
    this.#settler = new FundingSettler({
      desk,
      holders: this.#holders,
      ask: (strategyId) => this.#accounts.ask(strategyId),
      log,
    });
    this.#gaps = new GapFiller({
      market,
      list: this.#list,
      carryOut: (reached) => this.#errands.carryOut(reached),
      settle: (settlement) => this.#settler.settle(settlement),
      after: timers.after,
      log,
    });
    this.#lookedAt = new LookedAt({
      family,
      store,
      now: () => market.now(),
      knownUntil: () => this.#accounts.knownUntil(),
      isSilent,
      pendingSince: [
        (symbol) => this.#gaps.pendingSince(symbol),
        (symbol) => this.#errands.unsettledSince(symbol),
      ],
      log,
    });
    this.#listening = new Listening({
      market,
      lookedAt: this.#lookedAt,
      mayLook: (symbol) => !liquidations.arePending(symbol),
      hearer: {
        quote: (symbol, quote) => {
          // A halted market trades with nobody, whatever its book still shows.
          if (market.rules(symbol)?.status !== "TRADING") return;
          this.#errands.retryOverdue(symbol);
          this.#answer(this.#list.takeAtQuote(symbol, quote));
        },
        trade: (symbol, price) => this.#answer(this.#list.takeAtTrade(symbol, price)),
        markPrice: (symbol, price) => {
          this.#errands.retryOverdue(symbol);
          this.#answer(this.#list.takeAtMark(symbol, price));
        },
        missed: (symbol, from, to) => {
          this.#roster.reprice(symbol);
          this.#gaps.add(symbol, from, to);
        },
      },
    });
    this.#roster = new Roster({
      market,
      list: this.#list,
      holders: this.#holders,
      liquidations,
      marks,
      errands: this.#errands,
      lookedAt: this.#lookedAt,
      listening: this.#listening,
      answer: (reached) => this.#answer(reached),
    });
    this.#stops = [
      desk.onCommitted((announcement) => this.#heed(announcement)),
      timers.every(MARK_INTERVAL_MS, () => marks.take({ at: market.now(), mark: market.mark() })),
      timers.every(NOTE_INTERVAL_MS, () => {
        for (const symbol of this.#listening.symbols()) this.#roster.reprice(symbol);
        this.#listening.lookAtUnseen(isSilent);
        void this.#lookedAt.note();
      }),
    ];
  }

  /** Takes up all that waits, by the store, and what its market did since it was last heard of. Answers how many wait. */
  async rebuild(): Promise<WaitingCounts> {
    await this.#lookedAt.goOnFromNotes(() => this.#accounts.open());
    return this.#list.counts();
  }

  /** The contracts that somebody holds, or held before a settlement of funding that is still to come. */
  heldContracts(): readonly HeldContract[] {
    return this.#holders.contracts();
  }

  /**
   * Until when the market of a symbol has been looked at for everybody, market time in Unix ms; null while that cannot be
   * told. What happened before may be taken as carried out.
   */
  lookedAtUntil(symbol: string): number | null {
    return this.#lookedAt.until(symbol);
  }

  /** Applies a settlement of funding to everybody. Answers false if it is to be tried again. */
  async settle(settlement: Settlement): Promise<boolean> {
    return (await this.#settler.settle(settlement)).isComplete;
  }

  /** Takes up nothing more; what waits is found in the store at the next start. */
  async close(): Promise<void> {
    this.#roster.close();
    for (const stop of this.#stops) stop();
    this.#gaps.close();
    await this.#lookedAt.note();
    await this.#accounts.close();
    this.#listening.close();
  }

  #heed(announcement: Announcement): void {
    if (announcement.type !== this.#family) return;
    this.#accounts.changed(announcement.strategyId);
    this.#roster.heed(announcement);
  }

  /** What the market has reached, and was taken from the list for that. */
  #answer(reached: readonly Reached[]): void {
    for (const each of reached) if (!this.#gaps.putsOff(each)) void this.#errands.carryOut(each);
  }

  /** Whether there is no price of a symbol to decide by; of a contract it takes two. */
  #isSilent(symbol: string): boolean {
    if (this.#market.quote(symbol) === null) return true;
    return this.#family === "FUTURES" && this.#market.markPrice(symbol) === null;
  }
}
