// A spot strategy and its copiers, from end to end: two real gateways, one of them the venue, and a market
// that the test controls. The expected final holdings are computed from the strategy's orders alone.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { MirrorEntry } from "../../src/domain/copying.ts";
import { signedUnits } from "../support/exact.ts";
import type { Copier, Lead } from "./actors.ts";
import { expectSpot, SPOT_SEED } from "./agreement.ts";
import { Visitor } from "./browser-client.ts";
import { CopyFixture } from "./fixture.ts";
import { SpotSums, scaled, shareOf } from "./sums.ts";

const BTC = "BTCUSDT";
const ETH = "ETHUSDT";
const DOGE = "DOGEUSDT";
const STEPS: Readonly<Record<string, string>> = { [BTC]: "0.00001", [ETH]: "0.0001", [DOGE]: "1" };
const LIMIT = { type: "LIMIT", timeInForce: "GTC" };
const BUY = "BUY";
const SELL = "SELL";

let fixture: CopyFixture;

beforeAll(async () => {
  fixture = await CopyFixture.open();
  await fixture.setPrice("SPOT", BTC, { bid: "50000", ask: "50010" });
  await fixture.setPrice("SPOT", ETH, { bid: "2000", ask: "2001" });
  await fixture.setPrice("SPOT", DOGE, { bid: "0.1", ask: "0.1001" });
});
afterAll(async () => {
  await fixture.close();
});

/**
 * The strategy's own sums, and what its orders make of the account of somebody who works with a share of it.
 */
class Beside {
  readonly lead = new SpotSums(SPOT_SEED);
  readonly copy = new SpotSums(SPOT_SEED);
  readonly #share: string;

  constructor(share: string) {
    this.#share = share;
  }

  /** What an order to buy comes to for the copy. */
  bought(symbol: string, quantity: string): bigint {
    const prices = this.#prices();
    const coins = this.copy.equity(prices) - this.copy.quote;
    const ours = shareOf(this.copy.quote + coins, this.#share);
    return scaled(quantity, ours, this.lead.equity(prices), STEPS[symbol] ?? "");
  }

  sold(symbol: string, quantity: string): bigint {
    return scaled(quantity, this.copy.of(symbol), this.lead.of(symbol), STEPS[symbol] ?? "");
  }

  #prices(): Readonly<Record<string, string>> {
    return Object.fromEntries([BTC, ETH, DOGE].map((symbol) => [symbol, fixture.market.price(symbol).bid]));
  }
}

function of(kind: MirrorEntry["kind"], entries: readonly MirrorEntry[]): readonly MirrorEntry[] {
  return entries.filter((entry) => entry.kind === kind);
}

async function place(lead: Lead, order: Readonly<Record<string, string>>) {
  const placed = await fixture.trade(lead, "POST", "/api/v3/order", order);
  await fixture.caughtUp(lead);
  return placed;
}

async function isFilled(lead: Lead, symbol: string, orderId: number): Promise<void> {
  await fixture.leadOrderIs(lead, "/api/v3/order", { symbol, orderId }, "FILLED");
  await fixture.caughtUp(lead);
}

