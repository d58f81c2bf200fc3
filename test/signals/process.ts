// A server process reduced to signals: a store, a desk, signals and their sweep. Each call of its store takes
// two steps that a scheduler runs, one before the database call and one before its answer is delivered; so
// two processes interleave in every way. A dead process takes no further step: its last call may have been
// executed.
import { randomUUID } from "node:crypto";
import { pino } from "pino";
import type { PeriodicTask } from "../../src/concurrency/periodic-task.ts";
import type { ManualTime } from "../../src/concurrency/testing/manual-time.ts";
import { Desk } from "../../src/desk/desk.ts";
import { Signals } from "../../src/signals/signals.ts";
import { createSignalSweep } from "../../src/signals/sweep.ts";
import type { Store } from "../../src/store/store.ts";
import type { StubMarket } from "../../src/triggers/testing/stub-market.ts";

/** Makes a step wait for the scheduler. */
export type Turns = { take(label: string): Promise<void> };

/** The calls whose order matters. */
const STEPPED = [
  "commit",
  "findEntry",
  "findKey",
  "findOrder",
  "findSignal",
  "claimSignals",
  "loadAccount",
  "postponeSignal",
  "receiveSignals",
  "revokeKey",
] as const;

export class Process {
  readonly desk: Desk;
  readonly signals: Signals;
  readonly sweep: Pick<PeriodicTask, "run">;
  /** As this process sees it. */
  readonly store: Store;
  /** Resolves when the process dies. */
  readonly died: Promise<void>;
  readonly name: string;
  #die: () => void = () => {};
  #isDead = false;
  /** Calls of the database in flight. */
  #underWay = 0;

  constructor(parts: { name: string; store: Store; market: StubMarket; time: ManualTime; turns: Turns }) {
    const { name, market, time, turns } = parts;
    this.name = name;
    this.died = new Promise((resolve) => {
      this.#die = resolve;
    });
    this.store = this.#stepped(parts.store, turns);
    const log = pino({ level: "silent" });
    this.desk = new Desk({
      store: this.store,
      markets: { SPOT: market, FUTURES: market },
      onStoreFailure(failure) {
        throw failure;
      },
      log,
    });
    const wallNow = time.now;
    const { desk, store } = this;
    this.signals = new Signals({ desk, store, wallNow, newSignalId: randomUUID, log });
    // A sweep is an action like any other.
    const never = () => () => {};
    const { signals } = this;
    this.sweep = createSignalSweep({ signals, store, wallNow, every: never, after: never, log });
  }

  get isBusy(): boolean {
    return this.#underWay > 0;
  }

  /** kill -9. */
  kill(): void {
    this.#isDead = true;
    this.#die();
  }

  #stepped(store: Store, turns: Turns): Store {
    const stepped = STEPPED.map((name) => {
      const call = store[name] as Call;
      const asked = name === "revokeKey" ? oneAtATime(call) : call;
      return [name, (...args: readonly unknown[]) => this.#call(turns, name, () => asked(...args))] as const;
    });
    return { ...store, ...Object.fromEntries(stepped) };
  }

  async #call(turns: Turns, name: string, ask: () => Promise<unknown>): Promise<unknown> {
    await this.#step(turns, name);
    this.#underWay += 1;
    let answer: unknown;
    try {
      answer = await ask();
    } finally {
      this.#underWay -= 1;
    }
    await this.#step(turns, `${name} is heard`);
    return answer;
  }

  async #step(turns: Turns, what: string): Promise<void> {
    await turns.take(`${this.name}: ${what}`);
    if (this.#isDead) await NEVER;
  }
}

type Call = (...args: readonly unknown[]) => Promise<unknown>;

/** The call of this kind in flight, in whichever process. */
let underWay: Promise<unknown> = Promise.resolve();

/**
 * Of calls that have a transaction open on this very thread, where one that waits for another keeps it from
 * going on.
 */
function oneAtATime(call: Call): Call {
  return (...args) => {
    const done = underWay.then(() => call(...args));
    underWay = done.catch(() => {});
    return done;
  };
}

const NEVER = new Promise<never>(() => {});
