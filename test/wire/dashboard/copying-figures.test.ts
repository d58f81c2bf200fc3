// Figures of copying on a real server: strategies on offer, previews on a real account, drift; for traders
// and operators skip rates, slippage, and the progress of a closing.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Endpoints } from "../../../src/dashboard-api/routes.ts";
import type { OfferJson, PreviewJson } from "../../../src/dashboard-api/schemas.ts";
import { collectiveId } from "../../../src/domain/collective-id.ts";
import { decimal } from "../../../src/money/decimal.ts";
import type { Browser } from "../../support/dashboard/client.ts";
import {
  actAt,
  catchUp,
  connectAccount,
  follow,
  lineOf,
  newLead,
  newOffers,
  record,
} from "../../support/dashboard/copying-world.ts";
import { type DashboardFixture, openDashboardFixture } from "../../support/dashboard/fixture.ts";
import { stayOnLoopback } from "../../support/servers/loopback-only.ts";
import { signed } from "../../support/signed-client.ts";

type Offers = Endpoints["GET /copying/offers"]["answer"];

stayOnLoopback();

const SETTINGS = { share: "1", maxPerOrder: null, stopLoss: null };

let fixture: DashboardFixture;
let trader: Browser;
let copier: Browser;
let accountId: string;
let lead: Awaited<ReturnType<typeof newLead>>;

async function trade(parameters: Readonly<Record<string, string>>): Promise<void> {
  fixture.pass(1_000);
  const sent = { symbol: "BTCUSDT", ...parameters, timestamp: fixture.wallNow() };
  const { status, body } = await signed(fixture.url, lead, "POST", "/api/v3/order", sent);
  if (status !== 200) throw new Error(`the order was refused: ${JSON.stringify(body)}`);
}

beforeAll(async () => {
  fixture = await openDashboardFixture();
  trader = await fixture.somebody({});
  copier = await fixture.somebody({ profile: "COPIER" });
  lead = await newLead(fixture, "SPOT", trader.personId);
  ({ accountId } = await connectAccount(fixture, copier, "SPOT"));
  await trade({ side: "BUY", type: "MARKET", quoteOrderQty: "50" });
  await trade({ side: "BUY", type: "MARKET", quoteOrderQty: "20" });
  await catchUp(fixture, lead.strategyId);
});
afterAll(() => fixture.close());

describe("a strategy on offer", () => {
  test("has its performance, and the account size that it needs", async () => {
    const { rows } = await copier.get("/copying/offers");
    const offer: OfferJson = rows.find(({ strategyId }: OfferJson) => strategyId === lead.strategyId);
    expect(offer).toMatchObject({
      ...{ name: "On offer (SPOT)", type: "SPOT", copiers: 0, copyId: null },
      performance: { days: 0, trades: 2, winRate: null },
      smallestBalances: { orders: 2 },
    });
    expect(Number(offer.performance?.returnRate)).toBeLessThan(0.01);
    const { all, most, many } = offer.smallestBalances ?? { all: "0", most: "0", many: "0" };
    // The smaller order needs the larger account; with two orders 95 and 80 % are both of them.
    expect(Number(all)).toBeGreaterThan(5);
    expect([most, many]).toEqual([all, all]);
    const detail = await copier.get(`/copying/offers/${lead.strategyId}`);
    expect(detail).toMatchObject({ ...offer, symbols: ["BTCUSDT"], holds: ["BTC"] });
    expect(detail.equity.length).toBeGreaterThan(1);
    expect((await copier.get("/copying/offers?type=FUTURES")).rows).toEqual([]);
  });

  test("is cached for a minute, for all people", async () => {
    const other = await fixture.somebody({ profile: "COPIER" });
    const tradesOf = async (who: Browser) =>
      (await who.get(`/copying/offers/${lead.strategyId}`)).performance.trades;
    fixture.pass(60_000);
    const before = await tradesOf(copier);
    await trade({ side: "BUY", type: "MARKET", quoteOrderQty: "20" });
    expect(await tradesOf(other)).toBe(before);
    fixture.pass(60_000);
    expect(await tradesOf(other)).toBe(before + 1);
    await catchUp(fixture, lead.strategyId);
  });
});

