// A futures strategy and its copiers, from end to end, as on spot: leverage, entries, legs that come with an
// entry or alone and fire, reductions, a reversal through zero, a liquidation and the end.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { MirrorEntry } from "../../src/domain/copying.ts";
import { ZERO } from "../../src/money/decimal.ts";
import { signedUnits } from "../support/exact.ts";
import type { Copier, Lead } from "./actors.ts";
import { expectFutures, FUTURES_SEED } from "./agreement.ts";
import { CopyFixture } from "./fixture.ts";
import { FuturesSums, scaled, shareOf } from "./sums.ts";

const DOGE = "DOGEUSDT";
const ADA = "ADAUSDT";
const STEP = "1";
const SHARE = "0.5";
const ORDER = "/fapi/v1/order";
const LEG = "/fapi/v1/algoOrder";
const LIMIT = { type: "LIMIT", timeInForce: "GTC" };
const BUY = "BUY";
const SELL = "SELL";
const DOGE_PRICE = { bid: "0.1", ask: "0.1001" };
const ADA_PRICE = { bid: "0.5", ask: "0.5005" };

let fixture: CopyFixture;

beforeAll(async () => {
  fixture = await CopyFixture.open();
  await fixture.setPrice("FUTURES", DOGE, DOGE_PRICE);
  await fixture.setPrice("FUTURES", ADA, ADA_PRICE);
});
afterAll(async () => {
  await fixture.close();
});

async function send(
  lead: Lead,
  method: string,
  path: string,
  parameters: Readonly<Record<string, string | number>>,
) {
  const answer = await fixture.trade(lead, method, path, parameters);
  await fixture.caughtUp(lead);
  return answer;
}

const place = (lead: Lead, order: Readonly<Record<string, string>>) => send(lead, "POST", ORDER, order);

async function nothingRests(copier: Copier): Promise<void> {
  await fixture.looksUntil("nothing of the copy rests", copier, (_copy, entries) =>
    entries.every(({ status }) => status !== "RESTING"),
  );
}

function of(kind: MirrorEntry["kind"], entries: readonly MirrorEntry[]): readonly MirrorEntry[] {
  return entries.filter((entry) => entry.kind === kind);
}

const legsOf = (copier: Copier) => fixture.atVenue(copier, "GET", "/fapi/v1/openAlgoOrders", {});
const ordersOf = (copier: Copier) => fixture.atVenue(copier, "GET", "/fapi/v1/openOrders", {});

