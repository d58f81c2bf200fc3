// Deliveries of orders that do not just succeed: refused, stopped, left to whoever takes over, or held up by the venue's limits.
import { describe, expect, test } from "vitest";
import { decimal } from "../../money/decimal.ts";
import { deliveryStage, HALTED, LIMIT, MARKET, PLACE } from "./testing/delivery-stage.ts";
import { FaultyProxy } from "./testing/faulty-proxy.ts";
import type { VenueOrder } from "./venue.ts";

const stage = deliveryStage();
const { send, expectOnce } = stage;

describe("outcomes other than that it stands", () => {
  test("a refusal, in the venue's words; also after a first try that was lost", async () => {
    stage.proxy.plan(PLACE, { kind: "CUT_BEFORE" });
    const poor = { ...MARKET, quantity: decimal<VenueOrder["quantity"]>("5") };
    expect(await send(poor)).toMatchObject({ kind: "REFUSED", code: -2010, sends: 2 });
    expect(await stage.orders()).toEqual([]);
  });

  test("a key that is not accepted; whether an earlier try may have been carried out", async () => {
    await stage.venue.store.revokeKey(stage.strategy.apiKey, stage.time.now());
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
    expect(stage.proxy.seen).toEqual([]);
  });

  test("stopped after it was sent: obeyed only if it was not carried out", async () => {
    let sends = 0;
    const mayStillSend = () => (sends++ === 0 ? null : HALTED);
    stage.proxy.plan(PLACE, { kind: "CUT_AFTER" });
    expect(await send(MARKET, { mayStillSend })).toMatchObject({ kind: "PLACED", sends: 1 });
    sends = 0;
    stage.proxy.plan(PLACE, { kind: "CUT_BEFORE" });
    const other = { ...MARKET, clientOrderId: "other" };
    expect(await send(other, { mayStillSend })).toMatchObject({ kind: "NOT_SENT", sends: 1, queries: 2 });
    await expectOnce();
  });

  test("undecided only once its sender may not go on", async () => {
    stage.proxy.plan(PLACE, { kind: "CUT_AFTER" });
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
    stage.proxy.plan(PLACE, { kind: "ERROR_AFTER", ...duplicate });
    expect(await send(LIMIT)).toMatchObject({ kind: "PLACED", state: { status: "RESTING" }, sends: 1 });
    stage.proxy.plan(PLACE, { kind: "ANSWER", ...duplicate });
    const none = { ...LIMIT, clientOrderId: "none" };
    expect(await send(none)).toMatchObject({ kind: "REFUSED", code: -2010, sends: 1 });
    await expectOnce("LIMIT");
  });
});

describe("the venue's limits are waited for", () => {
  test("429: as long as it says, and not a request before", async () => {
    stage.proxy.plan(PLACE, {
      kind: "ANSWER",
      status: 429,
      body: '{"code":-1015,"msg":"Too many new orders."}',
      headers: { "retry-after": "7" },
    });
    const began = stage.time.now();
    expect(await send(MARKET)).toMatchObject({ kind: "PLACED", sends: 1, queries: 0, sentAt: began + 7_000 });
    expect(stage.proxy.seen).toEqual([PLACE, PLACE]);
    await expectOnce();
  });

  test("418: everybody waits until the ban is over", async () => {
    const until = stage.time.now() + 120_000;
    stage.proxy.plan(PLACE, {
      kind: "ANSWER",
      status: 418,
      body: `{"code":-1003,"msg":"Way too much request weight used; IP banned until ${until}."}`,
    });
    const delivery = send(MARKET, {
      async pause(ms) {
        const other = stage.venue.client("SPOT", await stage.venue.seed("SPOT"), stage.proxy.url);
        expect(await other.balances()).toMatchObject({ kind: "DELAYED", why: "LIMITED", until });
        stage.time.advance(ms * 60);
      },
    });
    expect(await delivery).toMatchObject({ kind: "PLACED", sends: 1 });
    expect(stage.proxy.seen).toEqual([PLACE, PLACE]);
    await expectOnce();
  });

  test("no connection: nothing was sent, and nothing is asked for", async () => {
    const nobody = await FaultyProxy.open(stage.venue.url);
    const there = stage.venue.client("SPOT", stage.strategy, nobody.url);
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
    expect(await stage.orders()).toEqual([]);
  });

  test("-1021 in the middle: the clock is corrected, and it is sent once more", async () => {
    stage.venue.setAhead(20_000);
    expect(await send(MARKET)).toMatchObject({ kind: "PLACED", sends: 1, queries: 0 });
    stage.venue.setAhead(0);
    expect(stage.proxy.seen).toEqual([PLACE, "GET /api/v3/time", PLACE]);
    await expectOnce();
  });
});
