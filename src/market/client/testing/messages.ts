// Messages about BTCUSDT, pair or contract, that a test sends, and fixtures that receive them.
import { createFixture, type Fixture } from "./feed.ts";
import { until } from "./upstream.ts";

export function sendTicker({ upstream }: Fixture, u: number, b: string, a: string): void {
  upstream.send("btcusdt@bookTicker", { u, s: "BTCUSDT", b, B: "1", a, A: "1" });
}

export function sendTrade({ upstream }: Fixture, t: number, p: string): void {
  upstream.send("btcusdt@trade", { e: "trade", E: 1, s: "BTCUSDT", t, p, q: "1", T: 1, m: true, M: true });
}

export function sendAverage({ upstream }: Fixture, w: string): void {
  upstream.send("btcusdt@avgPrice", { e: "avgPrice", E: 1, s: "BTCUSDT", i: "5m", w, T: 1 });
}

export function sendDepth({ upstream }: Fixture, lastUpdateId: number, bid: string, ask: string): void {
  upstream.send("btcusdt@depth20", { lastUpdateId, bids: [[bid, "1"]], asks: [[ask, "1"]] });
}

/** BTCUSDT is subscribed and REST has returned its first quote, 99 to 101. */
export async function subscribedFixture(options: Parameters<typeof createFixture>[1] = {}): Promise<Fixture> {
  const fixture = await createFixture(["BTCUSDT", "ETHUSDT"], options);
  fixture.tickers.set("BTCUSDT", ["99", "101"]);
  await fixture.feed.start();
  await fixture.feed.prepare("BTCUSDT");
  await until(() => fixture.upstream.subscribed().length === 4);
  return fixture;
}

export const publicPath = "/public/stream";
export const marketPath = "/market/stream";

/** The same of a contract. */
export function sendContractTicker({ upstream }: Fixture, u: number, b: string, a: string): void {
  const data = { e: "bookTicker", u, E: 1, T: 1, s: "BTCUSDT", ps: "BTCUSDT", b, B: "1", a, A: "1", st: 1 };
  upstream.sendOn(upstream.connectionTo(publicPath), "btcusdt@bookTicker", data);
}

export function sendContractDepth({ upstream }: Fixture, u: number, bid: string, ask: string): void {
  const sides = { b: [[bid, "1"]], a: [[ask, "1"]] };
  const data = { e: "depthUpdate", E: 1, T: 1, s: "BTCUSDT", U: u, u, pu: u - 1, ...sides };
  upstream.sendOn(upstream.connectionTo(publicPath), "btcusdt@depth20@500ms", data);
}

/** A mark price of the exchange's time `E`; funding is due at `T`. */
export function sendMark({ upstream }: Fixture, E: number, p: string, T = 1_800_000_000_000): void {
  const data = { e: "markPriceUpdate", E, s: "BTCUSDT", p, ap: p, i: p, P: p, r: "-0.00010000", T, st: 1 };
  upstream.sendOn(upstream.connectionTo(marketPath), "btcusdt@markPrice@1s", data);
}

/**
 * The contract BTCUSDT is subscribed and REST has returned its first quote, 99 to 101, and its first mark
 * price, 100.
 */
export async function subscribedContractFixture(
  options: Parameters<typeof createFixture>[1] = {},
): Promise<Fixture> {
  const fixture = await createFixture(["BTCUSDT", "ETHUSDT"], { type: "FUTURES", ...options });
  fixture.tickers.set("BTCUSDT", ["99", "101"]);
  fixture.marks.set("BTCUSDT", "100");
  await fixture.feed.start();
  await fixture.feed.prepare("BTCUSDT");
  await until(() => fixture.upstream.subscribed().length === 3);
  return fixture;
}
