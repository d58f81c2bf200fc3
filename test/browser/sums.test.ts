// Figures beside each other on one screen agree, digit by digit: equity, profit and its parts, balances and
// their total. All are read at one moment, since prices change.
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { add, compare, subtract } from "../../dashboard/src/ui/figures/decimals.ts";
import type { StrategyType } from "../../src/domain/account.ts";
import { eventually } from "../support/eventually.ts";
import { priced } from "../support/prices.ts";
import { send, signed } from "../support/signed-client.ts";
import { isBrowserAbsent, SKIPPED_WITHOUT_BROWSER } from "./browser.ts";
import { Fixture } from "./fixture.ts";

/** How many equities are read. */
const PRICES = 4;
const MOVES = { msMax: 30_000, askAgainMs: 100 };
/** The fee of each moves the equity by more than a cent. */
const TRADED = {
  SPOT: { path: "/api/v3/order", symbol: "DOGEUSDT", quantity: "200" },
  FUTURES: { path: "/fapi/v1/order", symbol: "ETHUSDT", quantity: "0.1" },
} as const;

/** Higher than any price of the simulated market. */
const LOADED_MARK = "987654321";
const LOADED_MARK_SHOWN = "987,654,321";
const POSITIONS_ROUTE = "**/dashboard/api/**/positions";

const isAbsent = await isBrowserAbsent();

describe.skipIf(isAbsent)(`figures on one screen${isAbsent ? SKIPPED_WITHOUT_BROWSER : ""}`, () => {
  let fixture: Fixture;
  let page: Page;
  const ids: Record<string, string> = {};
  let trades = 0;

  /** Trades, so that another equity is shown, however still the market is. */
  async function trade(type: StrategyType): Promise<void> {
    trades += 1;
    const { path, ...order } = TRADED[type];
    const key = fixture.demoKeys()[type === "SPOT" ? 0 : 1];
    if (key === undefined) throw new Error("a demo has two strategies");
    const side = trades % 2 === 1 ? "SELL" : "BUY";
    const terms = { ...order, side, type: "MARKET" };
    const { status } = await priced(() => signed(fixture.url, key, "POST", path, terms));
    expect(status).toBe(200);
  }

  beforeAll(async () => {
    fixture = await Fixture.open();
    const trader = await fixture.visit();
    page = trader.page;
    await trader.call("POST", "/session", fixture.demoTrader());
    const { rows } = await trader.call("GET", "/strategies");
    for (const { type, strategyId } of rows) ids[type] = strategyId;
    const [spot, futures] = fixture.demoKeys();
    if (spot === undefined || futures === undefined) throw new Error("a demo has two strategies");
    const buy = { side: "BUY", type: "MARKET" };
    for (const symbol of ["BTCUSDT", "ETHUSDT", "DOGEUSDT"]) {
      const order = { ...buy, symbol, quoteOrderQty: "63.33" };
      const bought = await priced(() => signed(fixture.url, spot, "POST", "/api/v3/order", order));
      expect(bought.body).toMatchObject({ status: "FILLED" });
    }
    const order = { ...buy, symbol: "ETHUSDT", quantity: "0.5" };
    const opened = await priced(() => signed(fixture.url, futures, "POST", "/fapi/v1/order", order));
    expect(opened.status).toBe(200);
  });
  afterEach(() => expect(fixture.faults()).toEqual([]));
  afterAll(async () => await fixture?.close());

  for (const [type, seed] of [
    ["SPOT", "200"],
    ["FUTURES", "1000"],
  ] as const) {
    test(`${type}: head, curve and statistics show one equity, and its parts add up`, async () => {
      await page.goto(`/strategies/${ids[type]}?range=all`);
      await page.locator("canvas").first().waitFor();
      // At several prices: by chance any rounding adds up once.
      for (let seen = 0, last = ""; seen < PRICES; ) {
        const figures = await read(page);
        if (figures.equity === last) {
          await trade(type);
          await eventually("the equity moves", async () => (await read(page)).equity !== last, MOVES);
          continue;
        }
        last = figures.equity;
        seen += 1;
        expect(figures.curve, "the curve's end").toBe(figures.equity);
        expect(subtract(figures.equity, seed), "equity less what it began with").toBe(figures.headProfit);
        expect(figures.profit).toBe(figures.headProfit);
        const { realized, unrealized, fees, funding } = figures;
        expect(subtract(add(add(realized, unrealized), funding), fees)).toBe(figures.profit);
        if (type !== "SPOT") continue;
        expect(figures.values.reduce(add)).toBe(figures.total);
        expect(figures.total).toBe(figures.equity);
        expect(compare(figures.shares.reduce(add), "100")).toBe(0);
      }
    });
  }

  test("FUTURES: wallet and what positions have gained add up to the equity", async () => {
    await page.goto(`/strategies/${ids.FUTURES}/positions`);
    await page.getByText("Margin ratio").first().waitFor();
    for (let seen = 0, last = ""; seen < PRICES; ) {
      const [equity = "", unrealized = "", wallet = ""] = await shownOnPositions(page);
      if (equity === last) {
        await trade("FUTURES");
        await eventually("the equity moves", async () => (await shownOnPositions(page))[0] !== last, MOVES);
        continue;
      }
      last = equity;
      seen += 1;
      expect(add(wallet, unrealized)).toBe(equity);
    }
  });

  test("FUTURES: the mark price of each of nine positions comes in by itself", async () => {
    await openPositions(fixture, 9);
    // Only a live price can replace what is loaded.
    await page.route(POSITIONS_ROUTE, async (route) => {
      const response = await route.fetch();
      const { rows, ...rest } = await response.json();
      const outdated = rows.map((row: object) => ({ ...row, markPrice: LOADED_MARK }));
      await route.fulfill({ response, json: { rows: outdated, ...rest } });
    });
    await page.goto(`/strategies/${ids.FUTURES}/positions`);
    await eventually(
      "each card has a live mark price",
      async () => {
        const marks = await marksOn(page);
        return marks.length === 9 && marks.every((mark) => !mark.startsWith(LOADED_MARK_SHOWN));
      },
      MOVES,
    );
    await page.unroute(POSITIONS_ROUTE);
  });

  test("the list's equity comes in by itself, and its profit agrees with it", async () => {
    await page.goto("/strategies");
    const row = page.getByRole("row", { name: /Demo spot/ });
    await row.waitFor();
    const shown = async () => {
      const [equity = "", profit = ""] = numbersIn((await row.innerText()).replace(/^.*(Open|Closed)/s, ""));
      return { equity, profit };
    };
    const first = await shown();
    await trade("SPOT");
    await eventually("another equity is shown", async () => (await shown()).equity !== first.equity, {
      ...MOVES,
    });
    for (const { equity, profit } of [first, await shown()]) expect(subtract(equity, "200")).toBe(profit);
  });
});

