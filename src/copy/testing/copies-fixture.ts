// Strategies on a desk of their own, copiers' accounts at a venue that is a whole gateway beside it, and
// between them the executors, driven by real leads. Both markets are the test's, at the same prices, and so
// is the clock.
import { randomUUID } from "node:crypto";
import pino from "pino";
import { eventually } from "../../../test/support/eventually.ts";
import type { Credentials } from "../../../test/support/servers/gateway.ts";
import { openOwnGateway } from "../../../test/support/servers/own-gateway.ts";
import type { StrategyType } from "../../domain/account.ts";
import type { NewAuditRecord } from "../../domain/audit.ts";
import type { Command, PlaceOrder } from "../../domain/command.ts";
import {
  type Copy,
  type CopyAlarm,
  type CopyReason,
  type CopyRequest,
  type CopySettings,
  type CopyStatus,
  EXACT_SETTINGS,
  type MirrorEntry,
} from "../../domain/copying.ts";
import type { FillProfile } from "../../domain/fill-profile.ts";
import { isRefusal } from "../../domain/refusal.ts";
import type { MarketFeed } from "../../market/client/feed.ts";
import { decimal, formatBriefly, type Quantity } from "../../money/decimal.ts";
import { ownedOf } from "../../money/posting.ts";
import type { CopyStore } from "../../store/store.ts";
import { Copies } from "../copies.ts";
import { sealCredentials } from "../credentials.ts";
import { Leads } from "../leads/leads.ts";
import { openVenueFixture, order } from "../venue/testing/venue-fixture.ts";
import type { VenueOrder } from "../venue/venue.ts";
import { createVenues } from "../venue/venues.ts";
import { beginCopyAt } from "./copy-rows.ts";

/** A copier of a strategy, and the account at the venue. */
export type Copier = { readonly copyId: string; readonly account: Credentials };

export type CopiesFixture = Awaited<ReturnType<typeof openCopiesFixture>>;

/** How far `waitFor` advances the clock between two checks, ms. */
const STEP_MS = 500;
/** A long time passes in parts of this length, ms. */
const PART_MS = 60_000;
/**
 * After so many consecutive checks that found the process idle, something waits for the clock. They are some
 * milliseconds apart.
 */
const IDLE_CHECKS = 400;
const FULL: CopySettings = EXACT_SETTINGS;

