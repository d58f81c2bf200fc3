// Crash cycles on one database: the real program, the simulated market, kill -9. In each cycle traders send
// orders concurrently. After a random number of acknowledged answers the gateway, its database's server or
// both are killed with requests in flight, and restarted. Cycles alternate between a dear and a cheap market,
// so that the other market reaches limit orders between the two. Half of the strategies are under `strict`.
// The seed decides what is drawn, not how requests interleave. The first fault ends the run, since later
// faults may follow from it.
import type { StrategyType } from "../../../src/domain/account.ts";
import { issueApiKey } from "../../../src/keys/api-keys.ts";
import type { MasterKey } from "../../../src/keys/master-key.ts";
import { keyRow } from "../../../src/store/key-rows.ts";
import { seededRandom } from "../../support/random.ts";
import { type GatewayProcess, startGateway } from "../../support/servers/gateway.ts";
import type { FaultKind } from "../harness/faults.ts";
import { journalFaults } from "../harness/journal.ts";
import {
  chooseMarkets,
  HEEDS_ADDRESSES,
  type MarketPair,
  pricesBetween,
  quotesOf,
  type SimulatedMarket,
} from "../harness/markets.ts";
import { checkStoredReceipts, seedBothProfiles } from "../harness/receipts.ts";
import { recomputedFaults } from "../harness/recomputed.ts";
import type { Found } from "../harness/report.ts";
import type { StoredStrategy } from "../harness/stored-rows.ts";
import { type Beside, type CrashedStore, makeStore, type StoreName } from "../harness/stores.ts";
import { SYMBOL } from "../harness/ticks.ts";
import { compileCache, drawVictim, lastWords, type Victim } from "../harness/victims.ts";
import { restedFaults } from "./book-faults.ts";
import { type Killed, killUnderLoad } from "./kill.ts";
import { awaitFills, checkAll, type Settled, settleUnknown } from "./settle.ts";
import { type Trader, tradersOn } from "./trader.ts";

export type CrashOptions = {
  readonly store: StoreName;
  readonly seed: number;
  readonly cycles: number;
  /** After these cycles it goes on until so many have been run, or the reports are enough. */
  readonly more?: {
    readonly until: (reports: readonly CycleReport[]) => boolean;
    readonly cyclesMax: number;
  };
  readonly onCycle?: (report: CycleReport) => void;
  /** Ends the run after the present cycle. */
  readonly signal?: AbortSignal;
};

export type CrashFaultKind =
  | FaultKind
  /** A trade under `strict` has no receipt, or one that it does not follow from. */
  | "RECEIPT";
export type CrashFault = Found<CrashFaultKind>;

export type CycleReport = Killed & {
  readonly cycle: number;
  /** Placements whose outcome the kill left unknown, and what became of them. */
  readonly settled: Settled;
  /** Orders and legs that the market had reached when the gateway was back, and that are over by now. */
  readonly filled: number;
  /** Accounts whose balances were recomputed, and journals that were replayed. */
  readonly booksChecked: number;
  readonly journalsReplayed: number;
  /** All orders of all traders, all cycles. */
  readonly orders: number;
  /** Likewise the legs that have closed a position, and the liquidations. */
  readonly fired: number;
  readonly liquidated: number;
  /**
   * Likewise the orders under `strict` of which only a part was filled, and the receipts that were checked.
   */
  readonly filledInPart: number;
  readonly receipts: number;
};

export type CrashReport = {
  readonly store: StoreName;
  readonly seed: number;
  readonly cycles: readonly CycleReport[];
  /** Empty if all is well. */
  readonly faults: readonly CrashFault[];
  readonly seconds: number;
};

/**
 * Of these strategies a third is at work in a cycle, by turns: none may place more than 50 orders in ten
 * seconds.
 */
const SPOT_TRADERS = 24;
const FUTURES_TRADERS = 12;
const TURNS = 3;
/** What every run kills at first, where there is a choice; the others are drawn. */
const FIRST_VICTIMS: readonly Victim[] = ["gateway", "database", "both"];
/** Journals of each type that are replayed in each cycle; after the last one all of them are. */
const JOURNALS = 2;
/** The simulated markets move on: after so many cycles the dearest and the cheapest may be others. */
const CYCLES_PER_MARKETS = 50;
const MS_PER_SECOND = 1_000;

type Fixture = {
  readonly store: CrashedStore;
  readonly traders: readonly Trader[];
  readonly draw: () => number;
};

/**
 * Runs the cycles, up to the first with a fault. Returns null if the store's programs are missing. After each
 * restart it checks that
 *
 * - orders that the market's present prices reach are filled, legs have fired, positions are liquidated;
 * - every acknowledged order exists once, in its acknowledged state or one that may follow;
 * - every order with an unknown outcome exists at most once, and exactly once after two simultaneous retries;
 * - balances, positions and wallets follow exactly from trades, open orders and incomes;
 * - every trade under `strict` follows from its receipt.
 *
 * At the end it checks that some strategies' journals make their accounts, and that the database is sound.
 */
