// Orders over a way on which requests go wrong. Whatever happens on it, what is asserted is what the venue has on its books: one
// order of a client id, and its outcome known.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Credentials } from "../../../test/support/gateway.ts";
import type { StrategyType } from "../../domain/account.ts";
import type { Skip } from "../../domain/copying.ts";
import { decimal } from "../../money/decimal.ts";
import { cancelSurely, type Delivered, deliver, NOT_FOUND_AFTER_MS, RETRY_MS_MAX } from "./delivery.ts";
import { DEADLINE_MS } from "./http-sender.ts";
import { RECV_WINDOW_MS } from "./signed-rest.ts";
import { STUCK_AFTER_MS, STUCK_AGAIN_MS } from "./stuck.ts";
import { type Fault, FaultyProxy } from "./testing/faulty-proxy.ts";
import { openVenueStage, order, type VenueStage } from "./testing/venue-stage.ts";
import type { VenueClient, VenueLeg, VenueOrder } from "./venue.ts";

const PLACE = "POST /api/v3/order";
const FIND = "GET /api/v3/order";
const CANCEL = "DELETE /api/v3/order";
const HALTED: Skip = { reason: "HALTED", filter: null, wanted: null, had: null, unit: null, venue: null };

let stage: VenueStage;
let proxy: FaultyProxy;
let strategy: Credentials;
let client: VenueClient;

