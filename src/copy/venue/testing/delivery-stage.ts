// What tests of delivery stand on: a venue for the whole file, and for each test a strategy of its own there, with a way to it on
// which requests go wrong as planned. What is asserted is what the venue has on its books.
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import type { Credentials } from "../../../../test/support/gateway.ts";
import type { StrategyType } from "../../../domain/account.ts";
import type { Skip } from "../../../domain/copying.ts";
import type { Order } from "../../../domain/order.ts";
import type { ManualTime } from "../../../market/client/testing/manual-time.ts";
import { decimal } from "../../../money/decimal.ts";
import { type Delivered, deliver } from "../delivery.ts";
import type { VenueClient, VenueOrder } from "../venue.ts";
import { type Fault, FaultyProxy } from "./faulty-proxy.ts";
import { openVenueStage, order, type VenueStage } from "./venue-stage.ts";

export const PLACE = "POST /api/v3/order";
export const FIND = "GET /api/v3/order";
export const MARKET = order({ type: "MARKET", clientOrderId: "once" });
export const LIMIT = order({ type: "LIMIT", price: decimal("50000"), clientOrderId: "once" });
export const HALTED: Skip = {
  reason: "HALTED",
  filter: null,
  wanted: null,
  had: null,
  unit: null,
  venue: null,
};

/** What leaves it open whether a request was carried out, which it was. */
export const UNCLEAR: readonly [string, Fault][] = [
  ["cut after it was carried out", { kind: "CUT_AFTER" }],
  ["answered 503 after it was carried out", { kind: "ERROR_AFTER", status: 503, body: "" }],
  [
    "answered -1007 after it was carried out",
    { kind: "ERROR_AFTER", status: 504, body: '{"code":-1007,"msg":"Timeout waiting for response."}' },
  ],
  ["answered with half a body", { kind: "ERROR_AFTER", status: 200, body: '{"symbol":"BTC' }],
  ["answered with something else", { kind: "ERROR_AFTER", status: 200, body: '{"symbol":"BTCUSDT"}' }],
];

type Delivery = Parameters<typeof deliver>[0];

export type DeliveryStage = {
  readonly venue: VenueStage;
  /** The clock of the venue and of whoever delivers. */
  readonly time: ManualTime;
  readonly proxy: FaultyProxy;
  readonly strategy: Credentials;
  /** The strategy's, through the proxy. */
  readonly client: VenueClient;
  /** Whoever may run and send; its pauses are over at once. */
  readonly deliverer: Pick<Delivery, "mayRun" | "mayStillSend" | "wallNow" | "pause">;
  /** Goes on with a new strategy, whose client has made sure of the venue's clock. */
  use(type: StrategyType): Promise<void>;
  /** Delivers an order, which was not sent before unless that is said. */
  send(what: VenueOrder, said?: Partial<Delivery>): Promise<Delivered>;
  /** Every order of the strategy on BTCUSDT. */
  orders(): Promise<readonly Order[]>;
  /** The venue has one order, called `once`, and has taken no second one. */
  expectOnce(type?: VenueOrder["type"]): Promise<void>;
};

/** Opens a venue before the tests of the file that calls this and closes it after them; read it only inside tests. */
export function deliveryStage(): DeliveryStage {
  let venue: VenueStage;
  let proxy: FaultyProxy;
  let strategy: Credentials;
  let client: VenueClient;

  beforeAll(async () => {
    venue = await openVenueStage();
  });
  afterAll(() => venue[Symbol.asyncDispose]());
  beforeEach(async () => {
    // In the middle of the next minute, in which nothing of the venue's limits is used.
    venue.time.advance(60_000 - (venue.time.now() % 60_000) + 20_000);
    venue.pairs.show("BTCUSDT", "59990", "60000");
    venue.contracts.show("BTCUSDT", "59990", "60000");
    proxy = await FaultyProxy.open(venue.url);
    await use("SPOT");
    return () => proxy[Symbol.asyncDispose]();
  });

  const deliverer: DeliveryStage["deliverer"] = {
    mayRun: () => true,
    mayStillSend: () => null,
    wallNow: () => venue.time.now(),
    pause: async (ms) => venue.time.advance(ms),
  };
  const orders = () => venue.orders(strategy, "BTCUSDT");

  async function use(type: StrategyType): Promise<void> {
    strategy = await venue.seed(type);
    client = venue.client(type, strategy, proxy.url);
    expect(await client.balances()).toMatchObject({ kind: "OK" });
    proxy.seen.length = 0;
    proxy.taken.length = 0;
  }

  return {
    get venue() {
      return venue;
    },
    get time() {
      return venue.time;
    },
    get proxy() {
      return proxy;
    },
    get strategy() {
      return strategy;
    },
    get client() {
      return client;
    },
    deliverer,
    use,
    send: (what, said = {}) =>
      deliver({
        ...deliverer,
        client,
        what: { kind: "ORDER", order: what },
        mayHaveBeenSentAt: null,
        ...said,
      }),
    orders,
    async expectOnce(type = "MARKET") {
      const found = await orders();
      expect(found.map(({ clientOrderId, type }) => [clientOrderId, type])).toEqual([["once", type]]);
      // A second one that was taken would be answered with the first here, and doubled elsewhere.
      expect(proxy.taken.filter((route) => route === PLACE)).toHaveLength(1);
    },
  };
}