describe("a preview", () => {
  async function preview(settings: object): Promise<PreviewJson> {
    const body = { strategyId: lead.strategyId, accountId, settings: { ...SETTINGS, ...settings } };
    return await copier.send("POST", "/copying/preview", body);
  }

  test("scales the last orders to the account's own balance, newest first", async () => {
    const { rows, copied, skipped, wallet, used, asset } = await preview({});
    expect({ copied, skipped, wallet, used, asset }).toMatchObject({ copied: 3, skipped: 0, asset: "USDT" });
    expect(used).toBe(wallet);
    expect(rows.map(({ at }) => at)).toEqual(rows.map(({ at }) => at).sort((one, other) => other - one));
    for (const { symbol, side, quantity, notional, isExit } of rows) {
      expect({ symbol, side, isExit }).toEqual({ symbol: "BTCUSDT", side: "BUY", isExit: false });
      expect(Number(quantity)).toBeGreaterThan(0);
      expect(Number(notional)).toBeGreaterThan(5);
    }
  });

  test("has what a copy could open of the strategy's present holdings, and the worst case of its settings", async () => {
    const { holds, worst, used } = await preview({ stopLoss: "0.2" });
    expect(holds).toEqual([
      { symbol: "BTCUSDT", side: "BUY", quantity: expect.any(String), notional: expect.any(String) },
    ]);
    expect(Number(holds[0]?.notional)).toBeGreaterThan(5);
    expect(worst).toMatchObject({ liquidation: null, exposure: { multiple: "1", value: used } });
    expect(worst.words).toEqual([
      expect.stringMatching(/^On spot nothing is borrowed/),
      expect.stringMatching(/^The stop loss closes everything once 20 % are lost/),
    ]);
    const none = await preview({ symbols: ["ETHUSDT"], exposureMax: "0.5" });
    expect(none.holds).toMatchObject([{ symbol: "BTCUSDT", quantity: null, notional: null }]);
    expect(none.worst.exposure?.multiple).toBe("0.5");
    expect(none.rows.map(({ skip }) => skip?.reason)).toEqual(none.rows.map(() => "SYMBOL_NOT_ALLOWED"));
  });

  test("of futures has the price move that would liquidate a position, with the copied leverage", async () => {
    const futures = await newLead(fixture, "FUTURES", trader.personId);
    const send = async (path: string, terms: Readonly<Record<string, string>>) => {
      fixture.pass(1_000);
      const sent = { symbol: "BTCUSDT", ...terms, timestamp: fixture.wallNow() };
      const { status, body } = await signed(fixture.url, futures, "POST", path, sent);
      if (status !== 200) throw new Error(`refused: ${JSON.stringify(body)}`);
    };
    await send("/fapi/v1/leverage", { leverage: "100" });
    await send("/fapi/v1/order", { side: "BUY", type: "MARKET", quantity: "0.1" });
    await catchUp(fixture, futures.strategyId);
    const own = (await connectAccount(fixture, copier, "FUTURES")).accountId;
    const asked = async (settings: object): Promise<PreviewJson> =>
      await copier.send("POST", "/copying/preview", {
        ...{ strategyId: futures.strategyId, accountId: own },
        settings: { ...SETTINGS, ...settings },
      });
    const exact = await asked({});
    expect(exact.worst.liquidation).toMatchObject({ symbol: "BTCUSDT", leverage: 100 });
    expect(exact.worst.exposure?.multiple).toBe("100");
    expect(exact.worst.words[0]).toMatch(/^At leverage 100 without a cap, a move of about 0\.[4-9] % would/);
    expect(exact.holds).toMatchObject([{ symbol: "BTCUSDT", side: "BUY", quantity: expect.any(String) }]);
    const capped = await asked({ leverageMax: 5, positionMax: "2", exposureMax: "5" });
    expect(Number(capped.worst.liquidation?.move)).toBeGreaterThan(0.18);
    expect(capped.worst.words[0]).toMatch(/your maximum \(the strategy uses 100\)/);
    // Cut to twice the equity.
    expect(Number(capped.holds[0]?.notional)).toBeLessThanOrEqual(2 * Number(capped.used));
    expect(Number(capped.holds[0]?.notional)).toBeLessThan(Number(exact.holds[0]?.notional));
    expect(capped.rows[0]?.skip).toBeNull();
  });

  test("has for each order that would be skipped the reason, and what it lacked", async () => {
    const { rows, copied, skipped, used, wallet } = await preview({ share: "0.01" });
    expect(Number(used)).toBeCloseTo(Number(wallet) / 100, 6);
    expect({ copied, skipped }).toEqual({ copied: 0, skipped: 3 });
    for (const { quantity, notional, skip } of rows) {
      expect({ quantity, notional }).toEqual({ quantity: null, notional: null });
      expect(skip?.reason).toMatch(/^BELOW_MIN_/);
      expect(skip?.words).toMatch(/^[A-Z].*\.$/);
      expect(Number(skip?.shortfall)).toBeCloseTo(Number(skip?.wanted) - Number(skip?.had), 8);
    }
  });

  test("reckons with what a copy on the account holds already, as its next order will", async () => {
    const other = await fixture.somebody({ profile: "COPIER" });
    const { accountId: own } = await connectAccount(fixture, other, "SPOT");
    const body = { strategyId: lead.strategyId, accountId: own, settings: { ...SETTINGS, share: "0.5" } };
    const copyId = await follow(other, lead.strategyId, own);
    const before: PreviewJson = await other.send("POST", "/copying/preview", body);
    await record(fixture, copyId, {
      entries: [],
      book: { holdings: new Map([["BTCUSDT", { quantity: decimal("1"), cost: decimal("50000") }]]) },
    });
    const { rows, ...told }: PreviewJson = await other.send("POST", "/copying/preview", body);
    expect(before).toMatchObject({ held: "0" });
    expect(told.wallet).toBe(before.wallet);
    expect(Number(told.held)).toBeGreaterThan(10_000);
    expect(Number(told.used)).toBeCloseTo((Number(told.wallet) + Number(told.held)) / 2, 6);
    // The orders are larger by as much as what there is to work with.
    const grown = Number(told.used) / Number(before.used);
    const [newest, was] = [rows[0], before.rows[0]];
    expect(Number(newest?.scaledQuantity) / Number(was?.scaledQuantity)).toBeCloseTo(grown, 1);
  });

  test("has the strategy's sizes, and exact ones, for those only whose copy follows it", async () => {
    const other = await fixture.somebody({ profile: "COPIER" });
    const { accountId: own } = await connectAccount(fixture, other, "SPOT");
    // By a ratio that a person sets, sizes that are exact would be the strategy's own.
    const size = { by: "FIXED_RATIO", ratio: "1" };
    const body = { strategyId: lead.strategyId, accountId: own, settings: { ...SETTINGS, size } };
    const ask = async (): Promise<PreviewJson> => await other.send("POST", "/copying/preview", body);
    const digitsOf = (text: string | null | undefined) =>
      (text ?? "").replace(".", "").replace(/^0+/, "").replace(/0+$/, "").length;
    const expectRounded = ({ isRounded, rows, holds }: PreviewJson) => {
      expect(isRounded).toBe(true);
      expect(rows.map(({ leadQuantity, scaledQuantity }) => [leadQuantity, scaledQuantity])).toEqual(
        rows.map(() => [null, null]),
      );
      expect(holds).toHaveLength(1);
      for (const { quantity, notional } of [...rows, ...holds]) {
        expect(digitsOf(quantity)).toBeLessThanOrEqual(2);
        expect(digitsOf(notional)).toBeLessThanOrEqual(2);
      }
    };
    const never = await ask();
    expectRounded(never);
    const copyId = await follow(other, lead.strategyId, own);
    const active = await ask();
    expect(active.isRounded).toBe(false);
    expect(active.rows.map(({ scaledQuantity }) => scaledQuantity)).toEqual(
      active.rows.map(({ leadQuantity }) => leadQuantity),
    );
    expect(Number(active.rows[0]?.leadQuantity)).toBeGreaterThan(0);
    const [held] = active.holds;
    expect(digitsOf(held?.quantity)).toBeGreaterThan(2);
    expect(Number(never.holds[0]?.quantity)).toBeLessThan(Number(held?.quantity));
    await other.send("POST", `/copies/${copyId}/stop`, { closesAll: false });
    const stopped = await ask();
    expectRounded(stopped);
    // A reason is no more exact.
    const small = { ...body, settings: { ...SETTINGS, share: "0.01" } };
    const skips = ((await other.send("POST", "/copying/preview", small)) as PreviewJson).rows;
    for (const { skip } of skips) expect(digitsOf(skip?.had)).toBeLessThanOrEqual(2);
    expect(skips.length).toBeGreaterThan(0);
  });

  test("is of the strategy's own type, and of a key that the venue still accepts", async () => {
    const futures = (await connectAccount(fixture, copier, "FUTURES")).accountId;
    const body = { strategyId: lead.strategyId, accountId: futures, settings: SETTINGS };
    const refused = await copier.call("POST", "/copying/preview", { body });
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { fields: { accountId: expect.any(String) } } },
    });
    const ended = await connectAccount(fixture, copier, "SPOT");
    for (const { key } of await fixture.gateway.store.listKeys()) {
      const account = await fixture.gateway.store.copying.findAccount(ended.accountId);
      if (key.apiKey.startsWith(account?.keyHint ?? "?"))
        await fixture.gateway.store.revokeKey(key.apiKey, 1);
    }
    const answer = await copier.call("POST", "/copying/preview", {
      body: { ...body, accountId: ended.accountId },
    });
    expect(answer).toMatchObject({ status: 409, body: { error: { code: "STATE_CHANGED" } } });
    expect(answer.body.error.message).toMatch(/does not accept/);
  });
});

