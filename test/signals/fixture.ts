// Two processes on one database with strategies of their own, a market that the test controls, and the
// answers to bots, which must never contradict each other. `finish` completes everything and checks the
// invariants.
import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { createManualTime } from "../../src/concurrency/testing/manual-time.ts";
import { createStrategies } from "../../src/desk/testing/strategies.ts";
import { isOpen, type Order } from "../../src/domain/order.ts";
import type { Signal } from "../../src/domain/signal.ts";
import { decimal } from "../../src/money/decimal.ts";
import { isTerminal } from "../../src/signals/signals.ts";
import { SWEEP_MS } from "../../src/signals/sweep.ts";
import { encodeOrder } from "../../src/store/codec.ts";
import type { Store } from "../../src/store/store.ts";
import { StubMarket } from "../../src/triggers/testing/stub-market.ts";
import { faultsOf } from "../campaigns/fire/audit.ts";
import { journalFaults } from "../campaigns/harness/journal.ts";
import { type Counts, count } from "../campaigns/walk/counts.ts";
import { checkAccount } from "../campaigns/walk/invariants.ts";
import { Process, type Turns } from "./process.ts";

export const SYMBOL = "BTCUSDT";
/** Number of strategies of a fixture; actions name them by index. */
const STRATEGIES = 2;

