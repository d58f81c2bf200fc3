// Copying under fire: traders whose strategies are copied, a connection to the venue that cuts, delays, lies
// and limits, and kill -9 of the copying processes. The exchange rejects exits once, hides orders, accepts
// client ids again and counts weight by address. It has its own prices, and once it liquidates positions that
// the strategies keep. Some copiers start late, when their strategy has a history. The seed decides what is
// drawn, not how requests and kills interleave.
import { setTimeout as pause } from "node:timers/promises";
import type { StrategyType } from "../../../src/domain/account.ts";
import {
  type Copier,
  type Lead,
  newCopier,
  newLeads,
  newVenueAccounts,
  type Terms,
} from "../../copy/actors.ts";
import { seededRandom } from "../../support/random.ts";
import { type Credentials, type GatewayProcess, startGateway } from "../../support/servers/gateway.ts";
import { openSteeredMarket, type SteeredMarket } from "../harness/steered-market.ts";
import { type CrashedStore, makeStore, type StoreName } from "../harness/stores.ts";
import { Copying } from "./copying.ts";
import { castBy } from "./earlier-program.ts";
import { type Behavior, type BehaviorOptions, WEIGHTS_OF_ADDRESS } from "./exchange-behavior.ts";
import type { CopyFault, Disturbances } from "./faults.ts";
import { type Fate, type FaultyWay, openFaultyWay, SURE_FATES } from "./faulty-way.ts";
import { Killer } from "./killer.ts";
import { LeadTrader, SYMBOLS } from "./lead-trader.ts";
import { awaitEnds } from "./settled.ts";
import { NO_VERDICT, type Verdict, verdictOf } from "./verdict.ts";

export type RunOptions = {
  readonly store: StoreName;
  readonly seed: number;
  /** Orders of strategies times those who follow them, at least. */
  readonly orders: number;
  /** Strategies of each type, and copiers of each. */
  readonly leads: number;
  readonly copiers: number;
  /** How long what copies lives between two kills, ms on average; null kills nothing. */
  readonly killEveryMs: number | null;
  /** Whether the way to the venue has faults. */
  readonly cuts: boolean;
  /**
   * What the exchange does beside what the venue does; nothing of it: another gateway, at the same prices.
   */
  readonly exchange: ExchangeOptions | null;
  /** The program: the project's own unless said. */
  readonly root?: string | undefined;
  /** An earlier program, which makes the database and copies half of the orders. */
  readonly takesOver?: string;
  readonly onProgress?: (progress: Progress) => void;
  /** Ends the run without a verdict. */
  readonly signal?: AbortSignal | undefined;
};

export type ExchangeOptions = {
  /** For how long it hides an order at most, ms. */
  readonly hideMsMax: number;
};

export type Progress = { readonly orders: number; readonly kills: number; readonly left: number | null };

export type RunReport = {
  readonly store: StoreName;
  readonly seed: number;
  readonly copies: number;
  readonly lateCopies: number;
  /** Orders and legs that the strategies placed, and those they canceled. */
  readonly placed: number;
  readonly canceled: number;
  readonly kills: number;
  /** Claims that were not renewed in time, and for how long at most, ms. */
  readonly stalls: Copying["stalls"];
  readonly disturbances: Disturbances;
  readonly fates: Readonly<Record<Fate, number>>;
  readonly behaviors: Readonly<Record<Behavior, number>>;
  /** From the last order until every copy was done, ms. */
  readonly settledMs: number;
  readonly verdict: Verdict;
  readonly seconds: number;
  /** Empty if all is well. */
  readonly faults: readonly CopyFault[];
};

export type Followed = { readonly lead: Lead; readonly copier: Copier };

type World = {
  readonly market: SteeredMarket;
  /** Of the venue: the same object if it has no prices of its own. */
  readonly venueMarket: SteeredMarket;
  /** By API key, of the copiers' accounts at the venue. */
  readonly secrets: Map<string, string>;
  readonly venue: GatewayProcess;
  readonly venueStore: CrashedStore;
  readonly leadStore: CrashedStore;
  readonly way: FaultyWay;
  readonly copying: Copying;
  readonly leads: readonly Lead[];
  readonly followed: Followed[];
};

/**
 * A symbol: where its price began, by what part the venue's differs, and what part of its bid the venue's
 * mark price is.
 */
type Walked = (typeof SYMBOLS)[number] & { readonly base: number; drift: number; mark: number };

const TYPES: readonly StrategyType[] = ["SPOT", "FUTURES"];
/** Between two acts of a trader, ms: a key may place fifty orders in ten seconds. */
const ACT_MS_MIN = 220;
const ACT_MS_SPAN = 200;
/**
 * At least so long for each copy, ms, so that the venue's weight suffices. Of the 2,400 a minute that an
 * address has for futures, a copied order takes about nine: two for margin and leverage, five for its fee,
 * the rest for queries and cancels. With more, nearly everything is skipped as too late, and shows nothing.
 */
