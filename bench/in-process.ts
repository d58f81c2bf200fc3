// What the pure parts cost by themselves, each beside the least that its work could cost: printed as JSON. A program of
// its own, so that it can be pinned and nothing else has warmed it.
import { createHmac, createSecretKey } from "node:crypto";
import type { Quote } from "../src/domain/market.ts";
import type { Price } from "../src/money/decimal.ts";
import { decimal } from "../src/money/decimal.ts";
import { WatchList } from "../src/watch/watch-list.ts";
import { decisionsPerSecond } from "./decisions.ts";
import { type Spread, spreadOf } from "./statistics.ts";

export type InProcess = {
  readonly decisionsPerSecond: Spread;
  readonly signaturesPerSecond: Spread;
  readonly tickNs: Spread;
  readonly bareTickNs: Spread;
};

const REPEATS = 7;
const SIGNATURES = 50_000;
const SYMBOLS = 500;
const RESTING_PER_SYMBOL = 200;
const TICKS = 1_000_000;

const BID = decimal<Price>("99.99");
const ASK = decimal<Price>("100.01");

function signatures(): number {
  const key = createSecretKey("0123456789abcdef".repeat(4), "utf8");
  const message =
    "symbol=DOGEUSDT&side=BUY&type=MARKET&quantity=161&recvWindow=10000&timestamp=1790000000000";
  const start = performance.now();
  for (let count = 0; count < SIGNATURES; count += 1) {
    createHmac("sha256", key).update(message, "latin1").digest("hex");
  }
  return SIGNATURES / ((performance.now() - start) / 1_000);
}

const symbols = Array.from({ length: SYMBOLS }, (_, index) => `COIN${index}USDT`);
const list = new WatchList();
for (const symbol of symbols) {
  for (let count = 0; count < RESTING_PER_SYMBOL; count += 1) {
    const waitsFor = count % 2 === 0 ? "ASK_FALLS" : "BID_RISES";
    // Buyers from 90 down and sellers from 110 up, in no order.
    const distance = BigInt((count * 7_919) % RESTING_PER_SYMBOL) * 1_000_000n;
    const price = (
      waitsFor === "ASK_FALLS" ? 9_000_000_000n - distance : 11_000_000_000n + distance
    ) as Price;
    list.add({ strategyId: symbol, orderId: count, symbol, waitsFor, price, since: 0 });
  }
}
const quotes: Quote[] = Array.from({ length: 16 }, (_, index) => ({
  bid: (BID - BigInt(index)) as Price,
  ask: (ASK + BigInt(index)) as Price,
}));

function ticks(): number {
  let crossed = 0;
  const start = performance.now();
  for (let count = 0; count < TICKS; count += 1) {
    const quote = quotes[count & 15];
    const symbol = symbols[count % SYMBOLS];
    if (quote !== undefined && symbol !== undefined) crossed += list.takeAtQuote(symbol, quote).length;
  }
  const elapsedMs = performance.now() - start;
  if (crossed > 0) throw new Error("these ticks cross nothing");
  return (elapsedMs * 1_000_000) / TICKS;
}

const tops = new Map(symbols.map((symbol) => [symbol, { buy: 9_000_000_000n, sell: 11_000_000_000n }]));

function bareTicks(): number {
  let crossed = 0;
  const start = performance.now();
  for (let count = 0; count < TICKS; count += 1) {
    const quote = quotes[count & 15];
    const symbol = symbols[count % SYMBOLS];
    const top = symbol === undefined ? undefined : tops.get(symbol);
    if (quote === undefined || top === undefined || quote.ask === null || quote.bid === null) continue;
    if (quote.ask <= top.buy || quote.bid >= top.sell) crossed += 1;
  }
  const elapsedMs = performance.now() - start;
  if (crossed > 0) throw new Error("these ticks cross nothing");
  return (elapsedMs * 1_000_000) / TICKS;
}

/** Measures several things in turns; the first turn of each is the compiler's. */
function inTurns<Names extends string>(
  measures: Readonly<Record<Names, () => number>>,
): Record<Names, Spread> {
  const names = Object.keys(measures) as Names[];
  const values = new Map<Names, number[]>(names.map((name) => [name, []]));
  for (let turn = 0; turn <= REPEATS; turn += 1) {
    for (const name of names) {
      const value = measures[name]();
      if (turn > 0) values.get(name)?.push(value);
    }
  }
  return Object.fromEntries(names.map((name) => [name, spreadOf(values.get(name) ?? [])])) as Record<
    Names,
    Spread
  >;
}

const measured: InProcess = inTurns({
  decisionsPerSecond,
  signaturesPerSecond: signatures,
  tickNs: ticks,
  bareTickNs: bareTicks,
});
process.stdout.write(JSON.stringify(measured));
