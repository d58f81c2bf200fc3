// The evidence of fills under `strict` on the dashboard, in a real browser: a walk over the book, and a
// queue. The server is in the test's process, with a book that the test shows.
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { buy, executed } from "../../src/desk/testing/fixture.ts";
import { ALTERNATIVES, type CounterfactualRow } from "../../src/domain/counterfactual.ts";
import type { BookView, MarketTrade } from "../../src/domain/market.ts";
import type { BookSide } from "../../src/domain/receipt.ts";
import { isRefusal } from "../../src/domain/refusal.ts";
import { STRICT_DEFAULTS, strictProfile } from "../../src/engine/matching/terms.ts";
import { seedStrategies } from "../../src/keys/seed.ts";
import {
  type Amount,
  add,
  decimal,
  formatBriefly,
  type Price,
  type Quantity,
  subtract,
  ZERO,
} from "../../src/money/decimal.ts";
import { type DashboardFixture, openDashboardFixture, PASSWORD } from "../support/dashboard/fixture.ts";
import { isBrowserAbsent, openBrowser, SKIPPED_WITHOUT_BROWSER } from "./browser.ts";
import { BrowserClient } from "./browser-client.ts";
import { heading } from "./walk.ts";

const SYMBOL = "BTCUSDT";
const isAbsent = await isBrowserAbsent();

