// Cancels over a way on which requests go wrong: in the end the order is over, or it is known that it may still be open.
import { describe, expect, test } from "vitest";
import { cancelSurely } from "./delivery.ts";
import { deliveryStage, HALTED, LIMIT, UNCLEAR } from "./testing/delivery-stage.ts";
import type { Fault } from "./testing/faulty-proxy.ts";

const CANCEL = "DELETE /api/v3/order";

const stage = deliveryStage();

describe("a cancel is brought to its end", () => {
  const cancel = (said: object = {}) =>
    cancelSurely({
      ...stage.deliverer,
      client: stage.client,
      kind: "ORDER",
      symbol: "BTCUSDT",
      clientOrderId: "once",
      ...said,
    });

  test.each<[string, Fault]>([...UNCLEAR, ["cut before the venue saw it", { kind: "CUT_BEFORE" }]])(
    "%s",
    async (_, fault) => {
      await stage.client.place(LIMIT);
      stage.proxy.plan(CANCEL, fault);
      expect(await cancel()).toMatchObject({ kind: "OVER", state: { status: "CANCELED" }, sends: 2 });
      expect((await stage.orders()).map(({ status }) => status)).toEqual(["CANCELED"]);
    },
  );

  test("of what was filled meanwhile it says so, of what never was it says nothing", async () => {
    const placed = await stage.client.place(LIMIT);
    if (placed.kind !== "OK") throw new Error("it rests");
    await stage.venue.fill(stage.strategy, placed.value.venueOrderId, "50000");
    expect(await cancel()).toMatchObject({ kind: "OVER", state: { status: "FILLED" }, sends: 1, queries: 1 });
    expect(await cancel({ clientOrderId: "never" })).toMatchObject({ kind: "OVER", state: null });
  });

  test("stopped before it was sent it may still be open; stopped after, it is looked at first", async () => {
    await stage.client.place(LIMIT);
    expect(await cancel({ mayStillSend: () => HALTED })).toMatchObject({ kind: "NOT_SENT", sends: 0 });
    let asked = 0;
    const afterOne = () => (asked++ === 0 ? null : HALTED);
    stage.proxy.plan(CANCEL, { kind: "CUT_BEFORE" });
    expect(await cancel({ mayStillSend: afterOne })).toMatchObject({ kind: "NOT_SENT", sends: 1 });
    asked = 0;
    stage.proxy.plan(CANCEL, { kind: "CUT_AFTER" });
    expect(await cancel({ mayStillSend: afterOne })).toMatchObject({
      kind: "OVER",
      state: { status: "CANCELED" },
    });
  });

  test("a key that is not accepted, and a sender who may not go on", async () => {
    expect(await cancel({ mayRun: () => false })).toMatchObject({ kind: "NOT_DECIDED", sends: 0 });
    await stage.venue.store.revokeKey(stage.strategy.apiKey, stage.time.now());
    expect(await cancel()).toMatchObject({ kind: "REJECTED", code: -2015 });
  });
});