/** Opens positions of the futures strategy until it has so many. */
async function openPositions(fixture: Fixture, wanted: number): Promise<void> {
  const key = fixture.demoKeys()[1];
  if (key === undefined) throw new Error("a demo has two strategies");
  const listed = await send(fixture.url, "GET", "/fapi/v1/exchangeInfo");
  for (const { symbol, filters } of listed.body.symbols) {
    const held = await signed(fixture.url, key, "GET", "/fapi/v2/positionRisk", {});
    const open = held.body.filter(({ positionAmt }: { positionAmt: string }) => Number(positionAmt) !== 0);
    if (open.length >= wanted) return;
    if (open.some((each: { symbol: string }) => each.symbol === symbol)) continue;
    const { price } = (await send(fixture.url, "GET", `/fapi/v1/ticker/price?symbol=${symbol}`)).body;
    const filterOf = (type: string) =>
      filters.find(({ filterType }: { filterType: string }) => filterType === type);
    const step = Number(filterOf("LOT_SIZE").stepSize);
    const steps = Math.ceil((Number(filterOf("MIN_NOTIONAL").notional) * 1.2) / (Number(price) * step));
    const quantity = (steps * step).toFixed(Math.max(0, Math.round(-Math.log10(step))));
    const order = { symbol, side: "BUY", type: "MARKET", quantity };
    expect((await signed(fixture.url, key, "POST", "/fapi/v1/order", order)).body).toMatchObject({ symbol });
  }
  throw new Error(`the simulated market lists fewer than ${wanted} contracts`);
}

/** The mark prices on the cards of positions. */
async function marksOn(page: Page): Promise<readonly string[]> {
  return await page.evaluate(`[...document.querySelectorAll("dt")]
    .filter((each) => each.textContent.trim() === "Mark price")
    .map((each) => each.nextElementSibling.textContent)`);
}

type Figures = Record<
  "equity" | "headProfit" | "curve" | "profit" | "realized" | "unrealized" | "fees" | "funding" | "total",
  string
> & { readonly values: readonly string[]; readonly shares: readonly string[] };

/** What the overview shows, as decimals. */
async function read(page: Page): Promise<Figures> {
  const texts: Record<keyof Figures, string | string[]> = await page.evaluate(`(() => {
    const after = (label) => [...document.querySelectorAll("dt")]
      .find((each) => each.textContent.trim() === label)?.nextElementSibling?.querySelector(".numeric, span")?.textContent ?? "";
    const head = [...document.querySelectorAll("dt")].filter((each) => each.textContent === "Equity")[0];
    const rows = [...document.querySelectorAll("table")].find((each) => each.caption?.textContent === "Balances")?.tBodies[0].rows ?? [];
    const cells = (index) => [...rows].map((row) => row.cells[index].textContent);
    return {
      equity: head.nextElementSibling.textContent,
      headProfit: after("Profit since it began"),
      curve: [...document.querySelectorAll("span")].find((each) => each.textContent.trim() === "Equity").parentElement.textContent,
      profit: after("Profit"), realized: after("Realized"), unrealized: after("Unrealized"), fees: after("Fees"), funding: after("Funding"),
      total: [...document.querySelectorAll("span")].find((each) => each.textContent === "Total").nextElementSibling.textContent,
      values: cells(3), shares: cells(4),
    };
  })()`);
  const one = (text: string | string[]) => numbersIn(String(text))[0] ?? "none";
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [name, Array.isArray(text) ? text.map(one) : one(text)]),
  ) as unknown as Figures;
}

/** Equity, unrealized profit and wallet of the positions' page of one position, read at one moment. */
async function shownOnPositions(page: Page): Promise<readonly string[]> {
  const texts: readonly string[] = await page.evaluate(`(() => {
    const after = (label) => [...document.querySelectorAll("dt")]
      .find((each) => each.textContent.trim() === label)?.nextElementSibling?.querySelector(".numeric, span")?.textContent ?? "";
    const total = [...document.querySelectorAll("span")].find((each) => each.textContent === "Total");
    const equity = [...document.querySelectorAll("dt")].find((each) => each.textContent === "Equity");
    return [equity.nextElementSibling.textContent, after("Unrealized"), total.nextElementSibling.textContent];
  })()`);
  return texts.map((text) => numbersIn(text)[0] ?? "none");
}

/** "▲ +1,000.25 USDT" has the number 1000.25. */
function numbersIn(text: string): readonly string[] {
  return text.replaceAll(",", "").match(/-?\d+(\.\d+)?/g) ?? [];
}
