import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { BudgetEntry } from "../store/ports/keys.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import type { Store } from "../store/store.ts";
import { BudgetLog, ENTRY_HOLDERS_MAX, ENTRY_USE_MS, WRITE_ENTRIES_MAX } from "./budget-log.ts";
import { BAN_MS, Budgets, WEIGHT_PER_MINUTE } from "./budgets.ts";

const MINUTE = 60_000;
/** A full minute by the clock. */
const T = 29_000_000 * MINUTE;
const read = (weight: number) => ({ weight, placesOrder: false });
const order = { weight: 1, placesOrder: true };

let now: number;
let directory: string;
let store: Store;
/** Opened by the case, to be closed after it. */
let closing: (() => Promise<void>)[];

beforeEach(async () => {
  now = T;
  directory = mkdtempSync(join(tmpdir(), "lyrebird-limits-"));
  closing = [];
  store = await openStore();
});
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  rmSync(directory, { recursive: true });
});

async function openStore(): Promise<Store> {
  const opened = await openSqliteStore(join(directory, "lyrebird.sqlite"));
  closing.push(() => opened.close());
  return opened;
}

type Process = {
  readonly budgets: Budgets;
  readonly log: BudgetLog;
  /** The timer's callback and interval in ms; null when it is stopped. */
  readonly timer: { intervalMs: number; callback: () => void } | null;
  readonly errors: readonly object[];
};

/** A process with a database connection of its own by default. */
async function startProcess(name: string, on?: Store): Promise<Process> {
  const budgets = new Budgets();
  const errors: object[] = [];
  let timer: Process["timer"] = null;
  const log = new BudgetLog({
    budgets,
    store: on ?? (await openStore()),
    process: name,
    wallNow: () => now,
    every(intervalMs, callback) {
      timer = { intervalMs, callback };
      return () => {
        timer = null;
      };
    },
    log: { error: (what: object) => void errors.push(what) },
  });
  await log.open();
  return {
    budgets,
    log,
    errors,
    get timer() {
      return timer;
    },
  };
}

async function entries(): Promise<BudgetEntry[]> {
  return (await store.listBudgets({ after: 0, exceptOf: "nobody", limit: 1_000 })).map(({ entry }) => entry);
}

function refuse({ budgets }: Process, times: number): (Promise<void> | null)[] {
  return Array.from({ length: times }, () => {
    const { refusal, banStored } = budgets.charge("key:a", now, read(1));
    expect(refusal?.refusal).toBe("WEIGHT_EXHAUSTED");
    return banStored;
  });
}

