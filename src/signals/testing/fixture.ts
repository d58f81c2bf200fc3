// Signals between a real database and a market, a clock and a timer that the test controls. Several may share
// one database, as processes do.
import { randomUUID } from "node:crypto";
import { createManualTime } from "../../concurrency/testing/manual-time.ts";
import { createFixture, deskOn, open, type StubMarket } from "../../desk/testing/fixture.ts";
import type { Signal } from "../../domain/signal.ts";
import type { Store } from "../../store/store.ts";
import { type SignalStore, Signals } from "../signals.ts";
import { createSignalSweep } from "../sweep.ts";

/** Wall time, Unix ms. */
export const START = Date.UTC(2026, 0, 1);

export const BUY = { symbol: "BTCUSDT", tradeType: "BUY", quantity: "0.1" };
const LIVE = { strategyId: "one", type: "SPOT", status: "LIVE" } as const;

export type Time = { now: number };
type Parts = {
  readonly time?: Time;
  readonly market?: StubMarket;
  /** Replaces functions of the signals' store. */
  readonly between?: (store: Store) => Partial<SignalStore>;
};

/** A process on a new database with a strategy `one`, of 200 USDT, and as many more as are named. */
export async function signalFixture(parts: Parts & { readonly strategies?: readonly string[] } = {}) {
  const { strategies = ["one"], market } = parts;
  const made = await createFixture({ strategies, ...(market && { market }) });
  return withSignals(made.file, made, parts);
}

/** Another process on the database of the first. */
export async function anotherProcess(file: string, parts: Parts = {}) {
  const store = await open(file);
  return withSignals(file, await deskOn(file, store, parts.market), parts);
}

function withSignals(
  file: string,
  { desk, store, storage, announced }: Awaited<ReturnType<typeof deskOn>>,
  { time = { now: START }, between = () => ({}) }: Parts,
) {
  const logged: string[] = [];
  const say = (_what: unknown, message?: string) => void logged.push(message ?? "");
  const log = { error: say, warn: say };
  const wallNow = () => time.now;
  const asked: SignalStore = { ...store, ...between(store) };
  const signals = new Signals({ desk, store: asked, wallNow, newSignalId: randomUUID, log });
  const timers: { intervalMs: number; callback: () => void }[] = [];
  const every = (intervalMs: number, callback: () => void) => {
    const timer = { intervalMs, callback };
    timers.push(timer);
    return () => void timers.splice(timers.indexOf(timer), 1);
  };
  /** The time by which the sweep waits for signals that it drives. */
  const waits = createManualTime();
  /** How often each signal was driven by the sweep. */
  const driven = new Map<string, number>();
  const drive = (signal: Signal, admittedAt?: number) => {
    driven.set(signal.signalId, (driven.get(signal.signalId) ?? 0) + 1);
    return signals.drive(signal, admittedAt);
  };
  const { after } = waits;
  const sweep = createSignalSweep({ signals: { drive }, store: asked, wallNow, every, after, log });
  const submit = (key: string, order: object | string = BUY, strategy: object = {}) =>
    signals.submit(
      { ...LIVE, ...strategy },
      {
        idempotencyKey: key,
        body: typeof order === "string" ? order : JSON.stringify(order),
        admittedAt: time.now,
        signed: { signature: randomUUID(), expiresAt: time.now + 30_000 },
      },
    );
  /** A signal that was recorded by a process that died before it drove it. */
  const receive = async (key: string, order: object = BUY, strategyId = "one") => {
    const [received] = await store.receiveSignals(
      [
        {
          signalId: randomUUID(),
          strategyId,
          idempotencyKey: key,
          body: JSON.stringify(order),
          receivedAt: time.now,
        },
      ],
      { claimedUntil: time.now + 10_000 },
    );
    if (received?.signal === undefined || received.signal === null) throw new Error("one signal was given");
    return received.signal;
  };
  const ordersOf = (strategyId = "one") => store.listOrders(strategyId, { symbol: "BTCUSDT", limit: 1_000 });
  return {
    file,
    desk,
    store,
    storage,
    announced,
    signals,
    sweep,
    timers,
    waits,
    driven,
    logged,
    time,
    submit,
    receive,
    ordersOf,
  };
}