/** Every signal is terminal this long after the market has come back, ms. Source: specification 3.1. */
const OVER_MS_MAX = 120_000;
const START = 1_000_000;
/** Iterations of the event loop without a database call after which all work is done. */
const QUIET_TURNS = 4;
/** Iterations after which a database that is still busy never becomes idle: some seconds of them. */
const LOOKS_MAX = 1_000_000;
/** Number of waits for an idle database before the work in flight counts as endless. */
const WAITS_MAX = 1_000;
/** Orders that no signal placed. */
const NOT_OF_SIGNALS = /^(plain-|close#)/;

type FixtureParts = {
  /** Of one database, each of which a process uses; they may have been used before. */
  readonly stores: readonly Store[];
  readonly turns: Turns;
  readonly counts: Counts;
};

export class Fixture {
  readonly time = createManualTime(START);
  readonly market = new StubMarket(this.time.now);
  readonly processes: Process[];
  /** Strategies whose key is known to be revoked. */
  readonly revoked = new Set<string>();
  /** How often what happened, so that a test that never came to its point fails. */
  readonly counts: Counts;
  readonly #stores: readonly Store[];
  readonly #turns: Turns;
  /** All running work, until it is done or its process has died. */
  readonly #underWay = new Set<Promise<void>>();
  readonly #told = new Map<string, Signal>();
  readonly #orders = new Map<string, Order>();
  /** The strategies' ids. */
  readonly #ids: readonly string[];
  /** The bodies that were sent, by strategy and key. */
  readonly #sent = new Map<string, Map<string, string>>();
  /** Processes that take no step, by number, and the release of each. */
  readonly #stalled = new Map<number, PromiseWithResolvers<void>>();
  #isFree = false;
  #failure: unknown = null;
  #plain = 0;

  private constructor({ stores, turns, ids, counts }: FixtureParts & { readonly ids: readonly string[] }) {
    this.#stores = stores;
    this.#ids = ids;
    this.counts = counts;
    this.#turns = turns;
    this.processes = stores.map((_, index) => this.#newProcess(index));
  }

  /** With new strategies. */
  static async open(parts: FixtureParts): Promise<Fixture> {
    const ids = Array.from({ length: STRATEGIES }, () => randomUUID());
    const [store] = parts.stores;
    if (store === undefined) throw new Error("there is a store");
    await createStrategies(store, ids);
    return new Fixture({ ...parts, ids });
  }

  /** The id of a strategy by its number. */
  strategy(index: number): string {
    const id = this.#ids[index];
    if (id === undefined) throw new Error(`there is no strategy ${index}`);
    return id;
  }

  process(index: number): Process {
    const process = this.processes[index];
    if (process === undefined) throw new Error(`there is no process ${index}`);
    return process;
  }

  /** Begins work at a process, which runs beside other work. */
  begin(index: number, work: (process: Process) => Promise<void>): void {
    const process = this.process(index);
    const done = Promise.race([work(process), process.died]).catch((error) => {
      this.#failure ??= error;
    });
    const noted = done.then(() => void this.#underWay.delete(noted));
    this.#underWay.add(noted);
  }

  /** Submits as a request does that is admitted: its key is looked up first. */
  submit(index: number, strategy: string, idempotencyKey: string, body: string): void {
    const mustBeRefused = this.revoked.has(strategy);
    const sent = this.#sent.get(strategy) ?? new Map<string, string>();
    this.#sent.set(strategy, sent.set(idempotencyKey, body));
    this.begin(index, async ({ store, signals }) => {
      const bound = await store.findKey(`key-${strategy}`);
      if (bound === null || bound.key.revokedAt !== null || bound.strategy === null) {
        count(this.counts, "key refused");
        return;
      }
      if (mustBeRefused)
        throw new Error(`a key that was revoked is refused at the next request: ${strategy}`);
      const admittedAt = this.time.now();
      const signed = { signature: randomUUID(), expiresAt: admittedAt };
      const told = await signals.submit(bound.strategy, { idempotencyKey, body, admittedAt, signed });
      count(this.counts, "signal" in told ? `told ${told.signal.state.status}` : told.refused);
      if ("signal" in told) this.#take(told.signal, strategy, idempotencyKey, body, told.replayed);
      else if (told.refused === "OTHER_ORDER") await this.#checkOther(strategy, idempotencyKey, body);
      else if (told.refused === "MALFORMED") throw new Error(`every body here can be read: ${body}`);
    });
  }

  /** Places an order without a signal. */
  place(index: number, strategy: string, price: string): void {
    this.#plain += 1;
    const clientOrderId = `plain-${this.#plain}`;
    this.begin(index, async ({ desk }) => {
      await desk.execute(strategy, {
        type: "PlaceOrder",
        ...{ symbol: SYMBOL, side: "BUY", orderType: "LIMIT", size: { quantity: decimal("0.1") } },
        ...{ price: decimal(price), stopPrice: null, clientOrderId },
      });
    });
  }

  /** The orders of a strategy that were last seen open, in the order of their ids. */
  open(strategy: string): Order[] {
    return [...this.#orders]
      .filter(([name, order]) => name.startsWith(`${strategy} `) && isOpen(order))
      .map(([, order]) => order)
      .sort((one, other) => one.orderId - other.orderId);
  }

  /** Has a process take no step from now on, or go on: it does other work, or its machine does. */
  stall(index: number): void {
    if (!this.#stalled.has(index)) this.#stalled.set(index, Promise.withResolvers());
  }

  goOn(index: number): void {
    this.#stalled.get(index)?.resolve();
    this.#stalled.delete(index);
  }

  /** Kills a process and starts another in its place. */
  replace(index: number): void {
    this.process(index).kill();
    this.processes[index] = this.#newProcess(index);
  }

  /** Whether something is on its way in a database. */
  async quiet(): Promise<void> {
    let looks = 0;
    for (let turns = 0; turns < QUIET_TURNS; turns += 1) {
      await setImmediate();
      looks += 1;
      if (this.processes.some(({ isBusy }) => isBusy)) turns = 0;
      if (looks > LOOKS_MAX) throw new Error("a database is quiet at some time");
    }
    if (this.#failure !== null) throw this.#failure;
  }

  /** From now on steps run freely; all work completes, the market is back, and everything is checked. */
  async finish(takeAll: () => Promise<void>): Promise<void> {
    this.#isFree = true;
    for (const index of this.processes.keys()) this.goOn(index);
    await takeAll();
    await this.#settle();
    this.market.show(SYMBOL, "99", "100");
    this.market.halted.clear();
    const recoveredAt = this.time.now();
    while ((await this.#pending()).length > 0) {
      if (this.time.now() - recoveredAt > OVER_MS_MAX) {
        throw new Error(
          `a signal is over two minutes after the market is back: ${show((await this.#pending())[0])}`,
        );
      }
      this.time.advance(SWEEP_MS);
      count(this.counts, "swept in the end");
      for (const index of this.processes.keys()) this.begin(index, ({ sweep }) => sweep.run());
      await this.#settle();
    }
    for (const strategy of this.#ids) await this.#check(strategy);
  }

  async close(): Promise<void> {
    for (const process of this.processes) process.kill();
    await this.quiet();
  }

  #newProcess(index: number): Process {
    const store = this.#stores[index];
    if (store === undefined) throw new Error(`there is no store ${index}`);
    const { market, time } = this;
    const turns: Turns = {
      take: async (label) => {
        await this.#stalled.get(index)?.promise;
        if (!this.#isFree) await this.#turns.take(label);
      },
    };
    const process = new Process({ name: `process ${index}`, store, market, time, turns });
    process.desk.onCommitted(({ strategyId, orders }) => {
      for (const order of orders) this.#orders.set(`${strategyId} ${order.orderId}`, order);
    });
    return process;
  }

  async #settle(): Promise<void> {
    for (let waits = 0; this.#underWay.size > 0; waits += 1) {
      if (waits > WAITS_MAX) throw new Error("what was begun comes to its end");
      await this.quiet();
    }
    await this.quiet();
  }

  /** Compares an answer to a bot with all earlier ones. */
  #take(signal: Signal, strategy: string, key: string, body: string, replayed: boolean): void {
    const before = this.#told.get(`${strategy} ${key}`);
    const text = `${show(before)}, then ${show(signal)}`;
    if (signal.idempotencyKey !== key || signal.strategyId !== strategy)
      throw new Error(`an answer is to the key that was asked for: ${text}`);
    if (before !== undefined && before.signalId !== signal.signalId)
      throw new Error(`one key is one signal: ${text}`);
    if (JSON.stringify(JSON.parse(body)) !== JSON.stringify(JSON.parse(signal.body)))
      throw new Error(`another order is not taken under a key: ${body}, ${text}`);
    if (replayed) count(this.counts, "replayed");
    if (replayed && !isTerminal(signal)) throw new Error(`only what is over is replayed: ${text}`);
    if (before === undefined || !isTerminal(before)) this.#told.set(`${strategy} ${key}`, signal);
    else if (isTerminal(signal) && !isDeepStrictEqual(before, signal))
      throw new Error(`a terminal state never changes: ${text}`);
  }

  async #checkOther(strategyId: string, idempotencyKey: string, body: string): Promise<void> {
    // A store may answer a whole event-loop iteration from one snapshot: the other process's write is seen in
    // the next.
    await setImmediate();
    const stored = await this.#anyStore().findSignal(strategyId, { idempotencyKey });
    if (stored === null || stored.body === body)
      throw new Error(`only another order is refused as one: ${body}, ${show(stored)}`);
  }

  async #pending(): Promise<readonly Signal[]> {
    const lists = this.#ids.map((strategy) => this.#anyStore().listSignals(strategy, { limit: 500 }));
    return (await Promise.all(lists)).flat().filter((signal) => !isTerminal(signal));
  }

  async #check(strategy: string): Promise<void> {
    const store = this.#anyStore();
    const signals = await store.listSignals(strategy, { limit: 500 });
    for (const signal of signals) {
      count(this.counts, `${signal.state.status} in the end`);
      const told = this.#told.get(`${strategy} ${signal.idempotencyKey}`);
      if (told !== undefined && isTerminal(told) && !isDeepStrictEqual(told, signal))
        throw new Error(`what was told is what is stored: ${show(told)}, ${show(signal)}`);
    }
    for (const [name, { signalId }] of this.#told) {
      if (name.startsWith(`${strategy} `) && !signals.some((signal) => signal.signalId === signalId))
        throw new Error(`what was acknowledged is there: ${name}`);
    }
    const loaded = await store.loadAccount(strategy);
    if (loaded === null) throw new Error("a strategy is there for ever");
    checkAccount(loaded.account, [this.market.rules(SYMBOL)]);
    const entries = await store.listEntries(strategy);
    const orders = (await store.listOrders(strategy, { symbol: SYMBOL, limit: 1_000 }))
      .filter(({ clientOrderId }) => !NOT_OF_SIGNALS.test(clientOrderId))
      .map(({ orderId, clientOrderId }) => ({ orderId, clientOrderId }));
    const sent = [...(this.#sent.get(strategy) ?? [])].map(
      ([key, body]) => [key, { key, body: JSON.parse(body), isHopeless: false, shown: null }] as const,
    );
    const faults = [
      ...faultsOf({ name: strategy, signals: new Map(sent) }, { signals, entries, orders }),
      ...(await journalFaults(store, strategy)),
    ];
    if (faults.length > 0) throw new Error(faults.map(({ kind, what }) => `${kind}: ${what}`).join("\n"));
  }

  #anyStore(): Store {
    const [store] = this.#stores;
    if (store === undefined) throw new Error("there is a store");
    return store;
  }
}

function show(signal: Signal | null | undefined): string {
  if (signal == null) return "nothing";
  const { state } = signal;
  if (state.status === "EXECUTED") return `${signal.signalId} EXECUTED ${encodeOrder(state.order)}`;
  return `${signal.signalId} ${JSON.stringify(state)}`;
}
