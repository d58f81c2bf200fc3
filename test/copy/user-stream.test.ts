// Two real gateways, each with prices of its own: what the copier learns by the venue's user data stream,
// also while accounts and prices cannot be requested, and what it learns without a stream.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { MirrorEntry } from "../../src/domain/copying.ts";
import { openSteeredMarket, type SteeredMarket } from "../campaigns/harness/steered-market.ts";
import { eventually } from "../support/eventually.ts";
import { signedUnits } from "../support/exact.ts";
import { FaultProxy } from "../support/servers/fault-proxy.ts";
import type { Copier, Lead } from "./actors.ts";
import { CopyFixture } from "./fixture.ts";

const DOGE = "DOGEUSDT";
const POLLS = ["GET /fapi/v3/account", "GET /fapi/v1/openOrders", "GET /fapi/v1/premiumIndex"];
const UNAVAILABLE = { answer: { status: 503, body: "" } };
const ENTRY = { symbol: DOGE, side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: "200" };
const STOP = { stopLossPrice: "0.05" };

let fixture: CopyFixture;
let venueMarket: SteeredMarket;
let proxy: FaultProxy;
let isPolled = true;
let isStreamed = true;

beforeAll(async () => {
  venueMarket = await openSteeredMarket();
  fixture = await CopyFixture.open({
    venueMarket,
    through: async (url) => {
      proxy = await FaultProxy.open(url, {
        rule: ({ route }) => (isPolled || !POLLS.includes(route) ? {} : UNAVAILABLE),
        join(_incoming, socket) {
          if (!isStreamed) socket.destroy();
          return !isStreamed;
        },
      });
      return proxy.url;
    },
  });
  venueMarket.setPrice(DOGE, { bid: "0.1", ask: "0.1001" });
  await fixture.setPrice("FUTURES", DOGE, { bid: "0.1", ask: "0.1001" });
});
afterAll(async () => {
  await fixture.close();
  await proxy[Symbol.asyncDispose]();
  await venueMarket.close();
});

/** Accounts whose stream the copier receives, by its last report. */
const streams = (count: number) =>
  eventually(`${count} accounts have a stream`, async () => {
    const reports = await fixture.lead.store.copying.listVenueReports();
    return reports.some(({ venues }) => venues.some(({ health }) => health.streams === count));
  });

/** An entry with a stop that is open at both markets. */
async function openEntry(price: string): Promise<{ readonly strategy: Lead; readonly copier: Copier }> {
  const strategy = await fixture.newLead("FUTURES");
  const copier = await fixture.newCopier(strategy);
  await fixture.trade(strategy, "POST", "/fapi/v1/order", { ...ENTRY, ...STOP, price });
  await entryIs(copier, "RESTING");
  return { strategy, copier };
}

const entryIs = (copier: Copier, expected: MirrorEntry["status"]) =>
  fixture.becomes(`its entry is ${expected}`, copier, (_copy, entries) =>
    entries.some(({ kind, status }) => kind === "PLACE" && status === expected),
  );

/** By the venue's own database. */
async function hasStop({ venue }: Copier): Promise<boolean> {
  const loaded = await fixture.venue.store.loadAccount(venue.strategyId);
  return [...(loaded?.account.openLegs.values() ?? [])].some(({ type }) => type === "STOP_MARKET");
}

test("an entry that the venue alone fills is booked while no poll and no price is answered", async () => {
  const { copier } = await openEntry("0.095");
  await streams(1);
  isPolled = false;
  venueMarket.setPrice(DOGE, { bid: "0.0949", ask: "0.095" });
  await entryIs(copier, "FILLED");
  isPolled = true;
});

test.each([true, false])("a position that comes late has its stop then; by streams: %s", async (byStream) => {
  isStreamed = byStream;
  if (!byStream) proxy.cut();
  const price = byStream ? "0.09" : "0.085";
  const { strategy, copier } = await openEntry(price);
  await streams(byStream ? 2 : 0);
  fixture.market.setPrice(DOGE, { bid: (Number(price) - 0.0001).toFixed(4), ask: price });
  await fixture.positionIs(strategy, DOGE, signedUnits(ENTRY.quantity));
  await fixture.caughtUp(strategy);
  expect(await hasStop(copier)).toBe(false);
  venueMarket.setPrice(DOGE, { bid: (Number(price) - 0.0001).toFixed(4), ask: price });
  await eventually("it has its stop", () => hasStop(copier));
});
