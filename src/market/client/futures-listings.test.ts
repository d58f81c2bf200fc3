// Rules of contracts: one question for all of them, and brackets.
import { expect, test } from "vitest";
import { decimal } from "../../money/decimal.ts";
import { bundledBrackets } from "../brackets/bundled.ts";
import { rulesAgeMsMax } from "./rules/listings.ts";
import { createFixture, type Fixture, pass, settle } from "./testing/feed.ts";
import { contractRow, until } from "./testing/upstream.ts";

const halt = ({ rows }: Fixture, symbol: string) =>
  rows.set(symbol, contractRow(symbol, { status: "SETTLING" }));
const asked = ({ upstream }: Fixture) =>
  upstream.requests.filter((line) => line.includes("exchangeInfo")).length;

/** Both are traded, with prices. */
async function tradedFixture(): Promise<Fixture> {
  const fixture = await createFixture(["BTCUSDT", "ETHUSDT"], {
    type: "FUTURES",
    asksAboutQuietSymbols: false,
  });
  for (const symbol of ["BTCUSDT", "ETHUSDT"]) {
    fixture.tickers.set(symbol, ["99", "101"]);
    fixture.marks.set(symbol, "100");
  }
  await fixture.feed.start();
  return fixture;
}

test("the rules of every contract of ours are there after the start, with their brackets", async () => {
  const fixture = await createFixture(["BTCUSDT", "ETHUSDT"], { type: "FUTURES" });
  const { feed, rows, logged } = fixture;
  rows.set("BTCUSDT_260925", contractRow("BTCUSDT_260925", { contractType: "CURRENT_QUARTER" }));
  rows.set("BTCUSDC", contractRow("BTCUSDC"));
  await feed.start();
  expect(feed.rules("BTCUSDT")).toMatchObject({
    status: "TRADING",
    maxNumAlgoOrders: 10,
    contract: { marginAsset: "USDT", brackets: bundledBrackets.get("BTCUSDT") },
  });
  expect([feed.rules("BTCUSDT_260925"), feed.rules("BTCUSDC"), feed.rules("XYZUSDT")]).toEqual([
    null,
    null,
    null,
  ]);
  expect([...feed.exchangeInfo().symbols.keys()]).toEqual([
    "BTCUSDT",
    "ETHUSDT",
    "BTCUSDT_260925",
    "BTCUSDC",
  ]);
  expect(logged.filter((line) => line.includes("left out"))).toEqual([]);
});

test("contracts without brackets have no rules, and that is said once with the setting's name", async () => {
  const fixture = await createFixture(["BTCUSDT", "XUSDT", "YUSDT"], { type: "FUTURES" });
  const { feed, rows, time, logged } = fixture;
  await feed.start();
  const warnings = () => logged.filter((line) => line.includes("LEVERAGE_BRACKETS")).length;
  expect([feed.rules("XUSDT"), warnings()]).toEqual([null, 1]);
  const refreshed = async () => {
    const before = asked(fixture);
    time.advance(30 * 60_000);
    await until(() => asked(fixture) > before);
    await settle(fixture);
  };
  await refreshed();
  expect(warnings()).toBe(1);
  rows.set("ZUSDT", contractRow("ZUSDT"));
  await refreshed();
  expect(warnings()).toBe(2);
});

test("brackets of the caller's own take the place of the bundled ones", async () => {
  const brackets = new Map([["XUSDT", bundledBrackets.get("ETHUSDT") ?? []]]);
  const { feed } = await createFixture(["BTCUSDT", "XUSDT"], { type: "FUTURES", brackets });
  await feed.start();
  expect(feed.rules("BTCUSDT")).toBeNull();
  expect(feed.rules("XUSDT")?.contract?.brackets).toBe(brackets.get("XUSDT"));
});

test("where no contract is listed nothing is connected, until one is", async () => {
  const fixture = await createFixture([], { type: "FUTURES" });
  const { feed, rows, time, upstream } = fixture;
  await feed.start();
  time.advance(60_000);
  await settle(fixture);
  expect(upstream.connections()).toBe(0);
  rows.set("BTCUSDT", contractRow("BTCUSDT"));
  time.advance(29 * 60_000);
  await until(() => feed.rules("BTCUSDT") !== null);
  time.advance(1_000);
  await until(() => feed.status().connected);
});

test("rules that are too old are requested once, however many callers need them", async () => {
  const fixture = await tradedFixture();
  const { feed, time } = fixture;
  halt(fixture, "ETHUSDT");
  time.advance(rulesAgeMsMax);
  const first = feed.prepare("BTCUSDT");
  await new Promise((resolve) => setImmediate(resolve));
  await Promise.all([first, feed.prepare("ETHUSDT"), feed.prepare("BTCUSDT")]);
  expect(feed.rules("ETHUSDT")?.status).toBe("SETTLING");
  await settle(fixture);
  expect(asked(fixture)).toBe(2);
  expect(fixture.upstream.requests.filter((line) => line.includes("exchangeInfo?"))).toEqual([]);
});

test("while contracts are in use the whole is requested twice a minute, and no caller waits", async () => {
  const fixture = await tradedFixture();
  const { feed } = fixture;
  await Promise.all([feed.prepare("BTCUSDT"), feed.prepare("ETHUSDT")]);
  await until(() => feed.status().connected);
  for (let second = 0; second < 120; second += 1) {
    await pass(fixture, 1_000);
    await settle(fixture);
    expect(feed.prepare("BTCUSDT")).toBeUndefined();
  }
  expect(asked(fixture)).toBeGreaterThanOrEqual(4);
  expect(asked(fixture)).toBeLessThanOrEqual(6);
});

test("the last known rules stay valid when upstream does not answer, and it is asked again after a while", async () => {
  const fixture = await tradedFixture();
  const { feed, time, upstream } = fixture;
  upstream.reply("/fapi/v1/exchangeInfo", () => ({ status: 503, body: "down" }));
  time.advance(rulesAgeMsMax);
  await feed.prepare("BTCUSDT");
  expect(feed.rules("BTCUSDT")?.status).toBe("TRADING");
  const before = asked(fixture);
  expect(feed.prepare("BTCUSDT")).toBeUndefined();
  time.advance(1_000);
  await settle(fixture);
  expect(asked(fixture)).toBe(before);
  time.advance(5_000);
  await until(() => asked(fixture) === before + 1);
});

test("a contract is delisted when its row is gone, not when its row has no rules", async () => {
  const fixture = await tradedFixture();
  const { feed, rows, time } = fixture;
  rows.set("XUSDT", contractRow("XUSDT"));
  const ignore = () => undefined;
  feed.watch("ETHUSDT", { quote: ignore, trade: ignore, markPrice: ignore, gap: ignore });
  await feed.prepare("ETHUSDT");
  await until(() => feed.lastMarkPrice("ETHUSDT") !== null);
  expect(["ETHUSDT", "XUSDT", "GONEUSDT"].map(feed.delisted)).toEqual([
    null,
    { lastMark: null },
    { lastMark: null },
  ]);
  rows.delete("ETHUSDT");
  time.advance(30 * 60_000);
  await until(() => feed.rules("ETHUSDT") === null);
  expect(feed.rules("XUSDT")).toBeNull();
  expect(["ETHUSDT", "XUSDT"].map(feed.delisted)).toEqual([{ lastMark: decimal("100") }, null]);
});
