// The random walk through the desk and a real database: two desks on one database, like two servers, and
// several strategies of both types and both profiles. Commands are drawn as in memory and sent concurrently;
// keys are reused, one after another and at both desks at once; desks restart. After each round the
// invariants of each account are checked. Sometimes, and after a strategy was closed, its journal is replayed
// and must equal what is stored. The seed decides what is drawn. The machine decides which desk is faster, so
// a seed is not one walk.
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { pino } from "pino";
import { Desk, type Executed } from "../../../src/desk/desk.ts";
import { createStrategies } from "../../../src/desk/testing/strategies.ts";
import type { Account, StrategyType } from "../../../src/domain/account.ts";
import type { Command } from "../../../src/domain/command.ts";
import { fundingKey, legKey, placementKey } from "../../../src/domain/command.ts";
import type { Settlement } from "../../../src/domain/market.ts";
import { isRefusal } from "../../../src/domain/refusal.ts";
import { encodeEvents } from "../../../src/store/codec.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { seededRandom } from "../../support/random.ts";
import { happens, pick } from "./chance.ts";
import { type Counts, count, nameOf } from "./counts.ts";
import { Floor, ROUND_MS } from "./floor.ts";
import { checkAccount } from "./invariants.ts";
import { profileOf } from "./profiles.ts";
import { SETUPS } from "./setups.ts";
import { checkStored } from "./stored-books.ts";

/** Of each type; every other one is under `strict`. */
const STRATEGIES = 4;
/** Commands in flight at once. */
const ROUND = 12;
const REPLAY_EVERY_ROUNDS = 25;
const RESTART_EVERY_ROUNDS = 20;

export type DeskWalkReport = {
  readonly commands: number;
  /** Executed, replayed, commits decided again; refusals by name and events by type. */
  readonly outcomes: Readonly<Counts>;
};

type Counter = { readonly desk: Desk; readonly store: Store };
type Asked = { readonly strategyId: string; readonly command: Command; readonly key: string | null };
/** The desks' answers for a strategy: the number of its executions, and the answer of each key. */
type Answers = { executions: number; readonly byKey: Map<string, string> };