describe("a futures strategy that is followed from its first order on", () => {
  const lead = new FuturesSums(FUTURES_SEED);
  const copy = new FuturesSums(FUTURES_SEED);
  let strategy: Lead;
  let copier: Copier;
  /** Too small for anything. */
  let small: Copier;

  /** What an order that opens comes to. */
  const opening = (quantity: string) => scaled(quantity, shareOf(copy.wallet, SHARE), lead.wallet, STEP);
  /** What an order that reduces comes to. */
  const reducing = (symbol: string, quantity: string) => {
    const [ours, theirs] = [copy.of(symbol), lead.of(symbol)].map((held) => (held < 0n ? -held : held));
    return scaled(quantity, ours ?? 0n, theirs ?? 1n, STEP);
  };
  const agree = () => expectFutures(fixture, copier, copy, [DOGE, ADA]);

  beforeAll(async () => {
    strategy = await fixture.newLead("FUTURES");
    copier = await fixture.newCopier(strategy, { share: SHARE });
    small = await fixture.newCopier(strategy, { share: "0.001" });
  });

  test("an entry is scaled by the collateral, at the strategy's leverage and with isolated margin", async () => {
    await send(strategy, "POST", "/fapi/v1/leverage", { symbol: DOGE, leverage: 5 });
    const size = opening("1000");
    await place(strategy, { symbol: DOGE, side: BUY, type: "MARKET", quantity: "1000" });
    lead.trade(DOGE, signedUnits("1000"), DOGE_PRICE.ask, "TAKER");
    copy.trade(DOGE, size, DOGE_PRICE.ask, "TAKER");
    await agree();
    const [position] = await fixture.atVenue(copier, "GET", "/fapi/v2/positionRisk", { symbol: DOGE });
    expect(position).toMatchObject({ leverage: "5", marginType: "isolated" });
    const [skipped] = of("PLACE", await fixture.entriesOf(small));
    // A thousandth of a thousand, of a thousand: one of its thousand coins, worth a dime.
    expect(skipped).toMatchObject({ status: "SKIPPED", quantity: signedUnits("1"), sends: 0 });
    expect(skipped?.skip).toMatchObject({
      reason: "BELOW_MIN_NOTIONAL",
      wanted: signedUnits("5"),
      unit: "QUOTE",
    });
  });

  test("legs that come with an entry wait at the venue, too", async () => {
    const size = opening("100");
    await place(strategy, {
      ...{
        symbol: ADA,
        side: BUY,
        type: "MARKET",
        quantity: "100",
        takeProfitPrice: "0.6",
        stopLossPrice: "0.4",
      },
    });
    lead.trade(ADA, signedUnits("100"), ADA_PRICE.ask, "TAKER");
    copy.trade(ADA, size, ADA_PRICE.ask, "TAKER");
    await agree();
    const legs = await legsOf(copier);
    expect(legs.map((leg: { orderType: string }) => leg.orderType).sort()).toEqual([
      "STOP_MARKET",
      "TAKE_PROFIT_MARKET",
    ]);
  });

  test("a leg of its own fires at the venue by itself, and closes there what it closes here", async () => {
    await send(strategy, "POST", LEG, {
      ...{ symbol: DOGE, side: SELL, type: "STOP_MARKET", algoType: "CONDITIONAL" },
      ...{ closePosition: "true", triggerPrice: "0.095" },
    });
    expect((await legsOf(copier)).length).toBe(3);
    await fixture.setPrice("FUTURES", DOGE, { bid: "0.0949", ask: "0.095", mark: "0.0949" });
    await fixture.positionIs(strategy, DOGE, 0n);
    await fixture.caughtUp(strategy);
    await nothingOf(DOGE);
    lead.trade(DOGE, -lead.of(DOGE), "0.0949", "TAKER");
    copy.trade(DOGE, -copy.of(DOGE), "0.0949", "TAKER");
    await agree();
    await fixture.setPrice("FUTURES", DOGE, DOGE_PRICE);
  });

  test("the strategy's take profit fires, and its stop goes with it", async () => {
    await fixture.setPrice("FUTURES", ADA, { bid: "0.6001", ask: "0.6002", mark: "0.6001" });
    await fixture.positionIs(strategy, ADA, 0n);
    await fixture.caughtUp(strategy);
    await nothingOf(ADA);
    lead.trade(ADA, -lead.of(ADA), "0.6001", "TAKER");
    copy.trade(ADA, -copy.of(ADA), "0.6001", "TAKER");
    await agree();
    expect(await legsOf(copier)).toEqual([]);
    await fixture.setPrice("FUTURES", ADA, ADA_PRICE);
  });

  test("a limit rests, is cancelled, and another one is filled at its price", async () => {
    const order = { symbol: DOGE, side: SELL, ...LIMIT, quantity: "800" };
    const { orderId } = await place(strategy, { ...order, price: "0.11" });
    expect(await ordersOf(copier)).toMatchObject([
      { symbol: DOGE, side: SELL, type: "LIMIT", price: "0.110000" },
    ]);
    await send(strategy, "DELETE", ORDER, { symbol: DOGE, orderId });
    expect(await ordersOf(copier)).toEqual([]);
    const size = opening("800");
    const filled = await place(strategy, { ...order, price: "0.102" });
    await fixture.setPrice("FUTURES", DOGE, { bid: "0.102", ask: "0.1021" });
    await fixture.leadOrderIs(strategy, ORDER, { symbol: DOGE, orderId: filled.orderId }, "FILLED");
    await fixture.caughtUp(strategy);
    await nothingRests(copier);
    lead.trade(DOGE, -signedUnits("800"), "0.102", "MAKER");
    copy.trade(DOGE, -size, "0.102", "MAKER");
    await agree();
  });

  test("what reduces is scaled by the position; what goes through zero is the sum of both parts", async () => {
    const part = reducing(DOGE, "300");
    await place(strategy, { symbol: DOGE, side: BUY, type: "MARKET", quantity: "300", reduceOnly: "true" });
    lead.trade(DOGE, signedUnits("300"), "0.1021", "TAKER");
    copy.trade(DOGE, part, "0.1021", "TAKER");
    await agree();
    const held = -lead.of(DOGE);
    const own = -copy.of(DOGE);
    const turned = 200n * signedUnits("1");
    const opened = scaled("200", shareOf(copy.wallet, SHARE), lead.wallet, STEP);
    await place(strategy, {
      symbol: DOGE,
      side: BUY,
      type: "MARKET",
      quantity: String((held + turned) / signedUnits("1")),
    });
    lead.trade(DOGE, held + turned, "0.1021", "TAKER");
    copy.trade(DOGE, own + opened, "0.1021", "TAKER");
    await agree();
  });

  test("a leverage that is raised is raised there, where something is held", async () => {
    await send(strategy, "POST", "/fapi/v1/leverage", { symbol: DOGE, leverage: 8 });
    const [position] = await fixture.atVenue(copier, "GET", "/fapi/v2/positionRisk", { symbol: DOGE });
    expect(position).toMatchObject({ leverage: "8" });
    await agree();
  });

  test("the strategy is closed, and with it every copy: no position, no order, no leg", async () => {
    await place(strategy, { symbol: ADA, side: BUY, ...LIMIT, quantity: "100", price: "0.4" });
    await send(strategy, "POST", LEG, {
      ...{ symbol: DOGE, side: SELL, type: "STOP_MARKET", algoType: "CONDITIONAL" },
      ...{ closePosition: "true", triggerPrice: "0.08" },
    });
    expect((await ordersOf(copier)).length).toBe(1);
    await fixture.trade(strategy, "POST", "/fapi/v1/platform/strategy/close");
    for (const each of [copier, small]) {
      await fixture.becomes(
        "the copy is stopped",
        each,
        ({ status, reason }) => status === "STOPPED" && reason === "STRATEGY_CLOSED",
      );
    }
    expect([await ordersOf(copier), await legsOf(copier)]).toEqual([[], []]);
    copy.trade(DOGE, -copy.of(DOGE), "0.102", "TAKER");
    await agree();
  });

  /** Resolves when nothing of a symbol is held at the venue, and the copy knows. */
  async function nothingOf(symbol: string): Promise<void> {
    await fixture.looksUntil(`nothing of ${symbol} is held`, copier, ({ book }) => {
      return (book.holdings.get(symbol)?.quantity ?? 0n) === 0n;
    });
  }
});

