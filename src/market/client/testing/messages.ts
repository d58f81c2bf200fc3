// The messages about BTCUSDT that a test sends by hand, and a stage on which they are heard.
import { type Stage, setStage } from "./feed.ts";
import { until } from "./upstream.ts";

export function sendTicker({ upstream }: Stage, u: number, b: string, a: string): void {
  upstream.send("btcusdt@bookTicker", { u, s: "BTCUSDT", b, B: "1", a, A: "1" });
}

export function sendTrade({ upstream }: Stage, t: number, p: string): void {
  upstream.send("btcusdt@trade", { e: "trade", E: 1, s: "BTCUSDT", t, p, q: "1", T: 1, m: true, M: true });
}

export function sendAverage({ upstream }: Stage, w: string): void {
  upstream.send("btcusdt@avgPrice", { e: "avgPrice", E: 1, s: "BTCUSDT", i: "5m", w, T: 1 });
}

export function sendDepth({ upstream }: Stage, lastUpdateId: number, bid: string, ask: string): void {
  upstream.send("btcusdt@depth20", { lastUpdateId, bids: [[bid, "1"]], asks: [[ask, "1"]] });
}

/** BTCUSDT is subscribed and REST has given its first quote, 99 to 101. */
export async function warmStage(options: Parameters<typeof setStage>[1] = {}): Promise<Stage> {
  const stage = await setStage(["BTCUSDT", "ETHUSDT"], options);
  stage.tickers.set("BTCUSDT", ["99", "101"]);
  await stage.feed.start();
  await stage.feed.prepare("BTCUSDT");
  await until(() => stage.upstream.subscribed().length === 4);
  return stage;
}