describe("charges", () => {
  test("of one process are known to the other after an exchange, and only once", async () => {
    const [one, other] = [await startProcess("one"), await startProcess("other")];
    one.budgets.charge("key:a", now, read(700));
    other.budgets.charge("key:a", now, order);
    for (let turns = 0; turns < 3; turns += 1) {
      await one.log.turn();
      await other.log.turn();
    }
    for (const { budgets } of [one, other]) {
      expect(budgets.usage("key:a", now)).toEqual({ weight: 701, orders10s: 1, orders1m: 1 });
    }
    expect(other.budgets.charge("key:a", now, read(500)).refusal?.refusal).toBe("WEIGHT_EXHAUSTED");
  });

  test("survive a restart, each in its own window", async () => {
    const former = await startProcess("former");
    former.budgets.charge("key:a", T + 9_999, order);
    former.budgets.charge("key:a", T + 10_000, order);
    former.budgets.chargeFailure("ip:192.0.2.7", T + 10_000);
    await former.log.close();
    now = T + 10_001;
    const { budgets } = await startProcess("next");
    expect(budgets.usage("key:a", now)).toEqual({ weight: 2, orders10s: 1, orders1m: 2 });
    expect(budgets.usage("key:a", T + 20_000)).toEqual({ weight: 2, orders10s: 0, orders1m: 2 });
    expect(budgets.usage("key:a", T + MINUTE)).toEqual({ weight: 0, orders10s: 0, orders1m: 0 });
    const failures = Array.from({ length: 1_200 }, () => budgets.chargeFailure("ip:192.0.2.7", now));
    expect(failures.filter((charged) => charged !== null)).toHaveLength(1);
  });

  test("are written and read twice a second by the timer, until it is closed", async () => {
    const process = await startProcess("one");
    expect(process.timer?.intervalMs).toBe(500);
    process.budgets.charge("key:a", now, read(1));
    process.timer?.callback();
    // `turn` waits for the write that the timer began.
    await process.log.turn();
    expect(await entries()).toHaveLength(1);
    await process.log.close();
    expect(process.timer).toBeNull();
  });

  test("that there are none of cost no write", async () => {
    const { budgets, log } = await startProcess("one");
    await log.turn();
    budgets.charge("key:a", now, read(1));
    await log.turn();
    await log.turn();
    await log.close();
    expect(await entries()).toMatchObject([{ process: "one", at: now, bans: [] }]);
  });

  test("of the last half second are written when the process closes", async () => {
    const { budgets, log } = await startProcess("one");
    budgets.charge("key:a", now, read(3));
    await log.close();
    expect((await entries()).map(({ charges }) => charges.map(({ weight }) => weight))).toEqual([[3]]);
  });

  test("of more holders than an entry takes go into the next ones", async () => {
    const { budgets, log } = await startProcess("one");
    const holders = ENTRY_HOLDERS_MAX * (WRITE_ENTRIES_MAX + 1) + 1;
    for (let count = 0; count < holders; count += 1) budgets.charge(`ip:${count}`, now, read(1));
    const sizes = async () => (await entries()).map(({ charges }) => charges.length);
    await log.turn();
    const first = Array(WRITE_ENTRIES_MAX).fill(ENTRY_HOLDERS_MAX);
    expect(await sizes()).toEqual(first);
    await log.close();
    expect(await sizes()).toEqual([...first, ENTRY_HOLDERS_MAX, 1]);
    // Another process reads all of it.
    const { budgets: reader } = await startProcess("other");
    const known = Array.from({ length: holders }, (_, count) => reader.usage(`ip:${count}`, now).weight);
    expect(new Set(known)).toEqual(new Set([1]));
  });

  test("that come while a write is under way are in it or in the next one, each once", async () => {
    let process: Process | null = null;
    // Another holder is charged whenever the store has taken an entry.
    let count = 0;
    const charging = function* (given: Iterable<BudgetEntry>) {
      for (const entry of given) {
        yield entry;
        if (count > 3) continue;
        count += 1;
        process?.budgets.charge(`late:${count}`, now, read(count));
        process?.budgets.charge("key:a", now, read(1));
      }
    };
    const on: Store = {
      ...store,
      logBudgets: (given, options) => store.logBudgets(charging(given), options),
    };
    process = await startProcess("one", on);
    process.budgets.charge("key:a", now, read(WEIGHT_PER_MINUTE));
    for (let turns = 0; turns < 3; turns += 1) await process.log.turn();
    await process.log.close();
    const logged = (await entries()).flatMap(({ charges }) => charges);
    const weightOf = (name: string) =>
      logged.filter(({ holder }) => holder === name).reduce((sum, { weight }) => sum + weight, 0);
    expect([1, 2, 3, 4].map((late) => weightOf(`late:${late}`))).toEqual([1, 2, 3, 4]);
    expect(weightOf("key:a")).toBe(WEIGHT_PER_MINUTE + 4);
  });

  test("are removed from the log when they have been of no use for long enough", async () => {
    const { budgets, log } = await startProcess("one");
    for (const at of [T, T + ENTRY_USE_MS, T + ENTRY_USE_MS + 1]) {
      now = at;
      budgets.charge("key:a", now, read(1));
      await log.turn();
    }
    expect((await entries()).map(({ at }) => at)).toEqual([T + ENTRY_USE_MS, T + ENTRY_USE_MS + 1]);
  });
});