describe("a drift", () => {
  test("sets what the copy holds beside what the strategy's holding scales to, with the cause and the repair", async () => {
    const other = await fixture.somebody({ profile: "COPIER" });
    const { accountId: own } = await connectAccount(fixture, other, "SPOT");
    const copyId = await follow(other, lead.strategyId, own);
    expect(await other.get(`/copies/${copyId}/drift`)).toEqual({
      rows: [],
      hiddenBecause: null,
      seenAt: null,
      pending: [],
    });
    const wallet = decimal<never>("1000");
    const held = new Map([["BTCUSDT", decimal<never>("1")]]);
    await record(fixture, copyId, {
      entries: [],
      book: {
        holdings: new Map([["BTCUSDT", { quantity: decimal("1"), cost: decimal("50000") }]]),
        startEquity: wallet,
        snapshot: { at: fixture.wallNow(), wallet, available: wallet, equity: wallet, held },
      },
    });
    const { rows, seenAt }: Endpoints["GET /copies/:copyId/drift"]["answer"] = await other.get(
      `/copies/${copyId}/drift`,
    );
    expect(seenAt).not.toBeNull();
    const [row] = rows;
    expect(rows).toHaveLength(1);
    expect(row).toMatchObject({ symbol: "BTCUSDT", asset: "BTC", own: "1", actual: "1" });
    expect(Number(row?.difference)).toBeCloseTo(1 - Number(row?.target), 8);
    expect(Number(row?.lead)).toBeGreaterThan(0);
    expect(row?.repair).toMatchObject({ side: "SELL", increases: false });
    expect(row?.words).toMatch(/^[A-Z].*\.$/);
  });

  test("shows nothing of the strategy's holdings once the copy has ended; the log stays", async () => {
    const other = await fixture.somebody({ profile: "COPIER" });
    const { accountId: own } = await connectAccount(fixture, other, "SPOT");
    const copyId = await follow(other, lead.strategyId, own);
    const wallet = decimal<never>("1000");
    const held = new Map([["BTCUSDT", decimal<never>("1")]]);
    await record(fixture, copyId, {
      entries: [lineOf(copyId, 1)],
      book: {
        startEquity: wallet,
        snapshot: { at: fixture.wallNow(), wallet, available: wallet, equity: wallet, held },
      },
    });
    const drift = () => other.get(`/copies/${copyId}/drift`);
    expect(await drift()).toMatchObject({ rows: [{ symbol: "BTCUSDT" }], hiddenBecause: null });
    await other.send("POST", `/copies/${copyId}/stop`, { closesAll: false });
    await trade({ side: "BUY", type: "MARKET", quoteOrderQty: "20" });
    await catchUp(fixture, lead.strategyId);
    expect(await drift()).toMatchObject({
      rows: [],
      hiddenBecause: expect.stringMatching(/^The copy has ended\..*only.*\.$/),
    });
    // Neither here nor anywhere else about the copy.
    expect(await other.get(`/copies/${copyId}`)).toMatchObject({ status: "STOPPED", behind: null });
    expect((await other.get(`/copies/${copyId}/entries`)).rows).toHaveLength(1);
    await trader.send("PUT", `/strategies/${lead.strategyId}/copying`, { isOpen: false });
    const preview = { strategyId: lead.strategyId, accountId: own, settings: SETTINGS };
    expect((await other.call("POST", "/copying/preview", { body: preview })).status).toBe(404);
    expect((await other.call("GET", `/copying/offers/${lead.strategyId}`)).status).toBe(404);
    await trader.send("PUT", `/strategies/${lead.strategyId}/copying`, { isOpen: true });
  });
});