const ACT_MS_PER_COPY = 70;
const PRICE_EVERY_MS = 400;
/** A step of a price, as a part of it. */
const PRICE_STEP = 0.004;
/** Of what it is away from where it began: so it stays within a few hundredths. */
const PRICE_PULL = 0.02;
const MS_PER_SECOND = 1_000;
const PROGRESS_EVERY_MS = 5_000;
/** Which exits are refused once, and which placements are hidden. */
const REFUSE_EXIT = { first: 1, every: 10 };
const HIDE = { first: 10, every: 40 };
const HIDE_MS_MIN = 1_000;
/** How far the venue's prices part from the strategies' at most, and in a step. */
const DRIFT_MAX = 0.004;
const DRIFT_STEP = 0.001;
/**
 * Once, at half of the orders, the venue's mark prices fall to this part, and later rise by as much, for this
 * long, ms.
 */
const CRASH = 0.35;
const CRASH_MS = 1_500;
/**
 * An earlier program ends when so many placements are without an answer, or one is after so long, ms; after
 * the second time in any case.
 */
const WITHHELD_MIN = 6;
const WITHHELD_MS = 3_000;
const WITHHELD_MS_MAX = 30_000;

/**
 * Runs the campaign. Returns null if the store's programs are missing. Once all orders are sent and all open
 * ones are canceled, it checks that
 *
 * - every copy handles all actions of its strategy within a bound;
 * - the venue has each order of a mirror log once, as logged, and no order that no log has;
 * - the orders of a symbol are there in their strategy's order, and none that the strategy canceled is open;
 * - each skipped order has a reason;
 * - a copy's recorded holdings are those of its account, and copies of a closed strategy hold nothing more;
 * - the holdings are those that the strategy's history entitles the copy to;
 * - a copy never lacked its strategy's stop for long, and no order used funds its account did not have.
 */
export async function copyUnderFire(options: RunOptions): Promise<RunReport | null> {
  const leadStore = await makeStore(options.store);
  if (leadStore === null) return null;
  const started = performance.now();
  const world = await openWorld(options, leadStore);
  const { copying, way } = world;
  const faults: CopyFault[] = [];
  const traders = world.leads.map(
    (lead, index) =>
      new LeadTrader({
        ...{ lead, market: world.market, url: () => copying.serving() },
        draw: seededRandom(options.seed + 100 + index),
      }),
  );
  const placed = () => sumOf(traders, (trader) => trader.placed);
  const report = { lateCopies: 0, settledMs: 0, verdict: NO_VERDICT };
  let crashedAt: number | null = null;
  try {
    await copying.start();
    const killer = new Killer({
      ...{ copying, everyMs: options.killEveryMs, draw: seededRandom(options.seed + 3) },
    });
    const progress = setInterval(
      () => options.onProgress?.({ orders: placed() * options.copiers, kills: copying.kills, left: null }),
      PROGRESS_EVERY_MS,
    );
    const traded = await trade(options, world, traders).finally(() => clearInterval(progress));
    report.lateCopies = traded.lateCopies;
    crashedAt = traded.crashedAt;
    const tradedAt = Date.now();
    faults.push(...(await awaitEnds({ ...world, killer }, options)));
    report.settledMs = Date.now() - tradedAt;
    const ended = copying.ended();
    if (ended !== null) faults.push({ kind: "GATEWAY", what: ended });
    for (const what of await copying.stop()) faults.push({ kind: "GATEWAY", what });
    await world.venue.stop();
    report.verdict = await verdictOf({ ...world, lastKillAt: killer.struckAt });
    faults.push(...report.verdict.faults);
  } catch (error) {
    if (options.signal?.aborted !== true) {
      const reason = error instanceof Error ? error.stack : String(error);
      faults.push({ kind: "GATEWAY", what: `${reason}\n${copying.said()}` });
    }
  } finally {
    copying.kill();
    await way.close();
    await world.venue.kill();
    await world.market.close();
    if (world.venueMarket !== world.market) await world.venueMarket.close();
    await leadStore.close();
    await world.venueStore.close();
  }
  return {
    ...{ store: options.store, seed: options.seed, ...report, faults, fates: way.fates },
    behaviors: way.exchange.met,
    copies: world.followed.length,
    placed: sumOf(traders, ({ placed }) => placed),
    canceled: sumOf(traders, ({ canceled }) => canceled),
    kills: copying.kills,
    stalls: copying.stalls,
    disturbances: { killedAt: copying.killedAt, crashedAt },
    seconds: (performance.now() - started) / MS_PER_SECOND,
  };
}