describe.skipIf(isAbsent)(`receipts${isAbsent ? SKIPPED_WITHOUT_BROWSER : ""}`, () => {
  let fixture: DashboardFixture;
  let browser: Browser;
  let client: BrowserClient;
  let page: Page;
  let strategyId: string;
  let ask: Price;

  beforeAll(async () => {
    [fixture, browser] = await Promise.all([openDashboardFixture(), openBrowser()]);
    const { store, master, markets, desk } = fixture.gateway;
    const owner = await fixture.somebody({ email: "ada@example.org", hasSecondFactor: false });
    const profile = strictProfile("SPOT", STRICT_DEFAULTS) ?? undefined;
    const marketNow = markets.SPOT.now();
    const terms = { ownerId: owner.personId, profile, marketNow, names: ["Strict"] };
    const [seeded] = await seedStrategies(store, master, ["SPOT"], fixture.wallNow(), terms);
    strategyId = seeded?.strategyId ?? "";
    await markets.SPOT.prepare(SYMBOL);
    ask = markets.SPOT.quote(SYMBOL)?.ask ?? ZERO;
    const shown = bookOf(markets.SPOT.now(), {
      ASK: [
        [ask, "0.0003"],
        [above(ask, "1"), "0.0002"],
        [above(ask, "10"), "4"],
      ],
      BID: [
        [subtract(ask, decimal<Price>("0.01")), "0.0004"],
        [subtract(ask, decimal<Price>("1")), "5"],
      ],
    });
    Object.assign(markets.SPOT, { book: () => shown });
    executed(
      await desk.execute(strategyId, {
        ...buy("market", "walk"),
        size: { quantity: decimal<Quantity>("0.0006") },
      }),
    );
    const limit = subtract(ask, decimal<Price>("0.01"));
    const order = { ...buy(formatBriefly(limit), "queue"), size: { quantity: decimal<Quantity>("0.0005") } };
    executed(await desk.execute(strategyId, order));
    const trade: MarketTrade = {
      ...{ aggregateId: 4_711, price: limit, quantity: decimal<Quantity>("0.0006") },
      ...{ side: "BID", time: markets.SPOT.now() + 1 },
    };
    const placed = { ahead: decimal<Quantity>("0.0004"), tradedAtPrice: ZERO, canceledAhead: ZERO };
    const [queued = 0] = (await store.loadAccount(strategyId))?.account.openOrders.keys() ?? [];
    const matched = await desk.execute(strategyId, {
      type: "MatchTrade",
      symbol: SYMBOL,
      trade,
      queues: new Map([[queued, { ...placed, history: [{ time: trade.time - 1, ...placed }] }]]),
    });
    if (isRefusal(matched)) throw new Error(`the trade fills the order: ${matched.refusal}`);
    const rowOf = (terms: Pick<CounterfactualRow, "profile" | "latencyMs">, difference: string | null) => ({
      ...{ ...terms, status: difference === null ? ("REJECTED" as const) : ("FILLED" as const) },
      executedQuantity: decimal<Quantity>(difference === null ? "0" : "0.0006"),
      executedQuote: decimal<Amount>(difference === null ? "0" : "36"),
      ...{ fee: decimal<Amount>("0.0000006"), feeAsset: "BTC", firstFillAt: 1, lastFillAt: 1 },
      difference: difference === null ? null : decimal<Amount>(difference),
    });
    const differences = [null, "-0.25", "0", "1.5"];
    const rows = [
      ...ALTERNATIVES.map((terms, index) => rowOf(terms, differences[index] ?? null)),
      rowOf({ profile: "own", latencyMs: 50 }, "0"),
    ];
    const complete = {
      strategyId,
      symbol: SYMBOL,
      quoteAsset: "USDT",
      completedAt: markets.SPOT.now(),
      rows,
    };
    await store.storeCounterfactuals([1, 3].map((orderId) => ({ ...complete, orderId })));
    client = await BrowserClient.open(browser, fixture.url);
    page = client.page;
    await client.call("POST", "/session", { email: "ada@example.org", password: PASSWORD });
  }, 120_000);
  // This server has no live connection.
  afterEach(() => {
    expect(client.faults().filter((fault) => !fault.includes("/socket.io/"))).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await fixture?.close();
  });

  test("a trade of a walk opens its receipt: words, and the levels with what was taken of each", async () => {
    await page.goto(`/strategies/${strategyId}/trades`);
    await page.getByRole("link", { name: "Receipt of trade 2" }).click();
    await heading(page, "Trade 2").waitFor();
    const words = page.getByRole("list", { name: "How this fill came about" });
    const price = grouped(above(ask, "1"));
    await words
      .getByText(`Took 0.0002 at ${price}, level 2 of the asks, where 0.0002 was displayed.`)
      .waitFor();
    await words.getByText("the order had 0.0003 to fill and went on to the next level").waitFor();
    const levels = page.getByRole("table", { name: "Levels that the order took from" });
    expect(await levels.getByRole("row").count()).toBe(4);
    expect(await cellsOf(levels.getByRole("row").nth(1))).toEqual(["0.0003", "–", "0.0003"]);
    expect(await cellsOf(levels.getByRole("row").nth(3))).toEqual(["4", "–", "0.0001"]);
    // The best level: all that was displayed of 4 was the widest bar.
    expect(await levels.locator("svg").count()).toBe(3);
    await levels.getByRole("link").first().click();
    await heading(page, "Trade 1").waitFor();
    await page.getByText("the best ask, where 0.0003 was displayed").waitFor();
  });

  test("a trade of a queue shows what was in front, the market's trade, and what it left", async () => {
    await page.goto(`/strategies/${strategyId}/trades/4`);
    await heading(page, "Trade 4").waitFor();
    const words = page.getByRole("list", { name: "How this fill came about" });
    await words.getByText("0.0004 was displayed in front of it.").waitFor();
    await words.getByText(/^A seller then traded 0\.0006 at /).waitFor();
    await words.getByText("0.0004 went to those in front, and 0.0002 of 0.0005 was filled.").waitFor();
    const queue = page.getByRole("table", { name: "The queue in front of the order" });
    expect(await cellsOf(queue.getByRole("row").nth(1))).toEqual(["0.0004", "–"]);
    expect(await cellsOf(queue.getByRole("row").nth(3))).toEqual(["0", "0.0002"]);
    const moves = page.getByRole("table", { name: "How the queue moved" });
    expect(await cellsOf(moves.getByRole("row").nth(1))).toEqual(["0.0004", "–"]);
    expect(await cellsOf(moves.getByRole("row").nth(2))).toEqual(["0", "0.0004"]);
    await page.getByText("4711").waitFor();
  });

  test("an order is compared with itself on other terms, and where that is not known the page says so", async () => {
    await page.goto(`/strategies/${strategyId}/orders/1`);
    const table = page.getByRole("table", { name: "This order on other terms" });
    await table.waitFor();
    const said = async (row: number) => {
      const cells = table.getByRole("row").nth(row);
      const head = await cells.getByRole("rowheader").textContent();
      const [outcome, , , , against] = await cells.getByRole("cell").allTextContents();
      return [head, outcome, against];
    };
    expect(await said(1)).toEqual([
      "Standard: whole, at the best price",
      "Would be rejected",
      "Not comparable",
    ]);
    expect(await said(2)).toEqual(["Strict, no latency", "Filled", "0.25 USDT better"]);
    expect(await said(3)).toEqual(["Strict, 50 ms latency", "Filled", "The same"]);
    expect(await said(4)).toEqual(["Strict, 250 ms latency", "Filled", "1.5 USDT worse"]);
    expect(await said(5)).toEqual(["As it was, 50 ms latency", "Filled", "–none"]);
    await page.goto(`/strategies/${strategyId}/orders/2`);
    await page.getByText("Not known: the server was restarted").waitFor();
    expect(await table.count()).toBe(0);
  });

  test("the overview sums a week, of the orders that could be compared", async () => {
    await page.goto(`/strategies/${strategyId}`);
    const table = page.getByRole("table", {
      name: "What the orders of the last seven days would have cost on other terms",
    });
    await table.waitFor();
    const said = async (row: number) =>
      await table.getByRole("row").nth(row).getByRole("cell").allTextContents();
    expect(await said(1)).toEqual(["0", "–none"]);
    expect(await said(2)).toEqual(["2", "0.5 USDT better"]);
    expect(await said(3)).toEqual(["2", "The same"]);
    expect(await said(4)).toEqual(["2", "3 USDT worse"]);
    await page.getByText("2 orders are compared").waitFor();
  });
});

async function cellsOf(row: ReturnType<Page["getByRole"]>): Promise<readonly string[]> {
  const cells = await row.getByRole("cell").allTextContents();
  return cells.slice(0, -1);
}

function above(price: Price, by: string): Price {
  return add(price, decimal<Price>(by));
}

function grouped(price: Price): string {
  return formatBriefly(price).replace(/\B(?=(\d{3})+(?=\.|$))/g, ",");
}

type Levels = readonly (readonly [price: Price, quantity: string])[];

function bookOf(time: number, sides: Readonly<Record<BookSide, Levels>>): BookView {
  const levels = (side: BookSide) =>
    sides[side].map(([price, quantity]) => ({
      price,
      displayed: decimal<Quantity>(quantity),
      fromTicker: false,
      newerTrades: ZERO,
    }));
  return {
    lastUpdateId: 77,
    eventTime: time,
    receivedAt: time,
    tickerUpdateId: null,
    lastTradeId: null,
    displayed: levels,
    displayedAt: (side, price) => levels(side).find((level) => level.price === price)?.displayed ?? ZERO,
  };
}
