// Two real gateways, each with prices of its own, and between them a way on which accounts and prices cannot be
// asked for: what the copier learns by the venue's user data stream, and what without it.
import { afterAll, beforeAll, expect, test } from "vitest";
import { openSteeredMarket, type SteeredMarket } from "../campaigns/harness/steered-market.ts";
import { eventually } from "../support/eventually.ts";
import { FaultProxy } from "../support/fault-proxy.ts";
import type { Copier } from "./cast.ts";
import { CopyStage } from "./stage.ts";

const DOGE = "DOGEUSDT";
const POLLS = ["GET /fapi/v3/account", "GET /fapi/v1/openOrders", "GET /fapi/v1/premiumIndex"];
const UNAVAILABLE = { answer: { status: 503, body: "" } };
const ENTRY = { symbol: DOGE, side: "BUY", type: "LIMIT", timeInForce: "GTC", quantity: "200" };
const STOP = { stopLossPrice: "0.05" };

let stage: CopyStage;
let venueMarket: SteeredMarket;
let proxy: FaultProxy;
let isPolled = true;
let isStreamed = true;

beforeAll(async () => {
  venueMarket = await openSteeredMarket();
  stage = await CopyStage.open({
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
  await stage.setPrice("FUTURES", DOGE, { bid: "0.1", ask: "0.1001" });
});
afterAll(async () => {
  await stage.close();
  await proxy[Symbol.asyncDispose]();
  await venueMarket.close();
});

/** Accounts whose stream the copier receives, by its last report. */
const streams = (count: number) =>
  eventually(`${count} accounts have a stream`, async () => {
    const reports = await stage.lead.store.copying.listVenueReports();
    return reports.some(({ venues }) => venues.some(({ health }) => health.streams === count));
  });

/** An open entry with a stop, of a strategy at whose market it stays open. */
async function openEntry(price: string): Promise<Copier> {
  const strategy = await stage.newLead("FUTURES");
  const copier = await stage.newCopier(strategy);
  await stage.trade(strategy, "POST", "/fapi/v1/order", { ...ENTRY, ...STOP, price });
  await eventually("the entry is open at the venue", async () => {
    return (await stage.atVenue(copier, "GET", "/fapi/v1/openOrders")).length === 1;
  });
  return copier;
}

async function hasStop(copier: Copier): Promise<boolean> {
  const legs = await stage.atVenue(copier, "GET", "/fapi/v1/openAlgoOrders");
  return legs.length === 1 && legs[0].orderType === "STOP_MARKET";
}

test("an entry that the venue fills gets its stop while no poll and no price is answered", async () => {
  const copier = await openEntry("0.095");
  await streams(1);
  isPolled = false;
  venueMarket.setPrice(DOGE, { bid: "0.0949", ask: "0.095" });
  await eventually("it has its stop", () => hasStop(copier));
  const [entry] = await stage.entriesOf(copier);
  expect(entry).toMatchObject({ kind: "PLACE", status: "FILLED" });
});

test("without streams polls do it", async () => {
  [isPolled, isStreamed] = [true, false];
  proxy.cut();
  const copier = await openEntry("0.09");
  venueMarket.setPrice(DOGE, { bid: "0.0899", ask: "0.09" });
  await eventually("it has its stop", () => hasStop(copier));
  await streams(0);
});