describe("a spot strategy that is followed from its first order on", () => {
  const SHARE = "0.5";
  const beside = new Beside(SHARE);
  let visitor: Visitor;
  let lead: Lead;
  let copier: Copier;
  /** Too small for anything. */
  let small: Copier;

  beforeAll(async () => {
    lead = await fixture.newLead("SPOT");
    small = await fixture.newCopier(lead, { share: "0.02" });
  });

  test("somebody connects an account and follows, as people do", async () => {
    const { gateway } = fixture.lead;
    visitor = await Visitor.signUp(gateway.url, fixture.lead, {});
    const venue = await fixture.newVenueAccount("SPOT");
    expect((await visitor.get("/copying/venues")).rows).toEqual([{ origin: fixture.venue.gateway.url }]);
    const { account, wallet } = await visitor.send("POST", "/copying/accounts", {
      ...{ family: "SPOT", venue: fixture.venue.gateway.url, label: "My account" },
      ...{ apiKey: venue.apiKey, apiSecret: venue.apiSecret, code: await visitor.code() },
    });
    expect(signedUnits(wallet)).toBe(signedUnits(SPOT_SEED));
    const { rows } = await visitor.get("/copying/offers?type=SPOT");
    expect(rows.map((offer: { strategyId: string }) => offer.strategyId)).toContain(lead.strategyId);
    const { accountId } = account;
    const settings = { share: SHARE, maxPerOrder: null, stopLoss: null };
    const { copyId } = await visitor.send("POST", "/copies", {
      strategyId: lead.strategyId,
      accountId,
      settings,
    });
    copier = { personId: visitor.personId, accountId, copyId, venue };
    expect(fixture.lead.gateway.output()).not.toContain(venue.apiSecret);
  });

  test("an order at the market's price is mirrored scaled; what is too small is skipped, with the shortfall", async () => {
    const size = beside.bought(BTC, "0.001");
    await place(lead, { symbol: BTC, side: BUY, type: "MARKET", quantity: "0.001" });
    beside.lead.buy(BTC, signedUnits("0.001"), "50010");
    beside.copy.buy(BTC, size, "50010");
    await expectSpot(fixture, copier, beside.copy);
    const [entry] = await fixture.entriesOf(copier);
    expect(entry).toMatchObject({ kind: "PLACE", status: "FILLED", quantity: size, executedQuantity: size });
    expect(entry?.sends).toBe(1);
    const [skipped] = await fixture.entriesOf(small);
    expect(skipped).toMatchObject({ status: "SKIPPED", clientOrderId: null, sends: 0 });
    expect(skipped?.skip).toMatchObject({ reason: "BELOW_MIN_NOTIONAL", filter: "NOTIONAL", unit: "QUOTE" });
    expect(skipped?.skip?.wanted).toBe(signedUnits("5"));
    // 0.02 × 200 of 200, of 0.001 BTC: two steps, worth a dollar.
    expect(skipped?.quantity).toBe(signedUnits("0.00002"));
    expect(skipped?.skip?.had ?? 0n).toBeLessThanOrEqual(signedUnits("1.0002"));
    expect(skipped?.skip?.had ?? 0n).toBeGreaterThanOrEqual(signedUnits("1"));
  });

  test("an amount to be spent is mirrored by what it bought", async () => {
    const { executedQty } = await fixture.trade(lead, "POST", "/api/v3/order", {
      ...{ symbol: ETH, side: BUY, type: "MARKET", quoteOrderQty: "40" },
    });
    const size = beside.bought(ETH, executedQty);
    await fixture.caughtUp(lead);
    beside.lead.buy(ETH, signedUnits(executedQty), "2001");
    beside.copy.buy(ETH, size, "2001");
    await expectSpot(fixture, copier, beside.copy);
  });

  test("a resting limit rests at the venue, and goes with its cancel", async () => {
    const size = beside.bought(DOGE, "200");
    const { orderId } = await place(lead, {
      symbol: DOGE,
      side: BUY,
      ...LIMIT,
      quantity: "200",
      price: "0.09",
    });
    const resting = await fixture.atVenue(copier, "GET", "/api/v3/openOrders");
    expect(resting).toMatchObject([{ symbol: DOGE, side: BUY, type: "LIMIT", status: "NEW" }]);
    expect([signedUnits(resting[0].origQty), signedUnits(resting[0].price)]).toEqual([
      size,
      signedUnits("0.09"),
    ]);
    await fixture.trade(lead, "DELETE", "/api/v3/order", { symbol: DOGE, orderId });
    await fixture.caughtUp(lead);
    expect(await fixture.atVenue(copier, "GET", "/api/v3/openOrders")).toEqual([]);
    expect(of("PLACE", await fixture.entriesOf(copier)).at(-1)).toMatchObject({ status: "CANCELED" });
    await expectSpot(fixture, copier, beside.copy);
  });

  test("a limit is filled there as here, to buy and to sell", async () => {
    const size = beside.bought(DOGE, "300");
    const bought = await place(lead, { symbol: DOGE, side: BUY, ...LIMIT, quantity: "300", price: "0.095" });
    await fixture.setPrice("SPOT", DOGE, { bid: "0.0949", ask: "0.095" });
    await isFilled(lead, DOGE, bought.orderId);
    beside.lead.buy(DOGE, signedUnits("300"), "0.095");
    beside.copy.buy(DOGE, size, "0.095");
    await fixture.looksUntil("the copy's limit is filled", copier, (_copy, entries) =>
      entries.every(({ status }) => status !== "RESTING"),
    );
    await expectSpot(fixture, copier, beside.copy);

    const part = beside.sold(DOGE, "120");
    const sold = await place(lead, { symbol: DOGE, side: SELL, ...LIMIT, quantity: "120", price: "0.11" });
    await fixture.setPrice("SPOT", DOGE, { bid: "0.11", ask: "0.1101" });
    await isFilled(lead, DOGE, sold.orderId);
    beside.lead.sell(DOGE, signedUnits("120"), "0.11");
    beside.copy.sell(DOGE, part, "0.11");
    await fixture.looksUntil("the copy's limit is filled", copier, (_copy, entries) =>
      entries.every(({ status }) => status !== "RESTING"),
    );
    await expectSpot(fixture, copier, beside.copy);
  });

  test("stops wait at the venue and trigger there by themselves", async () => {
    const part = beside.sold(BTC, "0.0004");
    const stop = await place(lead, {
      ...{ symbol: BTC, side: SELL, type: "STOP_LOSS", quantity: "0.0004", stopPrice: "49000" },
    });
    expect(await fixture.atVenue(copier, "GET", "/api/v3/openOrders")).toMatchObject([
      { symbol: BTC, type: "STOP_LOSS", status: "NEW" },
    ]);
    await fixture.setPrice("SPOT", BTC, { bid: "48900", ask: "48910" });
    await isFilled(lead, BTC, stop.orderId);
    beside.lead.sell(BTC, signedUnits("0.0004"), "48900");
    beside.copy.sell(BTC, part, "48900");

    const half = beside.sold(ETH, "0.01");
    const limit = await place(lead, {
      ...{ symbol: ETH, side: SELL, type: "STOP_LOSS_LIMIT", timeInForce: "GTC" },
      ...{ quantity: "0.01", stopPrice: "1900", price: "1890" },
    });
    await fixture.setPrice("SPOT", ETH, { bid: "1895", ask: "1896" });
    await isFilled(lead, ETH, limit.orderId);
    beside.lead.sell(ETH, signedUnits("0.01"), "1895");
    beside.copy.sell(ETH, half, "1895");
    await fixture.looksUntil("the copy's stops have triggered", copier, (_copy, entries) =>
      entries.every(({ status }) => status !== "RESTING"),
    );
    await expectSpot(fixture, copier, beside.copy);
  });

  test("who is paused opens nothing, and still follows what reduces; resumed it goes on", async () => {
    await visitor.send("POST", `/copies/${copier.copyId}/pause`);
    await fixture.isKnown(copier);
    await place(lead, { symbol: DOGE, side: BUY, type: "MARKET", quantity: "100" });
    beside.lead.buy(DOGE, signedUnits("100"), "0.1101");
    const paused = of("PLACE", await fixture.entriesOf(copier)).at(-1);
    expect(paused).toMatchObject({ status: "SKIPPED", skip: { reason: "PAUSED" }, sends: 0 });
    const part = beside.sold(DOGE, "50");
    await place(lead, { symbol: DOGE, side: SELL, type: "MARKET", quantity: "50" });
    beside.lead.sell(DOGE, signedUnits("50"), "0.11");
    beside.copy.sell(DOGE, part, "0.11");
    await expectSpot(fixture, copier, beside.copy);
    await visitor.send("POST", `/copies/${copier.copyId}/resume`);
    const size = beside.bought(DOGE, "100");
    await fixture.looksUntil("the venue's prices are those of now", copier, ({ book }) =>
      isNear(book.snapshot?.equity ?? 0n, equityOf(beside, SHARE)),
    );
    await place(lead, { symbol: DOGE, side: BUY, type: "MARKET", quantity: "100" });
    beside.lead.buy(DOGE, signedUnits("100"), "0.1101");
    beside.copy.buy(DOGE, size, "0.1101");
    await expectSpot(fixture, copier, beside.copy);
  });

  test("while a kill switch is set nothing is sent, the log says what would have been, and it is made up for", async () => {
    await visitor.send("POST", `/copies/${copier.copyId}/halt`, { reason: "I want to look first." });
    await fixture.isKnown(copier);
    const order = { symbol: DOGE, side: SELL, type: "MARKET", quantity: "50" };
    const missed = beside.sold(DOGE, "50");
    await place(lead, order);
    beside.lead.sell(DOGE, signedUnits("50"), "0.11");
    const halted = of("PLACE", await fixture.entriesOf(copier)).at(-1);
    expect(halted).toMatchObject({ status: "SKIPPED", skip: { reason: "HALTED" }, sends: 0 });
    await expectSpot(fixture, copier, beside.copy);
    await visitor.send("DELETE", `/copies/${copier.copyId}/halt`);
    await fixture.looksUntil("the missed sale is made up for", copier, (_copy, entries) =>
      entries.some(
        ({ entryId, kind, status }) =>
          entryId > (halted?.entryId ?? 0) && kind === "RECONCILE" && status === "FILLED",
      ),
    );
    beside.copy.sell(DOGE, missed, "0.11");
    const part = beside.sold(DOGE, "50");
    await place(lead, order);
    beside.lead.sell(DOGE, signedUnits("50"), "0.11");
    beside.copy.sell(DOGE, part, "0.11");
    await expectSpot(fixture, copier, beside.copy);
  });

  test("the log explains each line, as its copier sees it", async () => {
    const { rows } = await visitor.get(`/copies/${copier.copyId}/entries`);
    expect(rows.length).toBe((await fixture.entriesOf(copier)).length);
    for (const row of rows) {
      if (row.status === "SKIPPED") expect(row.skip.words).toMatch(/\.$/);
      if (row.status === "FILLED" && row.kind === "PLACE") {
        expect(row.slippageBps).not.toBeNull();
        expect(row.delayMs).toBeGreaterThanOrEqual(0);
      }
    }
    const first = rows.at(-1);
    // Bought at the same price as the strategy, on the same market.
    expect(Number(first.slippageBps)).toBe(0);
  });

  test("the strategy is closed, and with it every copy: nothing is held, nothing rests", async () => {
    await place(lead, { symbol: DOGE, side: BUY, ...LIMIT, quantity: "200", price: "0.09" });
    await fixture.trade(lead, "POST", "/api/v3/platform/strategy/close");
    for (const each of [copier, small]) {
      await fixture.becomes(
        "the copy is stopped",
        each,
        ({ status, reason }) => status === "STOPPED" && reason === "STRATEGY_CLOSED",
      );
    }
    expect(await fixture.atVenue(copier, "GET", "/api/v3/openOrders")).toEqual([]);
    for (const symbol of [BTC, ETH, DOGE]) {
      const held = beside.copy.of(symbol);
      // Dust below a step, or worth less than the venue takes, stays.
      const sold = held - (held % signedUnits(STEPS[symbol] ?? ""));
      const { bid } = fixture.market.price(symbol);
      if ((sold * signedUnits(bid)) / signedUnits("1") >= signedUnits(symbol === DOGE ? "1" : "5"))
        beside.copy.sell(symbol, sold, bid);
    }
    await expectSpot(fixture, copier, beside.copy);
  });
});

