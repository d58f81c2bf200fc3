// One mark price that liquidates one position in a hundred, durably, by the real desk and trigger engine, on
// a market that the program controls. A program of its own, so that it can be pinned and starts cold. It
// receives the path of a database with positions, and prints how long each tick took as JSON.
import pino from "pino";
import { systemTimers } from "../../src/concurrency/time.ts";
import { openDataDirectory } from "../../src/config/data-directory.ts";
import { Desk } from "../../src/desk/desk.ts";
import { formatBriefly, type Price } from "../../src/money/decimal.ts";
import { StubMarket } from "../../src/triggers/testing/stub-market.ts";
import { Triggers } from "../../src/triggers/triggers.ts";
import { type Spread, spreadOf } from "../statistics.ts";
import type { Place } from "../stores.ts";
import { CONTRACT, entryOf, liquidationOf, withPosition } from "./positions.ts";

export type Liquidations = {
  /** Until the last of a tick was durable, ms. */
  readonly tickMs: Spread;
  /** The same by the number of liquidations, µs. */
  readonly eachUs: Spread;
};

/** A tick liquidates one in this many. */
const SHARE = 100;

const [dataDir = "", databaseUrl = "", positionsText, ticksText] = process.argv.slice(2);
const place: Place = { dataDir, databaseUrl: databaseUrl === "" ? null : databaseUrl };
const positions = Number(positionsText);
const ticks = Number(ticksText);
const atOnce = positions / SHARE;
if (!(Number.isInteger(atOnce) && ticks >= 1)) {
  throw new Error(
    "usage: the database's path, the hundreds of positions in it, and the number of ticks to measure",
  );
}

const log = pino({ level: "silent" });
const market = new StubMarket(() => Date.now(), "FUTURES");
market.terms.set(CONTRACT.symbol, CONTRACT.contract);
const highest = formatBriefly(entryOf(positions));
market.show(CONTRACT.symbol, highest, highest);
market.showMark(CONTRACT.symbol, highest);

const { store } = await openDataDirectory(place.dataDir, null, place.databaseUrl);
const desk = new Desk({
  store,
  markets: { SPOT: market, FUTURES: market },
  onStoreFailure: (failure) => {
    throw failure;
  },
  log,
});
const triggers = new Triggers({ type: "FUTURES", desk, store, market, timers: systemTimers, log });
const counts = await triggers.open();
if (counts.positions !== positions) {
  throw new Error(`of ${positions} positions ${counts.positions} have triggers`);
}

let liquidated = 0;
let whenAll = Promise.withResolvers<void>();
desk.onCommitted(() => {
  liquidated += 1;
  if (liquidated === atOnce) whenAll.resolve();
});

// The first tick is the compiler's.
const tookMs: number[] = [];
for (let tick = 1; tick <= ticks + 1; tick += 1) {
  liquidated = 0;
  whenAll = Promise.withResolvers();
  const last = positions - tick * atOnce;
  const price = liquidationPriceOf(last);
  const start = performance.now();
  market.showMark(CONTRACT.symbol, formatBriefly(price));
  await whenAll.promise;
  if (tick > 1) tookMs.push(performance.now() - start);
}
await triggers.close();
await desk.drain();
await store.close();
if (liquidated !== atOnce) throw new Error(`a tick liquidated ${liquidated} positions, not ${atOnce}`);
process.stdout.write(
  JSON.stringify({
    tickMs: spreadOf(tookMs),
    eachUs: spreadOf(tookMs.map((ms) => (ms * 1_000) / atOnce)),
  } satisfies Liquidations),
);
process.exit(0);

/** The position with this number. */
function liquidationPriceOf(number: number): Price {
  return liquidationOf(withPosition("any", 0, number).account).price;
}