describe("a trader, and an operator", () => {
  test("see what was copied, skipped and failed, and slippage", async () => {
    const { strategyId } = await newLead(fixture, "SPOT", trader.personId);
    const path = `/strategies/${strategyId}/copying`;
    expect(await trader.get(path)).toEqual({
      isOpen: true,
      isOffered: true,
      copiers: { FOLLOWING: 0, PAUSED: 0, CLOSING: 0, STOPPED: 0 },
      behind: 0,
      counts: { placed: 0, skipped: 0, failed: 0, byReason: [] },
      gap: { bySymbol: [], bySize: [], orders: [], range: null },
      halted: null,
      closing: null,
    });
    const other = await fixture.somebody({ profile: "COPIER" });
    const copyId = await follow(other, strategyId, (await connectAccount(fixture, other, "SPOT")).accountId);
    const at = fixture.wallNow();
    const times = { leadAt: at, sentAt: at + 10, acknowledgedAt: at + 40, updatedAt: at + 40 };
    const skip = {
      reason: "ORDER_CAP",
      filter: null,
      wanted: null,
      had: null,
      unit: null,
      venue: null,
    } as const;
    const none = { executedQuantity: decimal<never>("0"), executedQuote: decimal<never>("0") };
    await record(fixture, copyId, {
      entries: [
        { ...lineOf(copyId, 1), ...times, collectiveId: collectiveId(strategyId, 7) },
        {
          ...{ ...lineOf(copyId, 2), ...times, collectiveId: collectiveId(strategyId, 9) },
          ...{ executedQuote: decimal("251"), leadAt: at - 5 },
        },
        { ...lineOf(copyId, 3), ...times, ...none, status: "SKIPPED", skip },
        { ...lineOf(copyId, 4), ...times, ...none, status: "FAILED", skip: { ...skip, reason: "REFUSED" } },
      ],
    });
    fixture.pass(60_000);
    const told = await trader.get(path);
    expect(told).toMatchObject({
      copiers: { FOLLOWING: 1 },
      counts: { placed: 2, skipped: 1, failed: 1 },
      gap: { bySymbol: [{ symbol: "BTCUSDT", orders: 2, worstBps: "40", meanDelayMs: 43 }] },
    });
    expect(told.counts.byReason).toHaveLength(2);
    expect(told.gap.range).toEqual({ from: at - 5, to: at, copiesPerOrder: 50 });
    // The answer contains the strategy's own size, but not what the copy bought, which would reveal its
    // owner's funds.
    expect(told.gap.orders).toEqual([
      {
        ...{ strategyId, strategyName: "On offer (SPOT)", collectiveId: collectiveId(strategyId, 7) },
        ...{ orderId: 7, at, symbol: "BTCUSDT", side: "BUY", quantity: "0.01", paper: "50000" },
        ...{ copies: 1, isCut: false, orders: 1, medianBps: "10", worstBps: "10", meanDelayMs: 40 },
      },
      expect.objectContaining({ orderId: 9, at: at - 5, medianBps: "40", meanDelayMs: 45 }),
    ]);
    const operator = await fixture.somebody({ role: "OPERATOR" });
    const all = await operator.get("/operator/copying");
    expect(all.counts.placed).toBeGreaterThanOrEqual(2);
    expect(all.copies.FOLLOWING).toBeGreaterThanOrEqual(1);
    const [venue] = all.venues;
    expect(venue).toMatchObject({ origin: fixture.url, isHalted: false });
    expect(venue.accounts).toBeGreaterThanOrEqual(2);
  });

  test("see how many copies do not keep up, and so does the copier, but not for moments", async () => {
    const { strategyId } = await newLead(fixture, "SPOT", trader.personId);
    const other = await fixture.somebody({ profile: "COPIER" });
    const copyId = await follow(other, strategyId, (await connectAccount(fixture, other, "SPOT")).accountId);
    const operator = await fixture.somebody({ role: "OPERATOR" });
    const behind = async () => [
      (await other.get(`/copies/${copyId}`)).behind?.actions ?? 0,
      (await trader.get(`/strategies/${strategyId}/copying`)).behind,
      (await operator.get("/operator/copying")).behind,
    ];
    const [, , others = 0] = await behind();
    const at = fixture.wallNow();
    await actAt(fixture, strategyId, at);
    // Each question takes a second.
    fixture.pass(7_000);
    expect(await behind()).toEqual([0, 0, others]);
    fixture.pass(5_000);
    expect(await behind()).toEqual([1, 1, others + 1]);
    expect((await other.get(`/copies/${copyId}`)).behind).toEqual({ actions: 1, since: at });
  });

  test("see beforehand that copying is not offered where the operator allows no venue", async () => {
    const { strategyId } = await newLead(fixture, "SPOT", trader.personId);
    const path = `/strategies/${strategyId}/copying`;
    await trader.send("PUT", path, { isOpen: false });
    const allowed = fixture.venues.splice(0);
    const told = await trader.get(path);
    const opened = await trader.call("PUT", path, { body: { isOpen: true } });
    fixture.venues.push(...allowed);
    expect(told).toMatchObject({ isOpen: false, isOffered: false });
    expect(opened).toMatchObject({ status: 409, body: { error: { code: "COPYING_NOT_OFFERED" } } });
  });

  test("see the progress of a strategy's closing for its copiers, but not for those who had stopped before", async () => {
    const { strategyId } = await newLead(fixture, "SPOT", trader.personId);
    const path = `/strategies/${strategyId}`;
    const copies: string[] = [];
    for (const _ of [1, 2, 3]) {
      const other = await fixture.somebody({ profile: "COPIER" });
      const { accountId: own } = await connectAccount(fixture, other, "SPOT");
      const copyId = await follow(other, strategyId, own);
      copies.push(copyId);
      if (copies.length === 1) await other.send("POST", `/copies/${copyId}/stop`, { closesAll: false });
    }
    const { confirmation } = await trader.get(`${path}/close-preview`);
    await trader.send("POST", `${path}/close`, { confirmation });
    const progress = async () => (await trader.get(`${path}/copying`)).closing;
    const idle = { why: "NOBODY_AT_WORK" };
    expect(await progress()).toEqual({ done: 0, total: 2, left: [{ ...idle, count: 2 }] });
    const operator = await fixture.somebody({ role: "OPERATOR" });
    fixture.pass(5_000);
    const { unclosed } = await operator.get("/operator/copying");
    expect(unclosed).toEqual([{ ...idle, count: 2 }]);
    const [, second = "", third = ""] = copies;
    const at = fixture.wallNow();
    const from = { status: "FOLLOWING", reason: null } as const;
    for (const [copyId, status] of [
      [second, "CLOSING"],
      [third, "STOPPED"],
    ] as const) {
      await record(fixture, copyId, { entries: [], moves: { from, status, reason: "STRATEGY_CLOSED", at } });
    }
    expect(await progress()).toEqual({ done: 1, total: 2, left: [{ ...idle, count: 1 }] });
    const closed = { status: "STOPPED", reason: "STRATEGY_CLOSED", at } as const;
    const moves = { ...closed, from: { ...closed, status: "CLOSING" } } as const;
    await record(fixture, second, { entries: [], moves });
    expect(await progress()).toEqual({ done: 2, total: 2, left: [] });
    expect((await trader.call("PUT", `${path}/copying`, { body: { isOpen: true } })).status).toBe(409);
  });
});

describe("a list of strategies that is longer than a page", () => {
  test("is listed newest first, page by page, with its count, and is searched by name", async () => {
    const before = (await copier.get("/copying/offers")).total;
    await newOffers(fixture, 101, trader.personId);
    const first: Offers = await copier.get("/copying/offers");
    expect(first.rows).toHaveLength(100);
    expect(first.total).toBe(before + 101);
    expect(first.rows[0]?.name).toBe("Offer 101");
    expect(first.rows.map(({ name }) => name)).not.toContain("Offer 1");
    const second: Offers = await copier.get(`/copying/offers?before=${first.next}`);
    expect(second.rows[0]?.name).toBe("Offer 1");
    expect(second).toMatchObject({ next: null, total: before + 101 });
    const found: Offers = await copier.get("/copying/offers?search=OFFER%201");
    expect(found.total).toBe(13);
    expect(found.rows.at(-1)?.name).toBe("Offer 1");
    expect(await copier.get("/copying/offers?search=nowhere")).toEqual({ rows: [], next: null, total: 0 });
    expect((await copier.call("GET", "/copying/offers?before=yesterday")).status).toBe(400);
  });
});