async function openWorld(options: RunOptions, leadStore: CrashedStore): Promise<World> {
  const { seed, cuts, leads: leadsOfType, copiers, exchange } = options;
  const market = await openSteeredMarket();
  const venueMarket = exchange === null ? market : await openSteeredMarket();
  const venueStore = await makeStore("sqlite");
  if (venueStore === null) throw new Error("the embedded database is always there");
  const venue = await startGateway({ dataDir: venueStore.dataDir, env: venueMarket.env });
  const secrets = new Map<string, string>();
  const behavior = exchange === null ? {} : behaviorOf(exchange, secrets);
  const way = await openFaultyWay(venue.url, seededRandom(seed), { due: SURE_FATES, cuts, behavior });
  const copying = new Copying({
    ...{ store: leadStore, env: { ...market.env, COPY_VENUES: way.url } },
    root: options.takesOver ?? options.root,
    draw: seededRandom(seed + 1),
  });
  const types = TYPES.flatMap((type) => Array.from({ length: leadsOfType }, () => type));
  const parts = { market, venueMarket, secrets, venue, venueStore, leadStore, way, copying };
  const first = Math.ceil(copiers / 2);
  if (options.takesOver !== undefined) return await castEarlier(options.takesOver, parts, { types, first });
  const leads = await leadStore.beside(({ store }) => newLeads({ store, master: leadStore.master }, types));
  const world = { ...parts, leads, followed: [] };
  await follow(world, first);
  return world;
}

/** Those who play from the beginning, made by the earlier program. */
async function castEarlier(
  root: string,
  parts: Omit<World, "leads" | "followed">,
  { types, first }: { readonly types: readonly StrategyType[]; readonly first: number },
): Promise<World> {
  const { venueStore, leadStore, way, secrets } = parts;
  const followers = await venueStore.beside(async ({ store }) => {
    const accounts: Credentials[][] = [];
    for (const type of types)
      accounts.push(await newVenueAccounts({ store, master: venueStore.master }, type, first));
    return accounts.map((each) => each.map((venue, index) => ({ venue, terms: termsOf(index) })));
  });
  const cast = castBy(root, leadStore, { types, followers, origin: way.url });
  const followed = cast.flatMap(({ lead, copiers }) => copiers.map((copier) => ({ lead, copier })));
  for (const { copier } of followed) secrets.set(copier.venue.apiKey, copier.venue.apiSecret);
  return { ...parts, leads: cast.map(({ lead }) => lead), followed };
}

function behaviorOf({ hideMsMax }: ExchangeOptions, secrets: ReadonlyMap<string, string>): BehaviorOptions {
  return {
    refuseExit: REFUSE_EXIT,
    hide: { ...HIDE, leastMs: HIDE_MS_MIN, mostMs: hideMsMax },
    reuseIds: { secretOf: (apiKey) => secrets.get(apiKey) },
    weightByAddress: WEIGHTS_OF_ADDRESS,
  };
}

/** So many more begin to follow each strategy. */
async function follow(world: World, count: number): Promise<void> {
  const { leadStore, venueStore, way, leads, followed, secrets } = world;
  for (const lead of leads) {
    const accounts = await venueStore.beside(({ store }) =>
      newVenueAccounts({ store, master: venueStore.master }, lead.type, count),
    );
    for (const { apiKey, apiSecret } of accounts) secrets.set(apiKey, apiSecret);
    await leadStore.beside(async ({ store }) => {
      for (const [index, venue] of accounts.entries()) {
        const books = { store, master: leadStore.master };
        const copier = await newCopier(books, { lead, venue, origin: way.url, terms: termsOf(index) });
        followed.push({ lead, copier });
      }
    });
  }
}

/** Half of them work with all they have; the smallest are too small for some of the orders. */
const SHARES: readonly Terms[] = [
  { share: "1" },
  { share: "0.8" },
  { share: "1", maxPerOrder: "30" },
  { share: "0.5" },
];

function termsOf(index: number): Terms {
  return SHARES[index % SHARES.length] ?? {};
}

