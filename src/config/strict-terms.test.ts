import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { formatBriefly } from "../money/decimal.ts";
import { feeTiersOf, profileOf } from "./strict-terms.ts";

const directory = mkdtempSync(join(tmpdir(), "lyrebird-terms-"));
afterAll(() => rmSync(directory, { recursive: true }));

function fileOf(text: string): string {
  const file = join(directory, "tiers.json");
  writeFileSync(file, text);
  return file;
}

const BUNDLED = feeTiersOf(null);

test("without options it is the standard profile, and strict has its defaults", () => {
  expect(profileOf("SPOT", {}, BUNDLED)).toBeUndefined();
  expect(profileOf("SPOT", { profile: "standard" }, BUNDLED)).toBeUndefined();
  expect(profileOf("FUTURES", { profile: "strict" }, BUNDLED)).toMatchObject({
    name: "strict",
    strict: { latency: 50, queue: "trades", refreshMs: 5_000, feeTier: "regular", feeDiscount: "none" },
  });
});

test("terms are as they were chosen", () => {
  const options = { profile: "strict", latency: "0", queue: "power-3", fees: "vip1" };
  const profile = profileOf("SPOT", options, BUNDLED);
  expect(profile).toMatchObject({ strict: { latency: 0, queue: "power-3", feeTier: "vip1" } });
  expect([profile?.makerFee, profile?.takerFee].map((rate) => formatBriefly(rate ?? 0n))).toEqual([
    "0.0009",
    "0.001",
  ]);
});

test("a latency may be drawn from a distribution, and the rates may be those of fees paid in BNB", () => {
  const profile = profileOf("SPOT", { profile: "strict", latency: "50/120/400", discount: "bnb" }, BUNDLED);
  expect(profile).toMatchObject({
    ...{ makerFee: 75_000n, takerFee: 75_000n },
    strict: { latency: { p50: 50, p90: 120, p99: 400 }, feeDiscount: "bnb" },
  });
});

test.each<[options: Parameters<typeof profileOf>[1], message: RegExp]>([
  [{ latency: "10" }, /--latency is a term of --profile strict/],
  [{ profile: "standard", queue: "trades" }, /--queue is a term/],
  [{ fees: "regular" }, /--fees is a term/],
  [{ profile: "real" }, /--profile is standard or strict, not "real"/],
  [{ profile: "strict", latency: "5001" }, /--latency in ms is 0 to 5000, or three quantiles.*not "5001"/],
  [{ profile: "strict", latency: "50/120" }, /--latency/],
  [{ profile: "strict", latency: "50/40/400" }, /--latency/],
  [{ profile: "strict", latency: "50/120/2501" }, /--latency/],
  [{ profile: "strict", discount: "half" }, /--discount is one of none, bnb, not "half"/],
  [{ discount: "bnb" }, /--discount is a term/],
  [{ profile: "strict", latency: "-1" }, /--latency/],
  [{ profile: "strict", latency: "1.5" }, /--latency/],
  [{ profile: "strict", queue: "power-0" }, /--queue is one of trades, power-1.*not "power-0"/],
  [{ profile: "strict", fees: "vip10" }, /--fees is one of regular.*not "vip10"/],
  [{ profile: "strict", fees: "vip1" }, /rates of vip1 are not known for futures: FEE_TIERS/],
])("%j is refused", (options, message) => {
  expect(() => profileOf("FUTURES", options, BUNDLED)).toThrow(message);
});

test("a file of fee tiers comes before the bundled ones", () => {
  const tiers = feeTiersOf(fileOf('{"futures":{"vip1":{"maker":"0.00016","taker":"0.0004"}}}'));
  expect(profileOf("FUTURES", { profile: "strict", fees: "vip1" }, tiers)?.makerFee).toBe(16_000n);
  expect(profileOf("SPOT", { profile: "strict", fees: "vip1" }, tiers)?.makerFee).toBe(90_000n);
});

test.each([
  "no JSON",
  '{"spot":{"vip1":{"maker":"0.1"}}}',
  '{"spot":{"gold":{"maker":"0.1","taker":"0.1"}}}',
  '{"spot":{"vip1":{"maker":"1","taker":"0.1"}}}',
  '{"spot":{"vip1":{"maker":"-0.1","taker":"0.1"}}}',
])("a file that says %s is refused", (text) => {
  expect(() => feeTiersOf(fileOf(text))).toThrow(/FEE_TIERS .* is no file of fee tiers/);
});
