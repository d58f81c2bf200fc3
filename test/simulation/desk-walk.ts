// The walk through the desk and a real database: two desks on one, as two servers stand, and several strategies whose
// commands are drawn as in memory and sent side by side. Keys are used again, one after another and at once at both desks;
// desks end and begin anew. After every round what must always hold of an account is checked; now and then, and when a
// strategy has been closed, its journal is replayed and must give what is stored.
//
// The seed decides what is drawn. Which of two desks is faster is decided by the machine, so a seed is not one walk.
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { pino } from "pino";
import { Desk, type Executed } from "../../src/desk/desk.ts";
import { createStrategies } from "../../src/desk/testing/strategies.ts";
import type { Command } from "../../src/domain/command.ts";
import { isOpen } from "../../src/domain/order.ts";
import { isRefusal } from "../../src/domain/refusal.ts";
import { STANDARD_SPOT } from "../../src/engine/profiles.ts";
import { encodeEvents } from "../../src/store/codec.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../src/store/store.ts";
import { type Reached, WatchList, waitingOf } from "../../src/watch/watch-list.ts";
import { seededRandom } from "../support/random.ts";
import { checkAccount } from "./invariants.ts";
import { RandomMarket, SYMBOLS } from "./random-market.ts";
import { randomOrder } from "./random-orders.ts";
import { checkStored } from "./stored-books.ts";
import { type Counts, count, nameOf } from "./walk.ts";

const STRATEGIES = 6;
/** Commands that are under way at once. */
const ROUND = 12;
const REPLAY_EVERY_ROUNDS = 25;
const RESTART_EVERY_ROUNDS = 20;

export type DeskWalkReport = {
  readonly commands: number;
  /** Executed, replayed, commits decided again; refusals by name. */
  readonly outcomes: Readonly<Counts>;
};

type Counter = { readonly desk: Desk; readonly store: Store };
type Asked = { readonly strategyId: string; readonly command: Command; readonly key?: string };
/** What the desks have answered for a strategy: its executions in number, and what each key stands for. */
type Answers = { executions: number; readonly byKey: Map<string, string> };

/** Walks so many commands through two desks on a database in `directory`. Throws where something does not hold. */
export async function walkDesks(
  seed: number,
  commands: number,
  options: { readonly directory: string; readonly onProgress?: (done: number) => void },
): Promise<DeskWalkReport> {
  const walk = new DeskWalk(seededRandom(seed), join(options.directory, "desk-walk.sqlite"));
  try {
    await walk.open();
    while (walk.commands < commands) {
      await walk.takeRound();
      options.onProgress?.(walk.commands);
    }
    await walk.checkAll();
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new Error(`seed ${seed}, command ${walk.commands} at the desks: ${reason}`, { cause: error });
  } finally {
    await walk.close();
  }
  return { commands: walk.commands, outcomes: walk.outcomes };
}

class DeskWalk {
  commands = 0;
  readonly outcomes: Counts = {};
  readonly #random: () => number;
  readonly #file: string;
  readonly #counters: Counter[] = [];
  readonly #market: RandomMarket & { now(): number; mark(): number; prepare(): undefined };
  readonly #watchList = new WatchList();
  readonly #live: string[] = [];
  readonly #answers = new Map<string, Answers>();
  #reached: Reached[] = [];
  #rounds = 0;

  constructor(random: () => number, file: string) {
    this.#random = random;
    this.#file = file;
    const market = new RandomMarket(random, {
      quote: (symbol, quote) => this.#reached.push(...this.#watchList.takeAtQuote(symbol, quote)),
      trade: (symbol, price) => this.#reached.push(...this.#watchList.takeAtTrade(symbol, price)),
    });
    const desksOwn = { now: () => this.commands, mark: () => 0, prepare: () => undefined };
    this.#market = Object.assign(market, desksOwn);
  }

