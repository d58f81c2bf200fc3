// Lines of a mirror log in JSON: no false equation, and no shortfall below zero.
import { expect, test } from "vitest";
import { encode } from "zod";
import { entryOf } from "../../copy/sizing/testing/actions.ts";
import { type Scale, skipOf } from "../../domain/copying.ts";
import { type Amount, decimal } from "../../money/decimal.ts";
import { profitSharesSchema } from "../schemas/copies.ts";
import { skipSchema } from "../schemas/copying.ts";
import { entryAnswer, profitSharesAnswer, skipAnswer } from "./entries.ts";

function partOf(scale: Scale, leadQuantity: string, scaledQuantity: string): string | null | undefined {
  const figures = {
    leadQuantity: decimal<never>(leadQuantity),
    scaledQuantity: decimal<never>(scaledQuantity),
  };
  return entryAnswer(entryOf({ ...figures, scale })).scale?.part;
}

test("a ratio is reported as the whole order's only if it gives the scaled size", () => {
  const collateral: Scale = { by: "COLLATERAL", ours: decimal("499.77"), theirs: decimal("999.08") };
  expect(partOf(collateral, "0.9", "0.45020719")).toBeNull();
  // The strategy sells 0.9 through zero: the part that closes is scaled by the positions.
  expect(partOf(collateral, "0.9", "0.45010111")).toBe("OPENING");
  const position: Scale = { by: "POSITION", ours: decimal("0.5"), theirs: decimal("1") };
  expect(partOf(position, "0.9", "0.45")).toBeNull();
  // Reduce-only, for more than the position.
  expect(partOf(position, "1.5", "0.5")).toBe("CLOSING");
});

test("figures that do not fall short have no shortfall", () => {
  const figures = {
    wanted: decimal<Amount>("30.06"),
    had: decimal<Amount>("126.39066"),
    unit: "QUOTE",
  } as const;
  const answer = encode(skipSchema, skipAnswer(skipOf("INSUFFICIENT_BALANCE", figures), "BTCUSDT"));
  expect(answer).toMatchObject({ wanted: "30.06", had: "126.39066", shortfall: null });
});

test("settlements of the profit share are newest first, with what they come to", () => {
  const settled = (leadAt: number, share: string) => {
    const [profit, mark] = [decimal<Amount>("100"), decimal<Amount>("40")];
    return entryOf({ leadAt, profitShare: { profit, mark, share: decimal(share) } });
  };
  const shares = profitSharesAnswer([settled(1, "6"), settled(2, "0.05")]);
  const { rate, asset, total, rows } = encode(profitSharesSchema, shares);
  expect([rate, asset, total]).toEqual(["0.1", "USDT", "6.05"]);
  expect(rows).toEqual([
    { at: 2, profit: "100", mark: "40", share: "0.05" },
    { at: 1, profit: "100", mark: "40", share: "6" },
  ]);
});
