// A trigger engine between a real desk, a real database and a market that the test controls, under manual
// time. Several may share one database, one after another or in parallel, as processes do; they receive each
// other's commits when the test says so.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach } from "vitest";
import { createManualTime, type ManualTime } from "../../concurrency/testing/manual-time.ts";
import { Desk, type OnSent } from "../../desk/desk.ts";
import { executed } from "../../desk/testing/fixture.ts";
import { createStrategies } from "../../desk/testing/strategies.ts";
import type { StrategyType } from "../../domain/account.ts";
import type { PlaceOrder } from "../../domain/command.ts";
import { STANDARD, type StrictTerms } from "../../domain/fill-profile.ts";
import type { AttachedLegs, Order, Side } from "../../domain/order.ts";
import { STRICT_DEFAULTS, strictProfile } from "../../engine/matching/terms.ts";
import { decimal, formatDecimal } from "../../money/decimal.ts";
import type { ElsewhereListener } from "../../store/ports/trading.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import type { Store } from "../../store/store.ts";
import { Shadows } from "../shadows/shadows.ts";
import { Triggers } from "../triggers.ts";
import { StubMarket } from "./stub-market.ts";

/** When a test begins, market time, Unix ms. */
export const START = 1_000_000;

/** Iterations of the event loop without a commit in flight after which all work is done. */
const QUIET_TURNS = 10;

let directory: string;
/** Shared by all processes of a test, since they share strategies. */
let lastClientId = 0;
const opened: (() => Promise<void> | void)[] = [];

/** Makes every test of the file begin with an empty database and close what it opened. */
export function cleanFixtures(): void {
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "lyrebird-triggers-"));
  });
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
    rmSync(directory, { recursive: true });
  });
}

type FixtureOptions = {
  readonly strategies?: readonly string[];
  readonly type?: StrategyType;
  /** Under `standard` where absent. Commands have no latency unless it is given. */
  readonly strict?: Partial<StrictTerms>;
  /** The name of the database, for a test that needs several. */
  readonly file?: string;
  /** Whether orders under `strict` have shadows. */
  readonly hasShadows?: boolean;
};

/**
 * A trigger engine on a new database; every spot strategy has 200 USDT, less 20 for the 0.2 BTC that its
 * order 1 bought, every futures strategy 1,000 USDT and nothing else. Under `strict` none has bought
 * anything.
 */
export async function createFixture({
  strategies = ["one"],
  type = "SPOT",
  strict,
  file,
  hasShadows,
}: FixtureOptions = {}) {
  const store = await openSqliteStore(join(directory, file ?? "lyrebird.sqlite"));
  opened.push(() => store.close());
  const profile = strict && strictProfile(type, { ...STRICT_DEFAULTS, latency: 0, ...strict });
  await createStrategies(store, strategies, type, profile ?? STANDARD[type]);
  const started = startOn(store, createManualTime(START), type, hasShadows);
  if (type === "SPOT" && strict === undefined) {
    await Promise.all(strategies.map((id) => started.place(id, "BUY", "100", { quantity: "0.2" })));
  }
  return { store, ...started };
}

/** The same for an existing database, as a process that starts on it; `time` goes on. */
export function startOn(
  store: Store,
  time: ManualTime,
  type: StrategyType = "SPOT",
  hasShadows: boolean | undefined = false,
) {
  const market = new StubMarket(time.now, type);
  const storage = new Storage(store);
  const log = pino({ level: "silent" });
  const onStoreFailure = (failure: Error) => {
    throw failure;
  };
  const desk: Desk = new Desk({
    store: storage.store,
    markets: { SPOT: market, FUTURES: market },
    onStoreFailure,
    aheadOf: (strategyId, orderId) => triggers.aheadOf(strategyId, orderId),
    ...(hasShadows && { onSent: (...sent: Parameters<OnSent>) => shadows.sent(...sent) }),
    timers: time,
    log,
  });
  const shadows: Shadows = new Shadows({
    type,
    desk,
    store: storage.store,
    market,
    timers: time,
    log,
  });
  const triggers: Triggers = new Triggers({
    type,
    desk,
    store: storage.triggerStore,
    market,
    timers: time,
    log,
  });
  opened.push(async () => {
    await shadows.close();
    await triggers.close();
  });
  return {
    time,
    market,
    storage,
    desk,
    triggers,
    shadows,
    /** Places an order for 0.1 BTC by default, at a limit, a stop or both, and returns it. */
    async place(strategyId: string, side: Side, limit: string | null, terms: Terms = {}): Promise<Order> {
      lastClientId += 1;
      const outcome = await desk.execute(strategyId, commandOf(side, limit, terms, `c${lastClientId}`));
      const [order] = executed(outcome).orders;
      if (order === undefined) throw new Error("a placement answers with its order");
      return order;
    },
    /** Resolves when all work started so far is done. */
    async settled(): Promise<void> {
      for (let turns = 0; turns < QUIET_TURNS; turns += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        if (storage.isBusy) turns = 0;
      }
    },
    /** The status of an order, as it is stored. */
    async statusOf(strategyId: string, orderId: number): Promise<string | undefined> {
      return (await store.findOrder(strategyId, { orderId }))?.status;
    },
    /** The fills of an order: price, quantity and whether as maker. */
    async fillsOf(strategyId: string, orderId: number) {
      const trades = await store.listTrades(strategyId, { symbol: "BTCUSDT", orderId, limit: 10 });
      return trades.map(({ price, quantity, isMaker }) => [
        formatDecimal(price),
        formatDecimal(quantity),
        isMaker,
      ]);
    },
  };
}