beforeAll(async () => {
  stage = await openVenueStage();
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(async () => {
  stage.time.advance(60_000 - (stage.time.now() % 60_000) + 20_000);
  stage.pairs.show("BTCUSDT", "59990", "60000");
  stage.contracts.show("BTCUSDT", "59990", "60000");
  proxy = await FaultyProxy.open(stage.url);
  await use("SPOT");
  return () => proxy[Symbol.asyncDispose]();
});

/** A new strategy, whose client has made sure of the venue's clock. */
async function use(type: StrategyType): Promise<void> {
  strategy = await stage.seed(type);
  client = stage.client(type, strategy, proxy.url);
  expect(await client.balances()).toMatchObject({ kind: "OK" });
  proxy.seen.length = 0;
  proxy.taken.length = 0;
}

const DELIVERER = {
  mayRun: () => true,
  mayStillSend: (): Skip | null => null,
  wallNow: () => stage.time.now(),
  pause: async (ms: number) => stage.time.advance(ms),
};

function send(what: VenueOrder, said: Partial<Parameters<typeof deliver>[0]> = {}): Promise<Delivered> {
  const about = { kind: "ORDER", order: what } as const;
  return deliver({ ...DELIVERER, client, what: about, mayHaveBeenSentAt: null, ...said });
}

const MARKET = order({ type: "MARKET", clientOrderId: "once" });
const LIMIT = order({ type: "LIMIT", price: decimal("50000"), clientOrderId: "once" });

async function expectOnce(type: VenueOrder["type"] = "MARKET") {
  const orders = await stage.orders(strategy, "BTCUSDT");
  expect(orders.map(({ clientOrderId, type }) => [clientOrderId, type])).toEqual([["once", type]]);
  // A second one that was taken would be answered with the first here, and doubled elsewhere.
  expect(proxy.taken.filter((route) => route === PLACE)).toHaveLength(1);
}

const UNCLEAR: readonly [string, Fault][] = [
  ["cut after it was carried out", { kind: "CUT_AFTER" }],
  ["answered 503 after it was carried out", { kind: "ERROR_AFTER", status: 503, body: "" }],
  [
    "answered -1007 after it was carried out",
    { kind: "ERROR_AFTER", status: 504, body: '{"code":-1007,"msg":"Timeout waiting for response."}' },
  ],
  ["answered with half a body", { kind: "ERROR_AFTER", status: 200, body: '{"symbol":"BTC' }],
  ["answered with something else", { kind: "ERROR_AFTER", status: 200, body: '{"symbol":"BTCUSDT"}' }],
];

describe("an order whose outcome is not known is asked for before anything is sent again", () => {
  test.each(UNCLEAR)("%s: it is found", async (_, fault) => {
    proxy.plan(PLACE, fault);
    expect(await send(MARKET)).toMatchObject({
      kind: "PLACED",
      state: { status: "FILLED", executedQuote: decimal("60") },
      sends: 1,
      queries: 1,
    });
    expect(proxy.seen).toEqual([PLACE, FIND]);
    await expectOnce();
  });

  test("cut before the venue saw it: sent again once it could not be carried out any more", async () => {
    proxy.plan(PLACE, { kind: "CUT_BEFORE" });
    const began = stage.time.now();
    const delivered = await send(MARKET);
    expect(delivered).toMatchObject({ kind: "PLACED", sends: 2, sentAt: began });
    expect((delivered.acknowledgedAt ?? 0) - began).toBeGreaterThanOrEqual(NOT_FOUND_AFTER_MS);
    expect(proxy.seen).toEqual([PLACE, FIND, FIND, PLACE]);
    await expectOnce();
  });

  test("that it stays unknown for long is told, and once a minute from then on", async () => {
    proxy.plan(PLACE, { kind: "CUT_AFTER" });
    for (let asked = 0; asked < 60; asked += 1) proxy.plan(FIND, { kind: "CUT_BEFORE" });
    const began = stage.time.now();
    const told: [number, string][] = [];
    const onStuck = (reason: string) => void told.push([stage.time.now() - began, reason]);
    expect(await send(MARKET, { onStuck })).toMatchObject({ kind: "PLACED", sends: 1, queries: 61 });
    const [first = 0, second = 0] = told.map(([at]) => at);
    expect(told).toHaveLength(2);
    expect(told.every(([, reason]) => reason.length > 0)).toBe(true);
    expect([first >= STUCK_AFTER_MS, first < STUCK_AFTER_MS + RETRY_MS_MAX + 1]).toEqual([true, true]);
    expect([second - first >= STUCK_AGAIN_MS, second - first < STUCK_AGAIN_MS + RETRY_MS_MAX + 1]).toEqual([
      true,
      true,
    ]);
  });

  test("questions that are cut, refused or limited are asked again, for as long as it takes", async () => {
    proxy.plan(PLACE, { kind: "CUT_AFTER" });
    proxy.plan(FIND, { kind: "CUT_BEFORE" });
    proxy.plan(FIND, { kind: "ANSWER", status: 502, body: "<html>" });
    proxy.plan(FIND, { kind: "ANSWER", status: 400, body: '{"code":-1000,"msg":"?"}' });
    proxy.plan(FIND, {
      kind: "ANSWER",
      status: 429,
      body: '{"code":-1003,"msg":""}',
      headers: { "retry-after": "3" },
    });
    expect(await send(MARKET)).toMatchObject({ kind: "PLACED", sends: 1 });
    expect(proxy.seen).toEqual([PLACE, FIND, FIND, FIND, FIND, FIND]);
    await expectOnce();
  });

  test("held on its way beyond its window: the venue refuses it when it comes, and there is one", async () => {
    proxy.plan(PLACE, { kind: "HOLD" });
    const delivery = send(MARKET);
    await proxy.held();
    stage.time.advance(DEADLINE_MS);
    expect(await delivery).toMatchObject({ kind: "PLACED", sends: 2 });
    const [late] = await proxy.release();
    expect(late).toMatchObject({ status: 400, body: expect.stringContaining("-1021") });
    await expectOnce();
  });

  test("it comes to the venue while it is asked for: it is found, and not sent again", async () => {
    proxy.plan(PLACE, { kind: "LATE" });
    const pauses: number[] = [];
    const delivered = await send(MARKET, {
      async pause(ms) {
        pauses.push(ms);
        stage.time.advance(ms);
        if (pauses.length === 3) await proxy.release();
      },
    });
    expect(delivered).toMatchObject({ kind: "PLACED", sends: 1, queries: 2 });
    await expectOnce();
  });

  test("what waited in the client before it was signed may come as much later", async () => {
    proxy.plan(PLACE, { kind: "LATE" });
    const ownWaitMs = 4_000;
    const began = stage.time.now();
    const comesAt = began + ownWaitMs + RECV_WINDOW_MS - 1_000;
    let isReleased = false;
    const delivered = await send(MARKET, {
      client: {
        ...client,
        async place(what) {
          stage.time.advance(ownWaitMs);
          return await client.place(what);
        },
      },
      async pause(ms) {
        stage.time.advance(ms);
        if (isReleased || stage.time.now() < comesAt) return;
        isReleased = true;
        await proxy.release();
      },
    });
    expect(delivered).toMatchObject({ kind: "PLACED", sends: 1, sentAt: began });
    await expectOnce();
  });

  test("it comes to the venue when it has been sent again: it is too old by then", async () => {
    proxy.plan(PLACE, { kind: "LATE" });
    const delivered = await send(MARKET);
    expect(delivered).toMatchObject({ kind: "PLACED", sends: 2 });
    expect(await proxy.release()).toMatchObject([{ status: 400, body: expect.stringContaining("-1021") }]);
    await expectOnce();
  });
});

describe("after a start or a takeover", () => {
  test("what was sent before is found and not sent", async () => {
    await client.place(MARKET);
    expect(await send(MARKET, { mayHaveBeenSentAt: stage.time.now() })).toMatchObject({
      kind: "PLACED",
      sends: 0,
      queries: 1,
      sentAt: null,
    });
    await expectOnce();
  });

  test("what is not found is waited for as long as it may come, then sent", async () => {
    const takenAt = stage.time.now();
    const delivered = await send(MARKET, { mayHaveBeenSentAt: takenAt });
    expect(delivered).toMatchObject({ kind: "PLACED", sends: 1, sentAt: takenAt + NOT_FOUND_AFTER_MS });
    await expectOnce();
  });

  test("long after it a question is enough", async () => {
    const mayHaveBeenSentAt = stage.time.now() - NOT_FOUND_AFTER_MS;
    expect(await send(MARKET, { mayHaveBeenSentAt })).toMatchObject({
      kind: "PLACED",
      queries: 1,
      sentAt: stage.time.now(),
    });
    await expectOnce();
  });
});

describe("outcomes other than that it stands", () => {
  test("a refusal, in the venue's words; also after a first try that was lost", async () => {
    proxy.plan(PLACE, { kind: "CUT_BEFORE" });
    const poor = { ...MARKET, quantity: decimal<VenueOrder["quantity"]>("5") };
    expect(await send(poor)).toMatchObject({ kind: "REFUSED", code: -2010, sends: 2 });
    expect(await stage.orders(strategy, "BTCUSDT")).toEqual([]);
  });

  test("a key that is not accepted; whether an earlier try may have been carried out", async () => {
    await stage.store.revokeKey(strategy.apiKey, stage.time.now());
    expect(await send(MARKET)).toMatchObject({ kind: "REJECTED", code: -2015, mayHaveExecuted: false });
    const mayHaveBeenSentAt = stage.time.now();
    expect(await send(MARKET, { mayHaveBeenSentAt })).toMatchObject({
      kind: "REJECTED",
      mayHaveExecuted: true,
    });
  });

  test("stopped before it was sent", async () => {
    expect(await send(MARKET, { mayStillSend: () => HALTED })).toMatchObject({
      kind: "NOT_SENT",
      skip: HALTED,
      sends: 0,
      sentAt: null,
    });
    expect(proxy.seen).toEqual([]);
  });

  test("stopped after it was sent: obeyed only if it was not carried out", async () => {
    let sends = 0;
    const mayStillSend = () => (sends++ === 0 ? null : HALTED);
    proxy.plan(PLACE, { kind: "CUT_AFTER" });
    expect(await send(MARKET, { mayStillSend })).toMatchObject({ kind: "PLACED", sends: 1 });
    sends = 0;
    proxy.plan(PLACE, { kind: "CUT_BEFORE" });
    const other = { ...MARKET, clientOrderId: "other" };
    expect(await send(other, { mayStillSend })).toMatchObject({ kind: "NOT_SENT", sends: 1, queries: 2 });
    await expectOnce();
  });

  test("undecided only once its sender may not go on", async () => {
    proxy.plan(PLACE, { kind: "CUT_AFTER" });
    let isEntitled = true;
    const stopping = async () => {
      isEntitled = false;
    };
    const undecided = await send(MARKET, { mayRun: () => isEntitled, pause: stopping });
    expect(undecided).toMatchObject({ kind: "NOT_DECIDED", sends: 1, acknowledgedAt: null });
    // Whoever takes over finds it.
    expect(await send(MARKET, { mayHaveBeenSentAt: stage.time.now() })).toMatchObject({
      kind: "PLACED",
      sends: 0,
    });
    await expectOnce();
  });

  test("an id that was used before is the order that it was used for", async () => {
    const duplicate = { status: 400, body: '{"code":-2010,"msg":"Duplicate order sent."}' };
    proxy.plan(PLACE, { kind: "ERROR_AFTER", ...duplicate });
    expect(await send(LIMIT)).toMatchObject({ kind: "PLACED", state: { status: "RESTING" }, sends: 1 });
    proxy.plan(PLACE, { kind: "ANSWER", ...duplicate });
    const none = { ...LIMIT, clientOrderId: "none" };
    expect(await send(none)).toMatchObject({ kind: "REFUSED", code: -2010, sends: 1 });
    await expectOnce("LIMIT");
  });
});

describe("the venue's limits are waited for", () => {
  test("429: as long as it says, and not a request before", async () => {
    proxy.plan(PLACE, {
      kind: "ANSWER",
      status: 429,
      body: '{"code":-1015,"msg":"Too many new orders."}',
      headers: { "retry-after": "7" },
    });
    const began = stage.time.now();
    expect(await send(MARKET)).toMatchObject({ kind: "PLACED", sends: 1, queries: 0, sentAt: began + 7_000 });
    expect(proxy.seen).toEqual([PLACE, PLACE]);
    await expectOnce();
  });

  test("418: everybody waits until the ban is over", async () => {
    const until = stage.time.now() + 120_000;
    proxy.plan(PLACE, {
      kind: "ANSWER",
      status: 418,
      body: `{"code":-1003,"msg":"Way too much request weight used; IP banned until ${until}."}`,
    });
    const delivery = send(MARKET, {
      async pause(ms) {
        const other = stage.client("SPOT", await stage.seed("SPOT"), proxy.url);
        expect(await other.balances()).toMatchObject({ kind: "DELAYED", why: "LIMITED", until });
        stage.time.advance(ms * 60);
      },
    });
    expect(await delivery).toMatchObject({ kind: "PLACED", sends: 1 });
    expect(proxy.seen).toEqual([PLACE, PLACE]);
    await expectOnce();
  });

  test("no connection: nothing was sent, and nothing is asked for", async () => {
    const nobody = await FaultyProxy.open(stage.url);
    const there = stage.client("SPOT", strategy, nobody.url);
    expect(await there.balances()).toMatchObject({ kind: "OK" });
    await nobody[Symbol.asyncDispose]();
    let pauses = 0;
    const gone = await send(MARKET, {
      client: there,
      mayRun: () => pauses < 3,
      pause: async (ms) => {
        pauses += 1;
        stage.time.advance(ms);
      },
    });
    expect(gone).toMatchObject({ kind: "NOT_DECIDED", sends: 0, sentAt: null });
    expect(await stage.orders(strategy, "BTCUSDT")).toEqual([]);
  });

  test("-1021 in the middle: the clock is corrected, and it is sent once more", async () => {
    stage.setAhead(20_000);
    expect(await send(MARKET)).toMatchObject({ kind: "PLACED", sends: 1, queries: 0 });
    stage.setAhead(0);
    expect(proxy.seen).toEqual([PLACE, "GET /api/v3/time", PLACE]);
    await expectOnce();
  });
});

describe("a cancel is brought to its end", () => {
  const cancel = (said: object = {}) =>
    cancelSurely({
      ...DELIVERER,
      client,
      kind: "ORDER",
      symbol: "BTCUSDT",
      clientOrderId: "once",
      ...said,
    });

  test.each<[string, Fault]>([...UNCLEAR, ["cut before the venue saw it", { kind: "CUT_BEFORE" }]])(
    "%s",
    async (_, fault) => {
      await client.place(LIMIT);
      proxy.plan(CANCEL, fault);
      expect(await cancel()).toMatchObject({ kind: "OVER", state: { status: "CANCELED" }, sends: 2 });
      expect((await stage.orders(strategy, "BTCUSDT")).map(({ status }) => status)).toEqual(["CANCELED"]);
    },
  );

  test("of what was filled meanwhile it says so, of what never was it says nothing", async () => {
    const placed = await client.place(LIMIT);
    if (placed.kind !== "OK") throw new Error("it rests");
    await stage.fill(strategy, placed.value.venueOrderId, "50000");
    expect(await cancel()).toMatchObject({ kind: "OVER", state: { status: "FILLED" }, sends: 1, queries: 1 });
    expect(await cancel({ clientOrderId: "never" })).toMatchObject({ kind: "OVER", state: null });
  });

  test("stopped before it was sent it may still be open; stopped after, it is looked at first", async () => {
    await client.place(LIMIT);
    expect(await cancel({ mayStillSend: () => HALTED })).toMatchObject({ kind: "NOT_SENT", sends: 0 });
    let asked = 0;
    const afterOne = () => (asked++ === 0 ? null : HALTED);
    proxy.plan(CANCEL, { kind: "CUT_BEFORE" });
    expect(await cancel({ mayStillSend: afterOne })).toMatchObject({ kind: "NOT_SENT", sends: 1 });
    asked = 0;
    proxy.plan(CANCEL, { kind: "CUT_AFTER" });
    expect(await cancel({ mayStillSend: afterOne })).toMatchObject({
      kind: "OVER",
      state: { status: "CANCELED" },
    });
  });

  test("a key that is not accepted, and a sender who may not go on", async () => {
    expect(await cancel({ mayRun: () => false })).toMatchObject({ kind: "NOT_DECIDED", sends: 0 });
    await stage.store.revokeKey(strategy.apiKey, stage.time.now());
    expect(await cancel()).toMatchObject({ kind: "REJECTED", code: -2015 });
  });
});

describe("legs and contracts likewise", () => {
  const LEG_ROUTE = "POST /fapi/v1/algoOrder";
  const leg: VenueLeg = {
    symbol: "BTCUSDT",
    side: "SELL",
    type: "STOP_MARKET",
    triggerPrice: decimal("55000"),
    clientOrderId: "leg",
  };
  const deliverLeg = (clientOrderId = "leg") => {
    const what = { kind: "LEG", leg: { ...leg, clientOrderId } } as const;
    return deliver({ ...DELIVERER, client, what, mayHaveBeenSentAt: null });
  };
  const legs = async () => {
    const account = await stage.store.loadAccount(strategy.strategyId);
    return [...(account?.account.openLegs.values() ?? [])].map(({ clientLegId }) => clientLegId);
  };

  beforeEach(async () => {
    await use("FUTURES");
    expect(await send({ ...MARKET, clientOrderId: "open" })).toMatchObject({ kind: "PLACED" });
  });

  test.each<[string, Fault]>([...UNCLEAR, ["cut before the venue saw it", { kind: "CUT_BEFORE" }]])(
    "a leg, %s",
    async (_, fault) => {
      proxy.plan(LEG_ROUTE, fault);
      expect(await deliverLeg()).toMatchObject({ kind: "PLACED", state: { status: "RESTING" } });
      expect(await legs()).toEqual(["leg"]);
      expect(proxy.taken.filter((route) => route === LEG_ROUTE)).toHaveLength(1);
    },
  );

  test("a leg of its kind that is there already: ours is found, another's is a refusal", async () => {
    const exists = { status: 400, body: '{"code":-4130,"msg":"An open stop or take profit order exists."}' };
    proxy.plan(LEG_ROUTE, { kind: "ERROR_AFTER", ...exists });
    expect(await deliverLeg()).toMatchObject({ kind: "PLACED" });
    expect(await deliverLeg("another")).toMatchObject({ kind: "REFUSED", code: -4130 });
    expect(await legs()).toEqual(["leg"]);
  });

  test("a cancel of a leg that was lost", async () => {
    await deliverLeg();
    proxy.plan("DELETE /fapi/v1/algoOrder", { kind: "CUT_AFTER" });
    const what = { kind: "LEG", symbol: "BTCUSDT", clientOrderId: "leg" } as const;
    expect(await cancelSurely({ ...DELIVERER, client, ...what })).toMatchObject({
      kind: "OVER",
      state: { status: "CANCELED" },
    });
    expect(await legs()).toEqual([]);
  });

  test.each(UNCLEAR)("an order of a contract, %s", async (_, fault) => {
    proxy.plan("POST /fapi/v1/order", fault);
    expect(await send(MARKET)).toMatchObject({ kind: "PLACED", state: { status: "FILLED" }, sends: 1 });
    const ids = (await stage.orders(strategy, "BTCUSDT")).map(({ clientOrderId }) => clientOrderId);
    expect(ids).toEqual(["open", "once"]);
    expect(proxy.taken.filter((route) => route === "POST /fapi/v1/order")).toHaveLength(2);
  });
});
