// Legs, and orders of contracts, over a way on which requests go wrong: once means once for them too.
import { beforeEach, describe, expect, test } from "vitest";
import { decimal } from "../../money/decimal.ts";
import { cancelSurely, deliver } from "./delivery.ts";
import { deliveryStage, MARKET, UNCLEAR } from "./testing/delivery-stage.ts";
import type { Fault } from "./testing/faulty-proxy.ts";
import type { VenueLeg } from "./venue.ts";

const stage = deliveryStage();
const { send } = stage;

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
    return deliver({ ...stage.deliverer, client: stage.client, what, mayHaveBeenSentAt: null });
  };
  const legs = async () => {
    const account = await stage.venue.store.loadAccount(stage.strategy.strategyId);
    return [...(account?.account.openLegs.values() ?? [])].map(({ clientLegId }) => clientLegId);
  };

  beforeEach(async () => {
    await stage.use("FUTURES");
    expect(await send({ ...MARKET, clientOrderId: "open" })).toMatchObject({ kind: "PLACED" });
  });

  test.each<[string, Fault]>([...UNCLEAR, ["cut before the venue saw it", { kind: "CUT_BEFORE" }]])(
    "a leg, %s",
    async (_, fault) => {
      stage.proxy.plan(LEG_ROUTE, fault);
      expect(await deliverLeg()).toMatchObject({ kind: "PLACED", state: { status: "RESTING" } });
      expect(await legs()).toEqual(["leg"]);
      expect(stage.proxy.taken.filter((route) => route === LEG_ROUTE)).toHaveLength(1);
    },
  );

  test("a leg of its kind that is there already: ours is found, another's is a refusal", async () => {
    const exists = { status: 400, body: '{"code":-4130,"msg":"An open stop or take profit order exists."}' };
    stage.proxy.plan(LEG_ROUTE, { kind: "ERROR_AFTER", ...exists });
    expect(await deliverLeg()).toMatchObject({ kind: "PLACED" });
    expect(await deliverLeg("another")).toMatchObject({ kind: "REFUSED", code: -4130 });
    expect(await legs()).toEqual(["leg"]);
  });

  test("a cancel of a leg that was lost", async () => {
    await deliverLeg();
    stage.proxy.plan("DELETE /fapi/v1/algoOrder", { kind: "CUT_AFTER" });
    const what = { kind: "LEG", symbol: "BTCUSDT", clientOrderId: "leg" } as const;
    expect(await cancelSurely({ ...stage.deliverer, client: stage.client, ...what })).toMatchObject({
      kind: "OVER",
      state: { status: "CANCELED" },
    });
    expect(await legs()).toEqual([]);
  });

  test.each(UNCLEAR)("an order of a contract, %s", async (_, fault) => {
    stage.proxy.plan("POST /fapi/v1/order", fault);
    expect(await send(MARKET)).toMatchObject({ kind: "PLACED", state: { status: "FILLED" }, sends: 1 });
    const ids = (await stage.orders()).map(({ clientOrderId }) => clientOrderId);
    expect(ids).toEqual(["open", "once"]);
    expect(stage.proxy.taken.filter((route) => route === "POST /fapi/v1/order")).toHaveLength(2);
  });
});