describe("a futures strategy in trouble", () => {
  test("who comes late has no position to reduce, and enters with the next order", async () => {
    const strategy = await fixture.newLead("FUTURES");
    await fixture.trade(strategy, "POST", ORDER, { symbol: ADA, side: BUY, type: "MARKET", quantity: "100" });
    const late = await fixture.newCopier(strategy);
    await place(strategy, { symbol: ADA, side: SELL, type: "MARKET", quantity: "40", reduceOnly: "true" });
    expect(of("PLACE", await fixture.entriesOf(late))).toMatchObject([
      { status: "SKIPPED", skip: { reason: "NOTHING_HELD" } },
    ]);
    await place(strategy, { symbol: ADA, side: BUY, type: "MARKET", quantity: "20" });
    expect(of("PLACE", await fixture.entriesOf(late)).at(-1)).toMatchObject({ side: BUY, status: "FILLED" });
    expect(await fixture.positionOf(late, ADA)).toBeGreaterThan(0n);
  });

  test("what the account cannot pay for is skipped, with what is missing", async () => {
    const strategy = await fixture.newLead("FUTURES");
    const bound = await fixture.newCopier(strategy, { maxPerOrder: "20" });
    const spent = await fixture.newCopier(strategy);
    await send(strategy, "POST", "/fapi/v1/leverage", { symbol: DOGE, leverage: 2 });
    // What is bound by its owner's own order cannot be used a second time.
    await fixture.atVenue(spent, "POST", "/fapi/v1/leverage", { symbol: ADA, leverage: 1 });
    await fixture.atVenue(spent, "POST", ORDER, {
      symbol: ADA,
      side: BUY,
      ...LIMIT,
      quantity: "2400",
      price: "0.4",
    });
    await fixture.looksUntil(
      "what the owner's order locks is known",
      spent,
      ({ book }) => (book.snapshot?.available ?? ZERO) < signedUnits("100"),
    );
    await place(strategy, { symbol: DOGE, side: BUY, type: "MARKET", quantity: "5000" });
    const [cut] = of("PLACE", await fixture.entriesOf(bound));
    expect(cut?.status).toBe("FILLED");
    // 20 USDT of the 500 that it would have been.
    expect(cut?.quantity ?? 0n).toBeLessThanOrEqual(signedUnits("200"));
    expect(cut?.quantity ?? 0n).toBeGreaterThanOrEqual(signedUnits("190"));
    const [skipped] = of("PLACE", await fixture.entriesOf(spent));
    expect(skipped).toMatchObject({
      status: "SKIPPED",
      skip: { reason: "INSUFFICIENT_MARGIN", unit: "QUOTE" },
    });
    const { wanted, had } = skipped?.skip ?? {};
    expect(had).toBe(signedUnits("40"));
    expect(wanted).toBeGreaterThan(signedUnits("250"));
  });

  test("a liquidation of the strategy leaves no copy with the position", async () => {
    const strategy = await fixture.newLead("FUTURES");
    const copier = await fixture.newCopier(strategy);
    await fixture.setPrice("FUTURES", ADA, ADA_PRICE);
    await send(strategy, "POST", "/fapi/v1/leverage", { symbol: ADA, leverage: 20 });
    await place(strategy, { symbol: ADA, side: BUY, type: "MARKET", quantity: "1000" });
    expect(await fixture.positionOf(copier, ADA)).toBe(signedUnits("1000"));
    await fixture.setPrice("FUTURES", ADA, { bid: "0.47", ask: "0.4705", mark: "0.47" });
    await fixture.positionIs(strategy, ADA, 0n);
    await fixture.caughtUp(strategy);
    await fixture.looksUntil("the copy has no position", copier, ({ book }) => {
      return (book.holdings.get(ADA)?.quantity ?? 0n) === 0n;
    });
    expect(await fixture.positionOf(copier, ADA)).toBe(0n);
    expect(of("LIQUIDATE", await fixture.entriesOf(copier)).length).toBe(1);
  });
});