export async function runCrashCycles(options: CrashOptions): Promise<CrashReport | null> {
  const { seed, cycles, more, onCycle, signal } = options;
  const store = await makeStore(options.store);
  if (store === null) return null;
  const started = performance.now();
  const reports: CycleReport[] = [];
  const faults: CrashFault[] = [];
  let gateway: GatewayProcess | null = null;
  try {
    const fixture = { store, traders: await makeTraders(store, seed), draw: seededRandom(seed) };
    let markets = await chooseMarkets();
    const env = { ...store.env, ...HEEDS_ADDRESSES, ...compileCache() };
    const start = ({ seed }: SimulatedMarket) =>
      startGateway({ dataDir: store.dataDir, env: { ...env, SIM_SEED: String(seed) } });
    gateway = await start(markets.dear);
    let isLast = false;
    for (let cycle = 1; !isLast && faults.length === 0 && signal?.aborted !== true; cycle += 1) {
      const goesOn = more !== undefined && cycle < more.cyclesMax && !more.until(reports);
      isLast = cycle >= cycles && !goesOn;
      if (cycle % CYCLES_PER_MARKETS === 0) markets = await chooseMarkets();
      const atWork = fixture.traders.filter((_, index) => isAtWork(index, cycle));
      const first = store.server === null ? "gateway" : FIRST_VICTIMS[cycle - 1];
      const victim = first ?? drawVictim(store, fixture.draw);
      const killed = await crash(fixture, atWork, { gateway, markets, victim });
      gateway = await start(cycle % 2 === 1 ? markets.cheap : markets.dear);
      const found = await checkBooks(gateway.url, fixture.traders);
      const replayed = isLast ? fixture.traders : someOf(atWork);
      const inDatabase = await checkDatabase(fixture, replayed);
      faults.push(...found.faults, ...inDatabase.faults);
      const { settled, filled, orders, filledInPart, fired, liquidated } = found;
      const { receipts } = inDatabase;
      const booksChecked = fixture.traders.length;
      const journalsReplayed = replayed.length;
      const counts = { settled, filled, orders, filledInPart, fired, liquidated, receipts };
      const report = { ...killed, cycle, ...counts, booksChecked, journalsReplayed };
      reports.push(report);
      onCycle?.(report);
    }
  } catch (error) {
    // An interrupt at a terminal kills all processes of the run as well.
    if (signal?.aborted !== true) {
      const reason = error instanceof Error ? error.stack : String(error);
      const said = gateway === null ? "" : await lastWords(gateway);
      faults.push({ kind: "GATEWAY", what: `cycle ${reports.length + 1}: ${reason}\n${said}` });
    }
  } finally {
    await gateway?.kill();
    await store.close();
  }
  const seconds = (performance.now() - started) / MS_PER_SECOND;
  return { store: options.store, seed, cycles: reports, faults, seconds };
}

async function makeTraders(store: CrashedStore, seed: number): Promise<Trader[]> {
  const wanted: StrategyType[] = [
    ...Array.from({ length: SPOT_TRADERS }, () => "SPOT" as const),
    ...Array.from({ length: FUTURES_TRADERS }, () => "FUTURES" as const),
  ];
  const strategies = await store.beside((beside) => seedBothProfiles(beside.store, store.master, wanted));
  return tradersOn(strategies, seed);
}

/** Of both types. */
function someOf(traders: readonly Trader[]): readonly Trader[] {
  const of = (type: StrategyType) => traders.filter((trader) => trader.type === type).slice(0, JOURNALS);
  return [...of("SPOT"), ...of("FUTURES")];
}

function isAtWork(index: number, cycle: number): boolean {
  return (index + cycle) % TURNS === 0;
}

async function crash(
  { store, traders, draw }: Fixture,
  atWork: readonly Trader[],
  {
    gateway,
    markets,
    victim,
  }: { readonly gateway: GatewayProcess; readonly markets: MarketPair; readonly victim: Victim },
): Promise<Killed> {
  const prices = pricesBetween(await quotesOf(gateway.url), markets);
  return await killUnderLoad({
    gateway,
    store,
    traders: atWork,
    prices,
    victim,
    draw,
    // What was crossed while the database was gone has to be filled without a restart, too.
    onOutlived: async () => void (await awaitFills(gateway.url, traders)),
  });
}

const NOTHING_COUNTED = { orders: 0, filledInPart: 0, fired: 0, liquidated: 0 } as const;

async function checkBooks(url: string, traders: readonly Trader[]) {
  const filled = await awaitFills(url, traders);
  const { settled, faults } = await settleUnknown(url, traders);
  if (faults.length > 0) return { filled, settled, ...NOTHING_COUNTED, faults };
  return { filled, settled, ...(await checkAll(url, traders)) };
}

/**
 * Looks at the database itself, and gives every trader another key of its strategy, whose budgets are unused.
 */
async function checkDatabase({ store, traders }: Fixture, replayed: readonly Trader[]) {
  return await store.beside(async (beside) => {
    const damage = await store.damage(beside);
    const faults = damage.map((what): CrashFault => ({ kind: "DAMAGED", what }));
    let receipts = 0;
    for (const { credentials } of replayed) {
      faults.push(...(await journalFaults(beside.store, credentials.strategyId)));
    }
    for (const trader of traders) {
      const { name, type, credentials } = trader;
      const rested = (strategy: StoredStrategy) => restedFaults(trader, strategy);
      faults.push(...(await recomputedFaults(beside, credentials.strategyId, type, rested)));
      const checked = await checkStoredReceipts(beside.store, credentials.strategyId, SYMBOL);
      faults.push(
        ...checked.faults.map((what): CrashFault => ({ kind: "RECEIPT", what: `${name}: ${what}` })),
      );
      receipts += checked.receipts;
    }
    await giveNewKeys(beside, store.master, traders);
    return { faults, receipts };
  });
}

async function giveNewKeys({ db }: Beside, master: MasterKey, traders: readonly Trader[]): Promise<void> {
  const issued = traders.map((trader) => {
    const { strategyId } = trader.credentials;
    const terms = { label: "cycle", ownerId: null, strategyId, createdAt: Date.now() };
    return { trader, ...issueApiKey(master, terms) };
  });
  const rows = issued.map(({ record }) => keyRow(record));
  await db.insertInto("api_keys").values(rows).execute();
  for (const { trader, record, secret } of issued) {
    const { strategyId } = trader.credentials;
    trader.credentials = { strategyId, apiKey: record.apiKey, apiSecret: secret };
  }
}