export async function openCopiesFixture({
  through,
  waitsForFees = true,
  hasSockets = false,
  profiles = {},
}: {
  readonly through?: (url: string) => Promise<string>;
  /**
   * Whether actions count as dealt with only when their fees are known; at a venue without budgets that is at
   * once.
   */
  readonly waitsForFees?: boolean;
  /** Whether the venue serves user data streams. */
  readonly hasSockets?: boolean;
  /** Fill profiles of the strategies, and of the copiers' accounts; `standard` by default. */
  readonly profiles?: {
    readonly leads?: (type: StrategyType) => FillProfile;
    readonly accounts?: (type: StrategyType) => FillProfile;
  };
} = {}) {
  const venue = await openVenueFixture({ hasSockets });
  const { time, pairs, contracts } = venue;
  pairs.show("BTCUSDT", "99990", "100000");
  pairs.show("ETHUSDT", "1999", "2000");
  contracts.show("BTCUSDT", "99990", "100000");
  contracts.show("ETHUSDT", "1999", "2000");
  const origin = through === undefined ? venue.url : await through(venue.url);
  const feeds = { SPOT: pairs as unknown as MarketFeed, FUTURES: contracts as unknown as MarketFeed };
  const log = pino({ level: process.env.COPIES_LOG ?? "silent" });
  const own = await openOwnGateway(feeds, time.now, { log });
  const { store, master, desk } = own.gateway;
  const notified: { readonly copyId: string; readonly reason: CopyReason | CopyAlarm }[] = [];
  /** The functions between an executor and its store; a test may replace them. */
  const seams: Pick<CopyStore, "recordProgress" | "findAccount" | "listEntriesOf" | "listPendingRequests"> = {
    ...store.copying,
  };
  /** Settings of the next copier that is started. */
  const bounds: { openRowsMax: number | null } = { openRowsMax: null };
  /** The copier's calls of its store: those in flight, and all so far. */
  const calls = { underWay: 0, all: 0 };
  let running: Awaited<ReturnType<typeof start>> | null = null;

  function counted(copying: CopyStore): CopyStore {
    return new Proxy(copying, {
      get(target, name, receiver) {
        const member: unknown = Reflect.get(target, name, receiver);
        if (typeof member !== "function") return member;
        return (...given: unknown[]) => {
          const answer: unknown = member(...given);
          if (!(answer instanceof Promise)) return answer;
          calls.underWay += 1;
          calls.all += 1;
          return answer.finally(() => {
            calls.underWay -= 1;
          });
        };
      },
    });
  }

  /** Returns, at each call, how many times in a row the copier was found idle. */
  function restWatch(): () => number {
    let [seen, checks] = [-1, 0];
    return () => {
      checks = fixture.isBusy() || fixture.doneSoFar() !== seen ? 0 : checks + 1;
      seen = fixture.doneSoFar();
      return checks;
    };
  }

  /** Begins to copy, as a process does. */
  async function start() {
    const holder = randomUUID();
    const venues = createVenues({ wallNow: time.now, after: time.after, log });
    const copying: CopyStore = counted({
      ...store.copying,
      recordProgress: (...given) => seams.recordProgress(...given),
      findAccount: (...given) => seams.findAccount(...given),
      listEntriesOf: (...given) => seams.listEntriesOf(...given),
      listPendingRequests: (...given) => seams.listPendingRequests(...given),
    });
    let isAlive = true;
    const copies: Copies = new Copies({
      store: { copying },
      venues,
      master,
      holder,
      wallNow: time.now,
      timers: time,
      mayRun: () => isAlive && leads.mayRun(),
      isAllowed: (asked) => asked === origin,
      tell: ({ copyId }, reason) => notified.push({ copyId, reason }),
      onRecorded() {},
      onStoreFailure() {},
      log,
      ...(bounds.openRowsMax !== null && { openRowsMax: bounds.openRowsMax }),
    });
    const leads: Leads = new Leads({
      store: copying,
      followers: copies,
      holder,
      isAlone: true,
      wallNow: time.now,
      every: time.every,
      onClaimed() {},
      onFailure(error) {
        throw error;
      },
      log,
    });
    await leads.claim();
    const end = async () => {
      isAlive = false;
      leads.stop();
      await copies.close();
      await venues.close();
    };
    return { holder, leads, copies, venues, end };
  }

  const fixture = {
    venue,
    time,
    pairs,
    contracts,
    store,
    master,
    notified,
    seams,
    bounds,
    desk,
    /** Whether the copying process waits for its store or for the venue. */
    isBusy: () => calls.underWay > 0 || venue.requests.underWay > 0,
    /** Calls of the store and requests to the venue so far. */
    doneSoFar: () => calls.all + venue.requests.all,
    async start() {
      running = await start();
    },
    /** Ends the copying process at once; what it had not recorded is lost. */
    async stop() {
      await running?.end();
      running = null;
    },
    /** Simulates a killed process: nothing waits for its work. */
    abandon() {
      void running?.end();
      running = null;
    },
    /**
     * From now on no outcome is recorded, as if the process had ended before; resolves once one should have
     * been. What is written before a request is still written.
     */
    cutRecording(): Promise<void> {
      const reached = Promise.withResolvers<void>();
      let isCut = false;
      seams.recordProgress = (strategyId, holder, progress) => {
        const isBefore = progress.every(({ entries }) =>
          entries.every(({ status }) => status === "NEW" || status === "SENT"),
        );
        if (isBefore && !isCut) return store.copying.recordProgress(strategyId, holder, progress);
        isCut = true;
        reached.resolve();
        return new Promise(() => {});
      };
      return reached.promise;
    },
    /** The next process, after one that was killed; what it does is recorded. */
    async restart(): Promise<void> {
      this.abandon();
      seams.recordProgress = store.copying.recordProgress;
      await this.start();
    },
    /** Accounts whose user data stream the copying process receives. */
    streams: () => running?.venues.reports().reduce((sum, { health }) => sum + health.streams, 0) ?? 0,
    wake(strategyId: string): void {
      running?.leads.wake(strategyId, null);
    },
    async strategy(type: StrategyType): Promise<string> {
      const { strategyId } = await own.seed(type, profiles.leads?.(type));
      await store.copying.setOpenToCopiers(strategyId, true, audit(strategyId));
      return strategyId;
    },
    /** A copier whose account holds the seed balance: 200 USDT on spot, 1,000 USDT of futures. */
    async copier(
      strategyId: string,
      type: StrategyType,
      settings: Partial<CopySettings> = {},
      tell: (() => Promise<void>) | null = null,
    ): Promise<Copier> {
      const account = await venue.seed(type, profiles.accounts?.(type));
      const id = randomUUID();
      const copyId = `copy-${id}`;
      const accountId = `account-${id}`;
      await beginCopyAt(store, {
        ...{ copyId, personId: `person-${id}`, accountId, strategyId, type, venue: origin },
        sealed: sealCredentials(master, accountId, account),
        ...{ settings: { ...FULL, ...settings }, at: time.now() },
      });
      await (tell === null ? fixture.peopleChanged(strategyId) : tell());
      return { copyId, account };
    },
    /** Credentials as the store has them, each time in other bytes. */
    sealed: (accountId: string, account: Credentials) => sealCredentials(master, accountId, account),
    /** The strategy does something; resolves when every copy has dealt with it. */
    async does(strategyId: string, command: Command, isAwaited = true): Promise<number> {
      const outcome = await desk.execute(strategyId, command, {});
      if (isRefusal(outcome)) throw new Error(`the strategy can do that: ${JSON.stringify(outcome)}`);
      if (running !== null && isAwaited) await fixture.dealtWith(strategyId);
      return outcome.orders.at(-1)?.orderId ?? outcome.legs.at(-1)?.legId ?? 0;
    },
    /**
     * Waits while the clock does not move. If that takes long, something waits for the clock: a request in
     * flight when the clock was advanced has hit its deadline and is retried later.
     */
    async dealtWith(strategyId: string): Promise<void> {
      running?.leads.wake(strategyId, null);
      const loaded = await store.loadAccount(strategyId);
      const isDealtWith = async () => {
        const lead = await store.copying.findLead(strategyId);
        if (lead === null || loaded === null || lead.version < loaded.version) return false;
        const live = await store.copying.listCopiesOfStrategy(strategyId, { isLive: true });
        if (!live.every(({ doneSeq }) => doneSeq === lead.seq)) return false;
        if (!waitsForFees) return true;
        const open = await store.copying.listOpenEntries({ strategyId });
        return open.every(({ isFeeDue }) => isFeeDue !== true);
      };
      const atRest = restWatch();
      await eventually("every copy has dealt with what the strategy did", async () => {
        if (await isDealtWith()) return true;
        if (atRest() >= IDLE_CHECKS) await fixture.passes(STEP_MS);
        return false;
      });
    },
    /** Waits until the condition holds, while the clock does not move. */
    eventually,
    restWatch,
    /**
     * Advances the clock until the condition holds; not while the copier is busy, unless it waits for the
     * clock itself.
     */
    async waitFor(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
      const atRest = restWatch();
      let busyChecks = 0;
      await eventually(what, async () => {
        if (await holds()) return true;
        busyChecks = atRest() > 0 ? 0 : busyChecks + 1;
        if (busyChecks === 0 || busyChecks >= IDLE_CHECKS) await fixture.passes(STEP_MS);
        return false;
      });
    },
    /** Advances the clock in steps that the claims keep up with. */
    async passes(ms: number): Promise<void> {
      for (let passed = 0; passed < ms; passed += STEP_MS) {
        time.advance(STEP_MS);
        await running?.leads.claim();
      }
    },
    /** Advances the clock by this time, and not while the copier is busy. */
    async passesAtRest(ms: number): Promise<void> {
      const end = time.now() + ms;
      // However long it is, no part of it outlasts the bound of a wait.
      while (time.now() < end) {
        const until = Math.min(end, time.now() + PART_MS);
        await fixture.waitFor("the time passes", () => time.now() >= until);
      }
    },
    /** Announces a change from the dashboard. */
    async peopleChanged(strategyId: string): Promise<void> {
      await running?.copies.changed(strategyId);
    },
    /** The venue knows the copier's key no more. */
    async revoke({ account }: Copier): Promise<void> {
      await venue.store.revokeKey(account.apiKey, time.now());
    },
    /** Makes the leads poll for commits. */
    async lead(): Promise<void> {
      await running?.leads.look();
    },
    async halt(strategyId: string): Promise<void> {
      const set = {
        kind: "STRATEGY",
        id: strategyId,
        reason: "test",
        setBy: "operator",
        setAt: time.now(),
      } as const;
      await store.copying.setSwitch(set, audit(strategyId));
      await fixture.peopleChanged(strategyId);
    },
    async unhalt(strategyId: string): Promise<void> {
      await store.copying.clearSwitch("STRATEGY", strategyId, audit(strategyId));
      await fixture.peopleChanged(strategyId);
    },
    async changeCopy(
      copy: Copier,
      strategyId: string,
      status: CopyStatus,
      reason: CopyReason | null,
    ): Promise<void> {
      const from = ["FOLLOWING", "PAUSED", "CLOSING"] as const;
      const change = { copyId: copy.copyId, from, status, reason, at: time.now() };
      await store.copying.changeCopy(change, audit(copy.copyId));
      await fixture.peopleChanged(strategyId);
    },
    /** As an owner does it who keeps the copy's holdings. */
    async stopCopy({ copyId }: Copier, strategyId: string): Promise<void> {
      const from = ["FOLLOWING", "PAUSED", "CLOSING"] as const;
      const at = time.now();
      const asks: CopyRequest = {
        requestId: randomUUID(),
        copyId,
        kind: "WITHDRAW",
        mayIncrease: false,
        askedAt: at,
        doneAt: null,
        failure: null,
      };
      await store.copying.changeCopy(
        { copyId, from, status: "STOPPED", reason: "COPIER", at, asks },
        audit(copyId),
      );
      await fixture.peopleChanged(strategyId);
    },
    /** Trades on the copier's account outside the copy, with market orders. */
    async trades(
      { account }: Copier,
      type: StrategyType,
      said: Pick<VenueOrder, "side" | "quantity">,
      clientOrderId: string = randomUUID(),
    ): Promise<void> {
      const sent = order({ type: "MARKET", clientOrderId, ...said });
      const { kind } = await venue.client(type, account).place(sent);
      if (kind !== "OK") throw new Error(`the venue takes it: ${kind}`);
    },
    /** The strategies that are claimed. */
    async claimed(): Promise<readonly string[]> {
      const rows = running === null ? [] : await store.copying.listClaimed(running.holder);
      return rows.map(({ strategyId }) => strategyId);
    },
    /** Sends a request to the copy, and waits until it is done. */
    async ask(
      copy: Copier,
      strategyId: string,
      of: Pick<CopyRequest, "kind"> & Partial<CopyRequest>,
    ): Promise<CopyRequest> {
      const requestId = randomUUID();
      const blank = { mayIncrease: false, askedAt: time.now(), doneAt: null, failure: null };
      await store.copying.addRequest({ ...blank, ...of, requestId, copyId: copy.copyId }, null);
      await fixture.peopleChanged(strategyId);
      const find = async () =>
        (await store.copying.listRequests(copy.copyId, 100)).find((each) => each.requestId === requestId);
      await fixture.waitFor("the request is done", async () => (await find())?.doneAt != null);
      const done = await find();
      if (done === undefined) throw new Error("a request that was added is there");
      return done;
    },
    async copy({ copyId }: Copier): Promise<Copy> {
      const found = await store.copying.findCopy(copyId);
      if (found === null) throw new Error("a copy that was begun is there");
      return found;
    },
    /** The mirror log, oldest first. */
    async entries({ copyId }: Copier): Promise<readonly MirrorEntry[]> {
      return (await store.copying.listMirrorEntries(copyId, { limit: 1_000 })).toReversed();
    },
    /** The same, in lines that a trader can read. */
    async log(copier: Copier): Promise<readonly string[]> {
      return (await fixture.entries(copier)).map(wordsOf);
    },
    /** The amount of an asset in a copier's account, at the venue itself. */
    async owned({ account }: Copier, asset: string): Promise<string> {
      const loaded = await venue.store.loadAccount(account.strategyId);
      if (loaded === null) throw new Error("a seeded account is there");
      return formatBriefly(ownedOf(loaded.account.balances, asset));
    },
    async position({ account }: Copier, symbol: string): Promise<string> {
      const loaded = await venue.store.loadAccount(account.strategyId);
      return formatBriefly(loaded?.account.positions.get(symbol)?.quantity ?? 0n);
    },
    /** By the copy's own book. */
    async holds(copier: Copier, symbol: string): Promise<string> {
      const { book } = await fixture.copy(copier);
      return formatBriefly(book.holdings.get(symbol)?.quantity ?? (0n as Quantity));
    },
    async [Symbol.asyncDispose]() {
      await fixture.stop();
      await own.close();
      await venue[Symbol.asyncDispose]();
    },
  };
  return fixture;
}