describe("a spot strategy with a history", () => {
  let lead: Lead;

  beforeAll(async () => {
    lead = await fixture.newLead("SPOT");
  });

  test("a late copier mirrors later orders, and the log says which began before", async () => {
    await fixture.trade(lead, "POST", "/api/v3/order", {
      symbol: DOGE,
      side: BUY,
      type: "MARKET",
      quantity: "300",
    });
    const { orderId } = await fixture.trade(lead, "POST", "/api/v3/order", {
      ...{ symbol: DOGE, side: BUY, ...LIMIT, quantity: "200", price: "0.09" },
    });
    const late = await fixture.newCopier(lead);
    await fixture.trade(lead, "DELETE", "/api/v3/order", { symbol: DOGE, orderId });
    await place(lead, { symbol: DOGE, side: SELL, type: "MARKET", quantity: "100" });
    const entries = await fixture.entriesOf(late);
    expect(of("PLACE", entries)).toMatchObject([
      { side: SELL, status: "SKIPPED", skip: { reason: "NOTHING_HELD" } },
    ]);
    for (const { skip } of of("CANCEL", entries)) expect(skip?.reason).toBe("NOT_MIRRORED");
    expect((await fixture.atVenue(late, "GET", "/api/v3/allOrders", { symbol: DOGE })).length).toBe(0);
    await place(lead, { symbol: DOGE, side: BUY, type: "MARKET", quantity: "100" });
    expect(of("PLACE", await fixture.entriesOf(late)).at(-1)).toMatchObject({ side: BUY, status: "FILLED" });
  });

  test("a copy whose loss reaches its stop sells all, is paused, and stays so", async () => {
    const stopped = await fixture.newCopier(lead, { stopLoss: "0.1" });
    const going = await fixture.newCopier(lead);
    await place(lead, { symbol: ETH, side: BUY, type: "MARKET", quantity: "0.05" });
    expect(of("PLACE", await fixture.entriesOf(stopped))).toMatchObject([{ status: "FILLED" }]);
    const { ask } = fixture.market.price(ETH);
    // Half of the account is lost by a quarter, and more: beyond the tenth that it may lose.
    const bid = (Number(ask) * 0.7).toFixed(2);
    await fixture.setPrice("SPOT", ETH, { bid, ask: (Number(bid) + 1).toFixed(2) });
    await fixture.looksUntil(
      "the stop loss has acted",
      stopped,
      ({ status, reason }) => status === "PAUSED" && reason === "STOP_LOSS",
    );
    expect((await fixture.copyOf(going)).status).toBe("FOLLOWING");
    const { balances } = await fixture.atVenue(stopped, "GET", "/api/v3/account");
    const eth = balances.find(({ asset }: { asset: string }) => asset === "ETH");
    expect(signedUnits(eth?.free ?? "0")).toBeLessThan(signedUnits("0.0001"));
    await place(lead, { symbol: DOGE, side: BUY, type: "MARKET", quantity: "50" });
    expect(of("PLACE", await fixture.entriesOf(stopped)).at(-1)).toMatchObject({
      skip: { reason: "PAUSED" },
    });
  });

  test("a copy whose key the venue no longer takes is paused and says so", async () => {
    const revoked = await fixture.newCopier(lead);
    await fixture.revoke(revoked);
    await place(lead, { symbol: DOGE, side: BUY, type: "MARKET", quantity: "60" });
    await fixture.becomes(
      "the copy is paused",
      revoked,
      ({ status, reason }) => status === "PAUSED" && reason === "CREDENTIALS",
    );
    expect((await fixture.lead.store.copying.findAccount(revoked.accountId))?.status).toBe("FAILED");
  });
});

/** What a copy with a share of the account is worth: what it began with, and what was won or lost since. */
function equityOf({ copy }: Beside, share: string): bigint {
  const prices = Object.fromEntries(
    [BTC, ETH, DOGE].map((symbol) => [symbol, fixture.market.price(symbol).bid]),
  );
  return shareOf(signedUnits(SPOT_SEED), share) + copy.equity(prices) - signedUnits(SPOT_SEED);
}

function isNear(one: bigint, other: bigint): boolean {
  const off = one > other ? one - other : other - one;
  return off < 1_000n;
}
