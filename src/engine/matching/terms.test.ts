// Fee tiers and latencies of the profile `strict`.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FEE_TIERS } from "../../domain/fill-profile.ts";
import { formatBriefly } from "../../money/decimal.ts";
import { BUNDLED_TIERS, latencyOf, STRICT_DEFAULTS, strictProfile } from "./terms.ts";

describe("rates", () => {
  test("the first tier has the specification's", () => {
    const spot = strictProfile("SPOT", STRICT_DEFAULTS);
    const futures = strictProfile("FUTURES", STRICT_DEFAULTS);
    expect([spot?.makerFee, spot?.takerFee].map((rate) => formatBriefly(rate ?? 0n))).toEqual([
      "0.001",
      "0.001",
    ]);
    expect([futures?.makerFee, futures?.takerFee].map((rate) => formatBriefly(rate ?? 0n))).toEqual([
      "0.0002",
      "0.0005",
    ]);
  });

  test("every spot tier is known, and of futures the first", () => {
    expect(Object.keys(BUNDLED_TIERS.SPOT)).toEqual([...FEE_TIERS]);
    expect(strictProfile("FUTURES", { ...STRICT_DEFAULTS, feeTier: "vip1" })).toBeNull();
  });

  test("the discount is rounded up at the eighth decimal", () => {
    const discounted = { ...STRICT_DEFAULTS, feeDiscount: "bnb" } as const;
    const rateOf = (feeTier: "vip3" | "vip5") =>
      formatBriefly(strictProfile("SPOT", { ...discounted, feeTier })?.makerFee ?? 0n);
    expect([rateOf("vip3"), rateOf("vip5")]).toEqual(["0.000315", "0.00027"]);
    expect(formatBriefly(strictProfile("FUTURES", discounted)?.takerFee ?? 0n)).toBe("0.00045");
    const odd = { SPOT: { regular: { maker: 1n, taker: 3n } }, FUTURES: {} } as never;
    expect(strictProfile("SPOT", discounted, odd)).toMatchObject({ makerFee: 1n, takerFee: 3n });
  });
});

describe("latency", () => {
  const DISTRIBUTION = { p50: 50, p90: 120, p99: 400 };

  test("is constant where it is a number", () => {
    expect(latencyOf(75, { strategyId: "a", clientOrderId: "b", action: "place" })).toBe(75);
  });

  test("is the same for the same command, and another for its cancel", () => {
    const command = { strategyId: "a", clientOrderId: "b", action: "place" } as const;
    expect(latencyOf(DISTRIBUTION, command)).toBe(latencyOf(DISTRIBUTION, { ...command }));
    const differing = Array.from({ length: 50 }, (_, index) => {
      const of = { strategyId: "a", clientOrderId: `${index}` };
      const placing = latencyOf(DISTRIBUTION, { ...of, action: "place" });
      return placing === latencyOf(DISTRIBUTION, { ...of, action: "cancel" }) ? 0 : 1;
    });
    expect(differing.filter((each) => each === 1).length).toBeGreaterThan(25);
  });

  test("lies between half of the median and twice the last quantile, for any distribution", async () => {
    const quantiles = fc
      .tuple(fc.nat(5_000), fc.nat(5_000), fc.nat(5_000))
      .map((values) => values.sort((one, other) => one - other));
    await fc.assert(
      fc.property(quantiles, fc.string(), ([p50 = 0, p90 = 0, p99 = 0], clientOrderId) => {
        const drawn = latencyOf({ p50, p90, p99 }, { strategyId: "s", clientOrderId, action: "place" });
        expect(Number.isInteger(drawn)).toBe(true);
        expect(drawn).toBeGreaterThanOrEqual(Math.floor(p50 / 2));
        expect(drawn).toBeLessThanOrEqual(2 * p99);
      }),
    );
  });

  test("has the quantiles that it was given", () => {
    const draws = Array.from({ length: 20_000 }, (_, index) =>
      latencyOf(DISTRIBUTION, { strategyId: "s", clientOrderId: `${index}`, action: "place" }),
    );
    const shareUpTo = (ms: number) => draws.filter((each) => each <= ms).length / draws.length;
    expect(shareUpTo(50)).toBeCloseTo(0.5, 1);
    expect(shareUpTo(120)).toBeCloseTo(0.9, 1);
    expect(shareUpTo(400)).toBeCloseTo(0.99, 2);
  });
});