/** A client's placement; at the market without a price. */
export function places(
  side: "BUY" | "SELL",
  quantity: string,
  said: { readonly at?: string; readonly stop?: string; readonly symbol?: string } & Partial<PlaceOrder> = {},
): PlaceOrder {
  const { at, stop, symbol = "BTCUSDT", ...others } = said;
  const isStop = stop !== undefined;
  const orderType =
    at === undefined ? (isStop ? "STOP_LOSS" : "MARKET") : isStop ? "STOP_LOSS_LIMIT" : "LIMIT";
  return {
    type: "PlaceOrder",
    symbol,
    side,
    orderType,
    size: { quantity: decimal(quantity) },
    price: at === undefined ? null : decimal(at),
    stopPrice: stop === undefined ? null : decimal(stop),
    clientOrderId: randomUUID(),
    ...others,
  };
}

export function audit(id: string): NewAuditRecord {
  return { who: { kind: "SERVICE" }, what: "COPY_STARTED", about: { kind: "COPY", id }, at: 0, details: {} };
}

/** A line of the mirror log in words. */
export function wordsOf(entry: MirrorEntry): string {
  const { kind, side, orderType, quantity, executedQuantity, status, skip } = entry;
  const words: string[] = [kind];
  if (side !== null) words.push(side);
  if (orderType !== null) words.push(orderType);
  if (quantity !== null) words.push(formatBriefly(quantity));
  words.push(status);
  if (executedQuantity > 0n) words.push(`executed ${formatBriefly(executedQuantity)}`);
  if (skip !== null) words.push(skip.reason);
  return words.join(" ");
}
