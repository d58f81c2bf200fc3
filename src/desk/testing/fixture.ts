// A desk between a real database and a market that the test controls. Several may share one database, as
// processes do.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach } from "vitest";
import type { CancelOrder, Command, PlaceOrder } from "../../domain/command.ts";
import type { FillProfile } from "../../domain/fill-profile.ts";
import type { BookView, Quote } from "../../domain/market.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { contractRules } from "../../engine/testing/contract-rules.ts";
import { unfilteredRules } from "../../engine/testing/market-stub.ts";
import { decimal, formatDecimal, type Price } from "../../money/decimal.ts";
import type { Commit } from "../../store/ports/trading.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import type { Store, StoreFailure } from "../../store/store.ts";
import { type Announcement, Desk, type DeskMarket, type Executed } from "../desk.ts";
import { createStrategies } from "./strategies.ts";

let directory: string;
const opened: Store[] = [];

/** Makes every test of the file begin with an empty database and close what it opened. */
export function cleanFixtures(): void {
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "lyrebird-desk-"));
  });
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
    rmSync(directory, { recursive: true });
  });
}

/** A market at 99 to 100 by default. */
export class StubMarket implements DeskMarket {
  readonly #quotes = new Map<string, Quote>();
  readonly #lastPrices = new Map<string, Price>();
  #sequence = 0;

  constructor() {
    this.show("BTCUSDT", "99", "100");
  }

  show(symbol: string, bid: string, ask: string): void {
    this.#sequence += 1;
    this.#quotes.set(symbol, { bid: decimal(bid), ask: decimal(ask) });
  }

  silence(symbol: string): void {
    this.#quotes.delete(symbol);
  }

  trade(symbol: string, price: string): void {
    this.#lastPrices.set(symbol, decimal(price));
  }

  rules(symbol: string): SymbolRules {
    return unfilteredRules(symbol);
  }

  lastPrice(symbol: string): Price | null {
    return this.#lastPrices.get(symbol) ?? null;
  }

  averagePrice(): null {
    return null;
  }

  markPrice(): Price | null {
    return null;
  }

  book(_symbol: string): BookView | null {
    return null;
  }

  untradable(): null {
    return null;
  }

  delisted(): null {
    return null;
  }

  quote(symbol: string): Quote | null {
    return this.#quotes.get(symbol) ?? null;
  }

  now(): number {
    return 1_000;
  }

  sequence(): number {
    return this.#sequence;
  }

  prepare(_symbol: string): Promise<void> | undefined {
    return undefined;
  }

  prepareBook(_symbol: string): Promise<void> | undefined {
    return undefined;
  }
}

/** A market of contracts, marked at 100. */
export class ContractMarket extends StubMarket {
  override rules(symbol: string): SymbolRules {
    return contractRules(symbol.replace(/USDT$/, ""));
  }

  override markPrice(): Price {
    return decimal("100");
  }
}

type Storage = {
  /** Called before a group reaches the store. */
  beforeCommit(): Promise<void>;
  /** How many groups from now on find the database taken by another process. */
  busyCommits: number;
  /** Little of the disk is free. */
  isShort: boolean;
};

type FixtureOptions = {
  readonly market?: StubMarket;
  /** Those of futures, whose market is one of contracts then, are added to these. */
  readonly strategies?: readonly string[];
  readonly futures?: readonly string[];
  readonly contracts?: ContractMarket;
  /** That of the spot strategies; `standard` by default. */
  readonly profile?: FillProfile;
  readonly parts?: Parts;
};

type Parts = Partial<Pick<ConstructorParameters<typeof Desk>[0], "timers" | "marketSpeed" | "aheadOf">>;

/** A desk on a new database, with strategies: of spot, with 200 USDT each, and of futures with 1,000. */
export async function createFixture(options: FixtureOptions = {}) {
  const file = join(directory, "lyrebird.sqlite");
  const store = await open(file);
  await createStrategies(store, options.strategies ?? ["one"], "SPOT", options.profile);
  await createStrategies(store, options.futures ?? [], "FUTURES");
  return { file, ...(await deskOn(file, store, options.market, options.contracts, options.parts)) };
}

/** A desk on a database, with what it committed and what it announced. */
export async function deskOn(
  file: string,
  given?: Store,
  market = new StubMarket(),
  contracts = new ContractMarket(),
  parts: Parts = {},
) {
  const store = given ?? (await open(file));
  const groups: (readonly Commit[])[] = [];
  const storage: Storage = { beforeCommit: () => Promise.resolve(), busyCommits: 0, isShort: false };
  const loads = { count: 0 };
  const watched: Store = {
    ...store,
    loadAccount(strategyId) {
      loads.count += 1;
      return store.loadAccount(strategyId);
    },
    async commit(group) {
      groups.push(group);
      await storage.beforeCommit();
      if (storage.busyCommits > 0) {
        storage.busyCommits -= 1;
        return group.map(() => "BUSY");
      }
      return await store.commit(group);
    },
  };
  const failures: StoreFailure[] = [];
  const onStoreFailure = (failure: StoreFailure) => failures.push(failure);
  const desk = new Desk({
    store: watched,
    markets: { SPOT: market, FUTURES: contracts },
    onStoreFailure,
    isShortOfSpace: () => storage.isShort,
    ...parts,
    log: pino({ level: "silent" }),
  });
  const announced: Announcement[] = [];
  desk.onCommitted((announcement) => announced.push(announcement));
  return { desk, store, groups, loads, storage, announced, failures };
}

export async function open(file: string): Promise<Store> {
  const store = await openSqliteStore(file);
  opened.push(store);
  return store;
}

/** A purchase of 0.1 BTC, at a limit or at the market. */
export function buy(price: string, clientOrderId: string): PlaceOrder {
  return {
    type: "PlaceOrder",
    symbol: "BTCUSDT",
    side: "BUY",
    orderType: price === "market" ? "MARKET" : "LIMIT",
    size: { quantity: decimal("0.1") },
    stopPrice: null,
    price: price === "market" ? null : decimal(price),
    clientOrderId,
  };
}

export function cancel(orderId: number): CancelOrder & Command {
  return { type: "CancelOrder", orderId };
}

export function executed(outcome: Executed | Refusal): Executed {
  if (isRefusal(outcome)) throw new Error(`expected an execution, not ${outcome.refusal}`);
  return outcome;
}

export async function fundsOf(store: Store, strategyId: string) {
  const ledgerAccounts = (await store.loadAccount(strategyId))?.account.balances.get("USDT");
  return (
    ledgerAccounts && {
      free: formatDecimal(ledgerAccounts.free),
      locked: formatDecimal(ledgerAccounts.locked),
    }
  );
}

export function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}
