// Making a strategy with a fill profile, over the dashboard's own route.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type DashboardFixture, openDashboardFixture } from "../../test/support/dashboard/fixture.ts";

let fixture: DashboardFixture;
let trader: Awaited<ReturnType<DashboardFixture["somebody"]>>;

beforeAll(async () => {
  fixture = await openDashboardFixture();
  trader = await fixture.somebody({ kyc: "APPROVED" });
});
afterAll(() => fixture.close());

let keys = 0;
/** A key that no strategy has yet: there is a bound to their number. */
let freeKeyId: string | null = null;

async function make(fields: Readonly<Record<string, unknown>>) {
  if (freeKeyId === null) {
    keys += 1;
    const { key } = await trader.send("POST", "/keys", { label: `key ${keys}`, code: trader.code() });
    freeKeyId = key.keyId;
  }
  const body = { name: `Strategy ${keys}`, type: "SPOT", keyId: freeKeyId, ...fields };
  const made = await trader.call("POST", "/strategies", { body });
  if (made.status === 201) freeKeyId = null;
  return made;
}

describe("a new strategy", () => {
  test("is of the profile standard unless it is asked otherwise", async () => {
    const made = await make({});
    expect(made.status).toBe(201);
    const standard = { name: "standard", version: 1, makerFee: "0.001", takerFee: "0.001", strict: null };
    expect(made.body.fillProfile).toEqual(standard);
    expect((await make({ profile: "standard", type: "FUTURES" })).body.fillProfile).toMatchObject({
      ...{ name: "standard", makerFee: "0.0002", takerFee: "0.0005" },
    });
  });

  test("has the terms of strict that were chosen, and defaults for the others", async () => {
    const made = await make({
      profile: "strict",
      latencyMs: 120,
      queue: "power-3",
      refreshMs: 0,
      fees: "vip3",
    });
    const { strategyId, fillProfile } = made.body;
    expect(fillProfile).toMatchObject({
      ...{ name: "strict", makerFee: "0.00042", takerFee: "0.0006" },
      strict: { latency: 120, queue: "power-3", refreshMs: 0, feeTier: "vip3", feeDiscount: "none" },
    });
    expect((await trader.get(`/strategies/${strategyId}`)).fillProfile).toEqual(fillProfile);
    const { rows } = await trader.get("/strategies");
    expect(rows.find((row: { strategyId: string }) => row.strategyId === strategyId).fillProfile).toEqual(
      fillProfile,
    );
    const latency = { p50: 50, p90: 120, p99: 400 };
    const drawn = await make({ profile: "strict", type: "FUTURES", latencyMs: latency, discount: "bnb" });
    expect(drawn.body.fillProfile).toMatchObject({
      ...{ name: "strict", makerFee: "0.00018", takerFee: "0.00045" },
      strict: { latency, feeDiscount: "bnb" },
    });
    expect((await make({ profile: "strict", type: "FUTURES" })).body.fillProfile).toMatchObject({
      ...{ name: "strict", makerFee: "0.0002", takerFee: "0.0005" },
      strict: { latency: 50, queue: "trades", refreshMs: 5_000, feeTier: "regular" },
    });
  });

  test.each([
    ["latencyMs", { profile: "strict", latencyMs: 5_001 }],
    ["latencyMs", { profile: "strict", latencyMs: -1 }],
    ["latencyMs", { profile: "strict", latencyMs: 1.5 }],
    ["latencyMs", { profile: "strict", latencyMs: "50" }],
    ["latencyMs", { profile: "strict", latencyMs: null }],
    ["latencyMs", { profile: "strict", latencyMs: { p50: 50, p90: 40, p99: 400 } }],
    ["latencyMs", { profile: "strict", latencyMs: { p50: 50, p90: 120, p99: 2_501 } }],
    ["latencyMs", { profile: "strict", latencyMs: { p50: 50, p90: 120 } }],
    ["discount", { profile: "strict", discount: "half" }],
    ["queue", { profile: "strict", queue: "power-10" }],
    ["refreshMs", { profile: "strict", refreshMs: 60_001 }],
    ["fees", { profile: "strict", fees: "vip10" }],
    ["fees", { profile: "strict", type: "FUTURES", fees: "vip1" }],
    ["profile", { profile: "lenient" }],
    ["latencyMs", { latencyMs: 50 }],
    ["queue", { profile: "standard", queue: "trades" }],
  ])("is refused by the field %s: %o", async (field, fields) => {
    const { status, body } = await make(fields);
    expect([status, body.error.code]).toEqual([400, "BODY_UNFIT"]);
    expect(Object.keys(body.error.fields)).toEqual([field]);
  });
});

test("the fee tiers are those whose rates are known", async () => {
  const { rows } = await trader.get("/fee-tiers");
  expect(rows).toHaveLength(11);
  expect(rows[1]).toEqual({ type: "SPOT", tier: "vip1", maker: "0.0009", taker: "0.001" });
  expect(rows.at(-1)).toEqual({ type: "FUTURES", tier: "regular", maker: "0.0002", taker: "0.0005" });
});