/**
 * Walks so many commands through two desks on a database in `directory`. Throws where something does not
 * hold.
 */
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
  readonly #floors: { readonly [Type in StrategyType]: Floor };
  readonly #live = new Map<string, Floor>();
  readonly #answers = new Map<string, Answers>();
  readonly #heard: Settlement[] = [];
  #rounds = 0;
  #made = 0;

  constructor(random: () => number, file: string) {
    this.#random = random;
    this.#file = file;
    this.#floors = {
      SPOT: new Floor(SETUPS.SPOT, random, () => this.#now),
      FUTURES: new Floor(SETUPS.FUTURES, random, () => this.#now),
    };
  }

  async open(): Promise<void> {
    this.#counters.push(await this.#newCounter(), await this.#newCounter());
    await this.#fillUp();
  }

  /** Commands side by side, then a move of the markets and all that they reach, each at both desks. */
  async takeRound(): Promise<void> {
    this.#rounds += 1;
    await othersHaveBeenHeard();
    const drawn = await Promise.all(Array.from({ length: ROUND }, () => this.#draw()));
    await Promise.all(drawn.flat().map((asked) => this.#ask(this.#any(this.#counters), asked)));
    await this.#settleFunding();
    await this.#watchAll();
    for (const floor of this.#floorsOpen()) floor.move();
    await this.#executeHits();
    // Positions opened by these fills are checked against the present mark prices.
    await this.#watchAll();
    for (const floor of this.#floorsOpen()) floor.seeMarks();
    await this.#executeHits();

    for (const strategyId of [...this.#live.keys()]) await this.#check(strategyId);
    if (this.#rounds % REPLAY_EVERY_ROUNDS === 0) await this.checkAll();
    if (this.#rounds % RESTART_EVERY_ROUNDS === 0) await this.#restartOne();
    await this.#fillUp();
  }

  async checkAll(): Promise<void> {
    await othersHaveBeenHeard();
    for (const [strategyId, floor] of this.#live) await this.#checkJournal(strategyId, floor);
  }

  async close(): Promise<void> {
    for (const { desk, store } of this.#counters.splice(0)) {
      await desk.drain();
      await store.close();
    }
  }

  get #now(): number {
    return this.#rounds * ROUND_MS;
  }

  /** What somebody asks for, at times three times at once, or under a client id that has been used. */
  async #draw(): Promise<readonly Asked[]> {
    const strategyId = this.#any([...this.#live.keys()]);
    const floor = this.#floorOf(strategyId);
    if (happens(this.#random, 0.01)) return [{ strategyId, command: { type: "CloseStrategy" }, key: null }];
    const account = await this.#load(strategyId);
    const used = [...this.#answersOf(strategyId).byKey.keys()].filter((key) => /^(order|algo):/.test(key));
    const again = happens(this.#random, 0.15) ? pick(this.#random, used) : undefined;
    const clientId = again?.replace(/^(order|algo):/, "") ?? `walk-${this.#random()}`;
    return floor.draw(account, clientId).flatMap((command) => {
      const asked = { strategyId, command, key: keyOf(command) };
      return asked.key !== null && happens(this.#random, 0.1) ? [asked, asked, asked] : [asked];
    });
  }

  async #ask({ desk }: Counter, { strategyId, command, key }: Asked): Promise<void> {
    this.commands += 1;
    const outcome = await desk.execute(strategyId, command, key === null ? {} : { key });
    if (isRefusal(outcome)) count(this.outcomes, nameOf(outcome));
    else this.#note(strategyId, outcome, key);
  }

  /** A key has one execution; every other answer to it is a replay of that one. */
  #note(strategyId: string, { events, replayed }: Executed, key: string | null): void {
    count(this.outcomes, replayed ? "replayed" : "executed");
    if (events.length === 0) return;
    const answers = this.#answersOf(strategyId);
    if (!replayed) {
      answers.executions += 1;
      for (const event of events) {
        count(this.outcomes, event.type);
        if (event.type !== "OrderFilled" || event.trade.receipt === undefined) continue;
        count(this.outcomes, `${event.type} ${event.trade.receipt.cause}`);
      }
    }
    if (key === null) return;
    const text = encodeEvents(events);
    const earlier = answers.byKey.get(key);
    if (earlier !== undefined && earlier !== text)
      throw new Error(`one key, one execution: ${key} of ${strategyId} is ${earlier} and ${text}`);
    answers.byKey.set(key, text);
  }

  /** Each settlement for every strategy at both desks, and now and then one of the past once more. */
  async #settleFunding(): Promise<void> {
    const floor = this.#floors.FUTURES;
    const settlements = [...floor.settlementsHeard()];
    const past = pick(this.#random, this.#heard);
    this.#heard.push(...settlements);
    if (past !== undefined && happens(this.#random, 0.2)) settlements.push(past);
    for (const settlement of settlements) {
      const key = fundingKey(settlement);
      const holders = [...this.#live].filter(([, each]) => each === floor);
      const asked = holders.map(([strategyId]) => ({
        strategyId,
        command: { type: "SettleFunding", settlement } as const,
        key,
      }));
      await this.#askBoth(asked);
    }
  }

  async #executeHits(): Promise<void> {
    for (const floor of this.#floorsOpen()) await this.#askBoth(floor.takeHits());
    await othersHaveBeenHeard();
  }

  async #askBoth(asked: readonly Asked[]): Promise<void> {
    await Promise.all(asked.flatMap((each) => this.#counters.map((counter) => this.#ask(counter, each))));
  }

  async #watchAll(): Promise<void> {
    await othersHaveBeenHeard();
    for (const [strategyId, floor] of this.#live) floor.follow(await this.#load(strategyId));
  }

  async #check(strategyId: string): Promise<void> {
    const loaded = await this.#anyStore().loadAccount(strategyId);
    const answers = this.#answersOf(strategyId);
    if (loaded?.version !== 1 + answers.executions)
      throw new Error(
        `as many entries as executions: ${strategyId} has ${loaded?.version} and 1 + ${answers.executions}`,
      );
    const floor = this.#floorOf(strategyId);
    checkAccount(loaded.account, floor.rules());
    floor.checkSurvivors(loaded.account);
    if (loaded.account.status !== "CLOSED") return;
    await this.#checkJournal(strategyId, floor);
    floor.follow(loaded.account);
    this.#live.delete(strategyId);
    this.#answers.delete(strategyId);
  }

  async #checkJournal(strategyId: string, { setup }: Floor): Promise<void> {
    const entries = await checkStored(this.#anyStore(), strategyId, setup);
    const byKey = new Map(entries.map(({ key, events }) => [key, encodeEvents(events)]));
    for (const [key, answered] of this.#answersOf(strategyId).byKey) {
      if (byKey.get(key) !== answered) throw new Error(`what was answered is in the journal: ${key}`);
    }
  }

  /** Strategies that were closed make room for new ones. */
  async #fillUp(): Promise<void> {
    for (const floor of this.#floorsOpen()) {
      const { type } = floor.setup;
      for (let there = this.#countOn(floor); there < STRATEGIES; there += 1) {
        const strategyId = `${type}-${this.commands}-${there}`;
        this.#made += 1;
        const name = this.#made % 2 === 0 ? "strict" : "standard";
        const profile = profileOf(floor.setup, name, this.#random);
        await createStrategies(this.#anyStore(), [strategyId], type, profile);
        this.#live.set(strategyId, floor);
      }
    }
  }

  #countOn(floor: Floor): number {
    return [...this.#live.values()].filter((each) => each === floor).length;
  }

  #floorsOpen(): readonly Floor[] {
    return Object.values(this.#floors);
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
      markets: { SPOT: this.#floors.SPOT.market, FUTURES: this.#floors.FUTURES.market },
      // The execution rejects too, and ends the walk.
      onStoreFailure: () => {},
      log: pino({ level: "silent" }),
    });
    return { desk, store };
  }

  #floorOf(strategyId: string): Floor {
    const floor = this.#live.get(strategyId);
    if (floor === undefined) throw new Error(`a strategy that is asked is there: ${strategyId}`);
    return floor;
  }

  async #load(strategyId: string): Promise<Account> {
    const loaded = await this.#anyStore().loadAccount(strategyId);
    if (loaded === null) throw new Error(`a strategy that was made is there: ${strategyId}`);
    return loaded.account;
  }

  #answersOf(strategyId: string): Answers {
    const answers = this.#answers.get(strategyId) ?? { executions: 0, byKey: new Map() };
    this.#answers.set(strategyId, answers);
    return answers;
  }

  /** Either of them: they are of one database. */
  #anyStore(): Store {
    return this.#any(this.#counters).store;
  }

  #any<T>(choices: readonly T[]): T {
    return pick(this.#random, choices) as T;
  }
}

/**
 * A store may answer a whole turn of the event loop from one snapshot: what the other one wrote is seen in
 * the next.
 */
async function othersHaveBeenHeard(): Promise<void> {
  await setImmediate();
}

/** The key of what a client places; nothing else that is asked for has one. */
function keyOf(command: Command): string | null {
  if (command.type === "PlaceOrder") return placementKey(command.clientOrderId);
  return command.type === "PlaceLeg" ? legKey(command.clientLegId) : null;
}