/** Trades until there are so many orders; answers how many copiers came late, and when prices crashed. */
async function trade(
  options: RunOptions,
  world: World,
  traders: readonly LeadTrader[],
): Promise<{ readonly lateCopies: number; readonly crashedAt: number }> {
  const { orders, copiers, signal } = options;
  const { market, venueMarket } = world;
  const placed = () => sumOf(traders, (trader) => trader.placed);
  const perLead = Math.ceil(orders / copiers / traders.length);
  const isOver = () => signal?.aborted === true || traders.every((trader) => trader.placed >= perLead);
  const draw = seededRandom(options.seed + 2);
  let lateCopies = 0;
  const half = () => isOver() || placed() >= (perLead * traders.length) / 2;
  let isTakenOver = options.takesOver === undefined;
  const lateComers = async () => {
    while (!isOver() && (!isTakenOver || placed() < (perLead * traders.length) / 4))
      await pause(PRICE_EVERY_MS);
    await follow(world, Math.floor(copiers / 2));
    lateCopies = Math.floor(copiers / 2) * world.leads.length;
  };
  const walked = SYMBOLS.map(
    (each): Walked => ({ ...each, base: Number(market.price(each.symbol).bid), drift: 0, mark: 1 }),
  );
  const drawDrift = seededRandom(options.seed + 5);
  const prices = async () => {
    while (!isOver()) {
      for (const each of walked) {
        movePrice(market, each, draw());
        if (venueMarket !== market) movePriceOfVenue(world, each, drawDrift());
      }
      await pause(PRICE_EVERY_MS);
    }
    // In the end both agree: a limit that only one of them has reached would otherwise stay open for ever.
    for (const each of walked) {
      Object.assign(each, { drift: 0, mark: 1 });
      if (venueMarket !== market) movePriceOfVenue(world, each, 0.5);
    }
  };
  const drawn = seededRandom(options.seed + 4);
  const copies = copiers * traders.length;
  const work = traders.map(async (trader) => {
    await trader.begin();
    while (trader.placed < perLead && signal?.aborted !== true) {
      await trader.act();
      await pause(Math.max(ACT_MS_MIN, copies * ACT_MS_PER_COPY) + drawn() * ACT_MS_SPAN);
    }
  });
  const takeOver = async () => {
    while (!half()) await pause(PRICE_EVERY_MS);
    if (!isTakenOver) await takeOverEarlier(world);
    isTakenOver = true;
  };
  const crashing = crash(walked, half);
  await Promise.all([...work, lateComers(), prices(), takeOver(), crashing]);
  for (const [index, trader] of traders.entries()) {
    // The first of each type is closed, for its copiers too.
    if (index % options.leads === 0) await trader.close();
    else await trader.cancelAll();
  }
  return { lateCopies, crashedAt: await crashing };
}

/** Ends the earlier program while orders are carried out that it has no answer to. */
async function takeOverEarlier({ way, copying }: World): Promise<void> {
  way.withhold();
  const since = Date.now();
  const isLate = () => Date.now() - since > (way.withheld > 0 ? WITHHELD_MS : WITHHELD_MS_MAX);
  while (way.withheld < WITHHELD_MIN && !isLate()) await pause(PRICE_EVERY_MS / 4);
  await copying.takeOver();
  way.answerAgain();
}

/**
 * The venue's mark price of one symbol falls, and of the other rises, for a moment once it is `due`: it
 * liquidates by itself. Its bids and asks stay what they are. Answers when it begins, Unix ms.
 */
async function crash(walked: readonly Walked[], due: () => boolean): Promise<number> {
  while (!due()) await pause(PRICE_EVERY_MS);
  const crashedAt = Date.now();
  for (const [index, each] of walked.entries()) {
    each.mark = index % 2 === 0 ? CRASH : 2 - CRASH;
    await pause(CRASH_MS);
    each.mark = 1;
  }
  return crashedAt;
}

/** The venue's price follows the strategies', and parts from it by a drift that is drawn. */
function movePriceOfVenue({ market, venueMarket }: World, walked: Walked, drawn: number): void {
  const { symbol, priceDigits } = walked;
  walked.drift = Math.max(-DRIFT_MAX, Math.min(DRIFT_MAX, walked.drift + DRIFT_STEP * (2 * drawn - 1)));
  const bid = Number(market.price(symbol).bid) * (1 + walked.drift);
  const tick = 10 ** -priceDigits;
  const text = (price: number) => price.toFixed(priceDigits);
  venueMarket.setPrice(symbol, { bid: text(bid), ask: text(bid + tick), mark: text(bid * walked.mark) });
}

/** A step up or down, and a little back to where it began. */
function movePrice(market: SteeredMarket, { symbol, priceDigits, base }: Walked, drawn: number): void {
  const before = Number(market.price(symbol).bid);
  const bid = before * (1 + PRICE_STEP * (2 * drawn - 1)) + PRICE_PULL * (base - before);
  const tick = 10 ** -priceDigits;
  market.setPrice(symbol, { bid: bid.toFixed(priceDigits), ask: (bid + tick).toFixed(priceDigits) });
}

function sumOf<Each>(all: readonly Each[], count: (each: Each) => number): number {
  return all.reduce((sum, each) => sum + count(each), 0);
}
