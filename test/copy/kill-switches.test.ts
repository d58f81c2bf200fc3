// Kill switches: a copier stops their own copies, a trader those of a strategy, an operator those at a venue.
// While a switch is set nothing is sent, the log says what would have been, and its setter sees the outcome.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { Copier, Lead } from "./actors.ts";
import { Visitor } from "./browser-client.ts";
import { CopyFixture } from "./fixture.ts";

const DOGE = "DOGEUSDT";
const BUY = { symbol: DOGE, side: "BUY", type: "MARKET", quantity: "60" };

const KEPT = { askAgainMs: 250 };

let fixture: CopyFixture;
let trader: Visitor;
let operator: Visitor;
let lead: Lead;
let copier: Copier;

beforeAll(async () => {
  fixture = await CopyFixture.open();
  await fixture.setPrice("SPOT", DOGE, { bid: "0.1", ask: "0.1001" });
  const { url } = fixture.lead.gateway;
  trader = await Visitor.signUp(url, fixture.lead, { profile: "TRADER" });
  operator = await Visitor.signUp(url, fixture.lead, { role: "OPERATOR" });
  lead = await fixture.newLeadOf(trader.personId, "SPOT");
});
afterAll(async () => {
  await fixture.close();
});

/** What became of the strategy's next order for the copier: FILLED, or the reason why it was skipped. */
async function nextOrder(): Promise<string> {
  await fixture.trade(lead, "POST", "/api/v3/order", BUY);
  await fixture.caughtUp(lead);
  const entry = (await fixture.entriesOf(copier)).filter(({ kind }) => kind === "PLACE").at(-1);
  if (entry?.status === "SKIPPED") expect(entry).toMatchObject({ sends: 0, clientOrderId: null });
  return entry?.skip?.reason ?? entry?.status ?? "nothing";
}

describe("a kill switch", () => {
  test("a strategy is opened to copiers by its trader, and followed", async () => {
    const path = `/strategies/${lead.strategyId}/copying`;
    expect(await trader.send("PUT", path, { isOpen: true })).toMatchObject({ isOpen: true });
    copier = await fixture.newCopier(lead);
    expect(await nextOrder()).toBe("FILLED");
    expect((await trader.get(path)).copiers).toMatchObject({ FOLLOWING: 1 });
  });

  test("of a strategy, set by its trader", async () => {
    const path = `/strategies/${lead.strategyId}/copying`;
    const halted = await trader.send("POST", `${path}/halt`, { reason: "The bot is mad." });
    expect(halted.halted).toMatchObject({ kind: "STRATEGY", isOwn: true });
    await fixture.isKnown(copier);
    expect(await nextOrder()).toBe("HALTED");
    await trader.send("DELETE", `${path}/halt`);
    await fixture.isKnown(copier);
    expect(await nextOrder()).toBe("FILLED");
    // Figures are kept for a few seconds.
    await eventually(
      "both orders are counted",
      async () => (await trader.get(path)).counts.placed === 2,
      KEPT,
    );
    const { counts } = await trader.get(path);
    expect(counts).toMatchObject({ placed: 2, skipped: 1, failed: 0 });
    expect(counts.byReason).toEqual([{ reason: "HALTED", count: 1 }]);
  });

  test("of a venue, set by an operator", async () => {
    const of = { kind: "VENUE", id: fixture.venue.gateway.url };
    await operator.send("POST", "/operator/copying/switches", { ...of, reason: "The venue is ill." });
    await fixture.isKnown(copier);
    expect(await nextOrder()).toBe("HALTED");
    const shown = await operator.get("/operator/copying");
    expect(shown.switches).toMatchObject([{ ...of, reason: "The venue is ill." }]);
    expect(shown.venues).toMatchObject([{ origin: of.id, isHalted: true }]);
    await operator.send("POST", "/operator/copying/switches/clear", of);
    await fixture.isKnown(copier);
    expect(await nextOrder()).toBe("FILLED");
  });

  test("a paper price and a real one lie beside each other for the trader", async () => {
    const path = `/strategies/${lead.strategyId}/copying`;
    await eventually(
      "all orders are counted",
      async () => (await trader.get(path)).counts.placed === 3,
      KEPT,
    );
    const { gap } = await trader.get(path);
    expect(gap.bySymbol).toMatchObject([{ symbol: DOGE, orders: 3 }]);
    // Both were filled at the same price, on the same market.
    expect(gap.orders).toHaveLength(3);
    for (const { copies, worstBps } of gap.orders) expect([copies, Number(worstBps)]).toEqual([1, 0]);
  });
});
