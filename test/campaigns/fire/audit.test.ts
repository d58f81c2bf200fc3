// The judge of the fire: the records of real signals, each time with one thing wrong.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { Signal } from "../../../src/domain/signal.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import { Fixture, SYMBOL } from "../../signals/fixture.ts";
import { faultsOf, type Records } from "./audit.ts";
import type { Sent, ShownSignal } from "./bot.ts";

const BOUGHT = { symbol: SYMBOL, tradeType: "BUY", quantity: "0.1" };
const TOO_DEAR = { ...BOUGHT, orderType: "LIMIT", quantity: "1000", price: "95" };

let sound: Records;
let executed: Signal;
let rejected: Signal;

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), "lyrebird-audit-"));
  const store = await openSqliteStore(join(directory, "lyrebird.sqlite"));
  const fixture = await Fixture.open({ stores: [store], turns: { take: async () => {} }, counts: {} });
  const strategyId = fixture.strategy(0);
  fixture.submit(0, strategyId, "bought", JSON.stringify(BOUGHT));
  fixture.submit(0, strategyId, "too dear", JSON.stringify(TOO_DEAR));
  await fixture.quiet();
  const signals = await store.listSignals(strategyId, { limit: 10 });
  const entries = await store.listEntries(strategyId);
  const orders = await store.listOrders(strategyId, { symbol: SYMBOL, limit: 10 });
  sound = { signals, entries, orders };
  executed = named("bought");
  rejected = named("too dear");
  await fixture.close();
  await store.close();
  rmSync(directory, { recursive: true });
});

test("correct records have no fault, whether or not a bot received an answer", () => {
  expect([executed.state.status, rejected.state.status]).toEqual(["EXECUTED", "REJECTED"]);
  expect(kindsOf(sound)).toEqual([]);
  expect(kindsOf(sound, { bought: shown(executed) })).toEqual([]);
});

describe("records are at fault", () => {
  test("an executed signal has no order, or two of them", () => {
    expect(kindsOf({ ...sound, orders: [] })).toEqual(["LOST"]);
    expect(kindsOf({ ...sound, orders: [...sound.orders, ...sound.orders] })).toEqual(["DOUBLED"]);
  });

  test("a rejected signal has an order", () => {
    const orders = [...sound.orders, { orderId: 2, clientOrderId: rejected.signalId }];
    expect(kindsOf({ ...sound, orders })).toEqual(["UNASKED"]);
  });

  test("an order is of no signal", () => {
    const orders = [...sound.orders, { orderId: 2, clientOrderId: "somebody" }];
    expect(kindsOf({ ...sound, orders })).toEqual(["UNASKED"]);
  });

  test("a signal that was acknowledged is gone, or is another one", () => {
    const told = { bought: shown(executed) };
    expect(kindsOf({ signals: [rejected], entries: sound.entries.slice(0, 1), orders: [] }, told)).toContain(
      "LOST",
    );
    expect(kindsOf(sound, { bought: { ...shown(executed), signalId: rejected.signalId } })).toContain("LOST");
  });

  test("one key is two signals", () => {
    expect(kindsOf({ ...sound, signals: [...sound.signals, rejected] })).toContain("DOUBLED");
  });

  test("nobody sent a signal", () => {
    expect(
      kindsOf({ ...sound, signals: [...sound.signals, { ...rejected, idempotencyKey: "new" }] }),
    ).toContain("UNASKED");
  });

  test("a bot received another final state than is stored", () => {
    const told = { ...shown(executed), status: "REJECTED" } as const;
    expect(kindsOf(sound, { bought: told })).toEqual(["CHANGED"]);
    const other = { ...shown(executed), processedAt: "2026-01-01T00:00:00.000Z" };
    expect(kindsOf(sound, { bought: other })).toEqual(["CHANGED"]);
  });

  test("the stored order is not the one that the journal's entry left", () => {
    const { state } = executed;
    if (state.status !== "EXECUTED") throw new Error("it was executed");
    const changed: Signal = { ...executed, state: { ...state, order: { ...state.order, status: "NEW" } } };
    expect(kindsOf({ ...sound, signals: [changed, rejected] })).toEqual(["CHANGED"]);
  });

  test("a signal ended without the journal, or twice in it, or under another key", () => {
    const [opened, ...ends] = sound.entries;
    if (opened === undefined) throw new Error("a journal begins with its strategy");
    expect(kindsOf({ ...sound, entries: [opened] })).toEqual(["JOURNAL", "JOURNAL"]);
    const rejection = ends.filter(({ events }) => events.some(({ type }) => type === "SignalRejected"));
    expect(kindsOf({ ...sound, entries: [...sound.entries, ...rejection] })).toEqual(["DOUBLED"]);
    const keyless = sound.entries.map((entry) => ({ ...entry, key: null }));
    expect(kindsOf({ ...sound, entries: keyless })).toEqual(["JOURNAL", "JOURNAL"]);
  });

  test("what nobody may take was taken", () => {
    expect(kindsOf(sound, {}, "bought")).toEqual(["UNASKED"]);
  });
});

/** The kinds of all faults, for a bot that received these answers for its signals. */
function kindsOf(records: Records, told: Readonly<Record<string, ShownSignal>> = {}, hopeless = "too dear") {
  const sent = [BOUGHT, TOO_DEAR].map((body, index): [string, Sent] => {
    const key = index === 0 ? "bought" : "too dear";
    return [key, { key, body, isHopeless: key === hopeless, shown: told[key] ?? null }];
  });
  return faultsOf({ name: "bot", signals: new Map(sent) }, records).map(({ kind }) => kind);
}

/** An executed signal as an answer shows it, limited to the fields that the audit compares. */
function shown({ signalId, receivedAt, state }: Signal): ShownSignal {
  if (state.status !== "EXECUTED") throw new Error("it was executed");
  const { orderId, status } = state.order;
  return {
    ...{ signalId, status: "EXECUTED", collectiveId: null, order: BOUGHT },
    result: { status: true, message: "", data: { orderId, clientOrderId: signalId, status } },
    receivedAt: new Date(receivedAt).toISOString(),
    processedAt: new Date(state.processedAt).toISOString(),
  };
}

function named(key: string): Signal {
  const signal = sound.signals.find(({ idempotencyKey }) => idempotencyKey === key);
  if (signal === undefined) throw new Error(`${key} was recorded`);
  return signal;
}