export type Terms = {
  readonly symbol?: string;
  readonly quantity?: string;
  readonly stop?: string;
  /** The attached legs of a futures order. */
  readonly stopLoss?: string;
  readonly takeProfit?: string;
};

function commandOf(side: Side, limit: string | null, terms: Terms, clientOrderId: string): PlaceOrder {
  const { symbol = "BTCUSDT", quantity = "0.1", stop = null } = terms;
  const isLimit = limit !== null;
  const isStop = stop !== null;
  return {
    type: "PlaceOrder",
    symbol,
    side,
    orderType: isStop ? (isLimit ? "STOP_LOSS_LIMIT" : "STOP_LOSS") : isLimit ? "LIMIT" : "MARKET",
    size: { quantity: decimal(quantity) },
    price: isLimit ? decimal(limit) : null,
    stopPrice: isStop ? decimal(stop) : null,
    clientOrderId,
    entry: { reduceOnly: false, leverage: null, attached: attachedOf(terms) },
  };
}

function attachedOf({ stopLoss, takeProfit }: Terms): AttachedLegs | null {
  if (stopLoss === undefined && takeProfit === undefined) return null;
  return {
    stopLossPrice: stopLoss === undefined ? null : decimal(stopLoss),
    takeProfitPrice: takeProfit === undefined ? null : decimal(takeProfit),
  };
}

/** A store that can hold the next commit, knows whether one is in flight, and fails on demand. */
class Storage {
  readonly store: Store;
  /** The same store for a trigger engine: its loads can be held without the desk's. */
  readonly triggerStore: Store;
  /** Announces commits of other processes; ignored until a listener subscribes. */
  elsewhere: ElsewhereListener = { committed() {}, lost() {}, resumed() {} };
  /** The slots of every load of slots by the trigger engine, in order; undefined for all. */
  readonly loadedSlots: (ReadonlySet<number> | undefined)[] = [];
  /** How many of the next loads fail. */
  failingLoads = 0;
  /** Whether the next writes of coverage fail. */
  failsToNote = false;
  /** Every write of coverage waits for this. */
  noteDelay: () => Promise<void> = async () => {};
  #underWay = 0;
  #held: Hold | null = null;
  #heldLoad: Hold | null = null;

  constructor(store: Store) {
    this.store = {
      ...store,
      commit: (group) =>
        this.#write(async () => {
          await this.#passage();
          return await store.commit(group);
        }),
      loadAccount: async (strategyId) => {
        this.#failIfTold();
        return await store.loadAccount(strategyId);
      },
      onCommittedElsewhere: async (listener) => {
        this.elsewhere = listener;
        return async () => {
          this.elsewhere = { committed() {}, lost() {}, resumed() {} };
        };
      },
      noteHeard: async (heard) => {
        if (this.failsToNote) throw new Error("the disk is full");
        await this.#write(async () => {
          await this.noteDelay();
          await store.noteHeard(heard);
        });
      },
      noteQueues: (notes) => this.#write(() => this.#noted(() => store.noteQueues(notes))),
      forgetQueues: (orders) => this.#write(() => this.#noted(() => store.forgetQueues(orders))),
      storeCounterfactuals: (rows) => this.#write(() => this.#noted(() => store.storeCounterfactuals(rows))),
      noteFunding: (symbol, until) => this.#write(() => store.noteFunding(symbol, until)),
    };
    this.triggerStore = {
      ...this.store,
      loadAccount: (strategyId) => this.#load(() => store.loadAccount(strategyId)),
      listExposedAccounts: (type, slots) => {
        this.loadedSlots.push(slots);
        return this.#load(() => store.listExposedAccounts(type, slots));
      },
    };
  }

  get isBusy(): boolean {
    return this.#underWay > 0;
  }

  hold(): Held {
    const hold = newHold();
    this.#held = hold;
    return heldBy(hold);
  }

  /** Holds the next load after it has read the rows. */
  holdLoad(): Held {
    const hold = newHold();
    this.#heldLoad = hold;
    return heldBy(hold);
  }

  async #write<Written>(write: () => Promise<Written>): Promise<Written> {
    this.#underWay += 1;
    try {
      return await write();
    } finally {
      this.#underWay -= 1;
    }
  }

  async #noted(write: () => Promise<void>): Promise<void> {
    if (this.failsToNote) throw new Error("the disk is full");
    await write();
  }

  async #passage(): Promise<void> {
    const held = this.#held;
    this.#held = null;
    held?.reached.resolve();
    await held?.gate.promise;
  }

  async #load<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
    const held = this.#heldLoad;
    this.#heldLoad = null;
    this.#failIfTold();
    const loaded = await load();
    held?.reached.resolve();
    await held?.gate.promise;
    return loaded;
  }

  #failIfTold(): void {
    if (this.failingLoads === 0) return;
    this.failingLoads -= 1;
    throw new Error("the database is out of reach");
  }
}

type Hold = { readonly reached: PromiseWithResolvers<void>; readonly gate: PromiseWithResolvers<void> };
type Held = { readonly reached: Promise<void>; release(): void };

function newHold(): Hold {
  return { reached: Promise.withResolvers<void>(), gate: Promise.withResolvers<void>() };
}

function heldBy({ reached, gate }: Hold): Held {
  return { reached: reached.promise, release: () => gate.resolve() };
}