describe("a ban", () => {
  test("is stored when its promise resolves, without waiting for the second's end", async () => {
    const process = await startProcess("one");
    process.budgets.charge("key:a", now, read(WEIGHT_PER_MINUTE));
    const promises = refuse(process, 10);
    expect(promises.slice(0, 9)).toEqual(Array(9).fill(null));
    await promises[9];
    expect((await entries()).flatMap(({ bans }) => bans)).toEqual([{ holder: "key:a", until: T + BAN_MS }]);
  });

  test("survives kill -9 with everything that led to it, for its two minutes and no longer", async () => {
    const killed = await startProcess("killed");
    killed.budgets.charge("key:a", now, read(WEIGHT_PER_MINUTE));
    await refuse(killed, 10).at(-1);
    now = T + BAN_MS - 1;
    const next = await startProcess("next");
    expect(next.budgets.ban("key:a", now)).toMatchObject({ refusal: { until: T + BAN_MS } });
    now = T + BAN_MS;
    expect(next.budgets.ban("key:a", now)).toBeNull();
    expect((await startProcess("last")).budgets.ban("key:a", now)).toBeNull();
  });

  test("that one process began holds in another after an exchange", async () => {
    const [one, other] = [await startProcess("one"), await startProcess("other")];
    one.budgets.charge("key:a", now, read(WEIGHT_PER_MINUTE));
    await refuse(one, 10).at(-1);
    await other.log.turn();
    expect(other.budgets.charge("key:a", now, read(1)).refusal).toEqual({
      refusal: "BANNED",
      until: T + BAN_MS,
    });
  });

  test("begins at the tenth 429 also if no process answered ten of them", async () => {
    const [one, other] = [await startProcess("one"), await startProcess("other")];
    one.budgets.charge("key:a", now, read(WEIGHT_PER_MINUTE));
    await one.log.turn();
    await other.log.turn();
    void refuse(one, 5);
    now = T + 2_000;
    void refuse(other, 4);
    now = T + 3_000;
    void refuse(other, 1);
    await other.log.turn();
    await one.log.turn();
    await other.log.turn();
    for (const { budgets } of [one, other]) {
      expect(budgets.ban("key:a", now)?.refusal).toEqual({ refusal: "BANNED", until: T + 3_000 + BAN_MS });
    }
  });
});

describe("a store that fails", () => {
  /** A store that refuses entries on demand. */
  function failing() {
    const state = { isFailing: true };
    const on: Store = {
      ...store,
      async logBudgets(given, options) {
        const taken = [...given];
        if (state.isFailing) throw new Error("the disk is full");
        await store.logBudgets(taken, options);
      },
    };
    return { state, on };
  }

  test("loses charges, says so, and leaves the budgets of the process as they are", async () => {
    const { state, on } = failing();
    const { budgets, log, errors } = await startProcess("one", on);
    budgets.charge("key:a", now, read(5));
    await log.turn();
    expect(errors).toMatchObject([{ err: { message: "the disk is full" }, holders: 1 }]);
    expect(budgets.usage("key:a", now).weight).toBe(5);
    state.isFailing = false;
    budgets.charge("key:a", now, read(2));
    await log.turn();
    expect((await entries()).flatMap(({ charges }) => charges.map(({ weight }) => weight))).toEqual([2]);
  });

  test("does not delay the answer that began a ban; the ban holds and is stored later", async () => {
    const { state, on } = failing();
    const process = await startProcess("one", on);
    process.budgets.charge("key:a", now, read(WEIGHT_PER_MINUTE));
    await refuse(process, 10).at(-1);
    expect(process.budgets.ban("key:a", now)).not.toBeNull();
    expect(await entries()).toEqual([]);
    state.isFailing = false;
    await process.log.turn();
    expect((await entries()).flatMap(({ bans }) => bans)).toEqual([{ holder: "key:a", until: T + BAN_MS }]);
  });

  test("does not stop the timer when it cannot be read", async () => {
    const { on } = failing();
    let isReadable = true;
    const { log, errors } = await startProcess("one", {
      ...on,
      listBudgets: (query) =>
        isReadable ? store.listBudgets(query) : Promise.reject(new Error("the disk is gone")),
    });
    isReadable = false;
    await log.turn();
    expect(errors).toMatchObject([{ err: { message: "the disk is gone" } }]);
  });
});