  async open(): Promise<void> {
    this.#counters.push(await this.#newCounter(), await this.#newCounter());
    await this.#fillUp();
  }

  /** Commands side by side, then a move of the market and all that it reaches, each at both desks. */
  async takeRound(): Promise<void> {
    this.#rounds += 1;
    await othersHaveBeenHeard();
    const drawn = await Promise.all(Array.from({ length: ROUND }, () => this.#draw()));
    await Promise.all(drawn.flat().map((asked) => this.#ask(this.#pick(this.#counters), asked)));
    for (const symbol of SYMBOLS) this.#market.move(symbol);
    const reached = this.#reached.splice(0);
    await Promise.all(
      reached.flatMap((each) => this.#counters.map((counter) => this.#ask(counter, commandOf(each)))),
    );
    await othersHaveBeenHeard();
    for (const { waiting } of reached) await this.#watchAgain(waiting.strategyId, waiting.orderId);

    for (const strategyId of [...this.#live]) await this.#check(strategyId);
    if (this.#rounds % REPLAY_EVERY_ROUNDS === 0) await this.checkAll();
    if (this.#rounds % RESTART_EVERY_ROUNDS === 0) await this.#restartOne();
    await this.#fillUp();
  }

  async checkAll(): Promise<void> {
    await othersHaveBeenHeard();
    for (const strategyId of this.#live) await this.#checkJournal(strategyId);
  }

  async close(): Promise<void> {
    for (const { desk, store } of this.#counters.splice(0)) {
      await desk.drain();
      await store.close();
    }
  }

  /** One command, or the same one twice, or one whose key has been used. */
  async #draw(): Promise<readonly Asked[]> {
    const strategyId = this.#pick(this.#live);
    const choice = this.#random();
    if (choice < 0.01) return [{ strategyId, command: { type: "CloseStrategy" } }];
    const symbol = this.#pick(SYMBOLS);
    if (choice < 0.03) return [{ strategyId, command: { type: "CancelOpenOrders", symbol } }];
    const account = (await this.#anyStore().loadAccount(strategyId))?.account;
    if (account === undefined) throw new Error(`a strategy that was made is there: ${strategyId}`);
    const open = [...account.openOrders.keys()];
    if (choice < 0.15 && open.length > 0)
      return [{ strategyId, command: { type: "CancelOrder", orderId: this.#pick(open) } }];

    const used = [...this.#answersOf(strategyId).byKey.keys()].filter((key) => key.startsWith("order:"));
    const isRepeat = used.length > 0 && this.#random() < 0.15;
    const key = isRepeat ? this.#pick(used) : `order:walk-${this.#random()}`;
    const clientOrderId = key.replace("order:", "");
    const middle = this.#market.middle(symbol);
    const command = randomOrder(this.#random, account, { symbol, middle, clientOrderId });
    const asked = { strategyId, command, key };
    return this.#random() < 0.1 ? [asked, asked, asked] : [asked];
  }

  async #ask({ desk }: Counter, { strategyId, command, key }: Asked): Promise<void> {
    this.commands += 1;
    const outcome = await desk.execute(strategyId, command, key === undefined ? {} : { key });
    if (isRefusal(outcome)) count(this.outcomes, nameOf(outcome));
    else this.#note(strategyId, outcome, key);
  }

  /** A key has one execution; every other answer to it is a replay of that one. */
  #note(strategyId: string, { events, replayed }: Executed, key?: string): void {
    count(this.outcomes, replayed ? "replayed" : "executed");
    const answers = this.#answersOf(strategyId);
    if (!replayed && events.length > 0) answers.executions += 1;
    if (key === undefined) return;
    const text = encodeEvents(events);
    const earlier = answers.byKey.get(key);
    if (earlier !== undefined && earlier !== text)
      throw new Error(`one key, one execution: ${key} of ${strategyId} is ${earlier} and ${text}`);
    answers.byKey.set(key, text);
  }

  /** An order that was reached and is still open waits again. */
  async #watchAgain(strategyId: string, orderId: number): Promise<void> {
    const order = await this.#anyStore().findOrder(strategyId, { orderId });
    if (order !== null && isOpen(order)) this.#watchList.add(waitingOf(strategyId, order));
  }

  async #check(strategyId: string): Promise<void> {
    const loaded = await this.#anyStore().loadAccount(strategyId);
    const answers = this.#answersOf(strategyId);
    if (loaded?.version !== 1 + answers.executions)
      throw new Error(
        `as many entries as executions: ${strategyId} has ${loaded?.version} and 1 + ${answers.executions}`,
      );
    checkAccount(
      loaded.account,
      SYMBOLS.flatMap((symbol) => this.#market.rules(symbol) ?? []),
    );
    if (loaded.account.status !== "CLOSED") return;
    await this.#checkJournal(strategyId);
    this.#live.splice(this.#live.indexOf(strategyId), 1);
    this.#answers.delete(strategyId);
  }

  async #checkJournal(strategyId: string): Promise<void> {
    const entries = await checkStored(this.#anyStore(), strategyId);
    const byKey = new Map(entries.map(({ key, events }) => [key, encodeEvents(events)]));
    for (const [key, answered] of this.#answersOf(strategyId).byKey) {
      if (byKey.get(key) !== answered) throw new Error(`what was answered is in the journal: ${key}`);
    }
  }

  /** Strategies that were closed make room for new ones. */
  async #fillUp(): Promise<void> {
    while (this.#live.length < STRATEGIES) {
      const strategyId = `walk-${this.commands}-${this.#live.length}`;
      await createStrategies(this.#anyStore(), [strategyId]);
      this.#live.push(strategyId);
    }
  }

  async #restartOne(): Promise<void> {
    const [first] = this.#counters.splice(0, 1);
    await first?.desk.drain();
    await first?.store.close();
    this.#counters.push(await this.#newCounter());
  }

  async #newCounter(): Promise<Counter> {
    const store = await openSqliteStore(this.#file);
    const watched: Store = {
      ...store,
      commit: async (group) => {
        const outcomes = await store.commit(group);
        for (const each of outcomes) if (each === "OUTDATED") count(this.outcomes, "decided again");
        return outcomes;
      },
    };
    const desk = new Desk({
      store: watched,
      market: this.#market,
      profile: STANDARD_SPOT,
      // The execution rejects too, and ends the walk.
      onStoreFailure: () => {},
      log: pino({ level: "silent" }),
    });
    desk.onCommitted(({ strategyId, orders }) => {
      for (const order of orders) {
        this.#watchList.remove(order.symbol, strategyId, order.orderId);
        if (isOpen(order)) this.#watchList.add(waitingOf(strategyId, order));
      }
    });
    return { desk, store };
  }

  #answersOf(strategyId: string): Answers {
    const answers = this.#answers.get(strategyId) ?? { executions: 0, byKey: new Map() };
    this.#answers.set(strategyId, answers);
    return answers;
  }

  /** Either of them: they are of one database. */
  #anyStore(): Store {
    return this.#pick(this.#counters).store;
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.#random() * choices.length)] as T;
  }
}

/** A store may answer a whole turn of the event loop from one snapshot: what the other one wrote is seen in the next. */
async function othersHaveBeenHeard(): Promise<void> {
  await setImmediate();
}

/** As the watcher does it. */
function commandOf({ waiting, seen }: Reached): Asked {
  const { strategyId, orderId, waitsFor } = waiting;
  return waitsFor === "TRADE_FALLS" || waitsFor === "TRADE_RISES"
    ? { strategyId, command: { type: "TriggerStop", orderId, seen }, key: `trigger:${orderId}` }
    : { strategyId, command: { type: "FillRestingOrder", orderId, seen }, key: `fill:${orderId}` };
}
