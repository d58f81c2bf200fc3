// Whether the service is ready: what it says of a store that does not answer and of a market without news,
// and how seldom it asks.
import { expect, test } from "vitest";
import { StoreUnavailable } from "../store/store.ts";
import { Health } from "./health.ts";

/**
 * Readiness over a store that the test answers for, markets as they are said to be, and a clock of its own.
 */
function createFixture() {
  let ms = 0;
  const timers: { readonly at: number; readonly callback: () => void }[] = [];
  const questions: PromiseWithResolvers<null>[] = [];
  const symbols = new Map([
    ["BTCUSDT", "TRADING"],
    ["XRPUSDT", "HALT"],
  ]);
  const market = { connected: true, isLate: false, symbols: 0, silentSymbols: [] as string[] };
  const quiet = { status: () => market, rules: (symbol: string) => ({ status: symbols.get(symbol) }) };
  const fresh = {
    ...quiet,
    status: () => ({ connected: true, isLate: false, symbols: 0, silentSymbols: [] }),
  };
  const parts = {
    store: {
      people: {
        findPerson() {
          const question = Promise.withResolvers<null>();
          questions.push(question);
          return question.promise;
        },
      },
    },
    markets: { SPOT: quiet, FUTURES: fresh },
    monotonicNow: () => ms,
    after(delayMs: number, callback: () => void) {
      timers.push({ at: ms + delayMs, callback });
      return () => {};
    },
  };
  const health = new Health(parts as unknown as ConstructorParameters<typeof Health>[0]);
  return {
    health,
    questions,
    market,
    pass(forMs: number) {
      ms += forMs;
      for (const { at, callback } of timers) if (at <= ms) callback();
    },
  };
}

const READY = { store: "ok", spotMarket: "ok", futuresMarket: "ok" };

test("the store is asked once a second, however many want to know", async () => {
  const { health, questions, pass } = createFixture();
  const asked = Promise.all(Array.from({ length: 100 }, () => health.readiness()));
  questions[0]?.resolve(null);
  expect(await asked).toEqual(Array.from({ length: 100 }, () => READY));
  pass(999);
  expect(await health.readiness()).toEqual(READY);
  expect(questions).toHaveLength(1);
  pass(1);
  const again = health.readiness();
  questions[1]?.reject(new StoreUnavailable("out of reach"));
  expect(await again).toEqual({ ...READY, store: "cannot be reached" });
});

test("a store that hangs is said to, and is not asked a second time until it has answered", async () => {
  const { health, questions, pass } = createFixture();
  const first = health.readiness();
  pass(1_000);
  const hangs = { ...READY, store: "no answer within 1000 ms" };
  expect(await first).toEqual(hangs);
  pass(60_000);
  expect(await health.readiness()).toEqual(hangs);
  expect(questions).toHaveLength(1);
  questions[0]?.resolve(null);
  await questions[0]?.promise;
  const next = health.readiness();
  expect(questions).toHaveLength(2);
  questions[1]?.resolve(null);
  expect(await next).toEqual(READY);
});

test("a market is fresh while it is connected and not everything in use is silent", async () => {
  const { health, questions, market } = createFixture();
  const spot = async (now: Partial<typeof market>) => {
    const readiness = Object.assign(market, now) && health.readiness();
    questions[0]?.resolve(null);
    return (await readiness).spotMarket;
  };
  expect(await spot({ connected: false })).toBe("not connected");
  expect(await spot({ connected: true })).toBe("ok");
  expect(await spot({ isLate: true })).toBe("its data comes too late");
  expect(await spot({ isLate: false })).toBe("ok");
  expect(await spot({ symbols: 2, silentSymbols: ["XRPUSDT"] })).toBe("ok");
  expect(await spot({ symbols: 2, silentSymbols: ["BTCUSDT", "XRPUSDT"] })).toBe(
    "no symbol in use has a quote",
  );
  // A symbol that is not traded has no market data.
  expect(await spot({ symbols: 1, silentSymbols: ["XRPUSDT"] })).toBe("ok");
});
