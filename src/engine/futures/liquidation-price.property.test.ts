// The liquidation price against its definition, in exact arithmetic: at it the margin no longer exceeds the
// maintenance margin of the bracket that the notional lies in there, one step of the price before it it does.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Position } from "../../domain/account.ts";
import type { Bracket } from "../../domain/symbol.ts";
import { bundledBrackets } from "../../market/brackets/bundled.ts";
import {
  type Amount,
  magnitude,
  type Price,
  type Product,
  type Quantity,
  SCALE,
  ZERO,
} from "../../money/decimal.ts";
import { contractRules } from "../testing/contract-rules.ts";
import { isHere, recordedBrackets, SKIPPED } from "../testing/recorded.ts";
import { isTriggeredBy, liquidationTrigger } from "../trigger.ts";
import { liquidationPrice } from "./margin.ts";

const RUNS = 5_000;
const { contract: TERMS } = contractRules("BTC");

describe("the liquidation price is where margin meets maintenance", () => {
  test("over the bundled brackets", () => check([...bundledBrackets.values()]));

  test.skipIf(!isHere)(`over the recorded brackets of every symbol${SKIPPED}`, () => {
    for (const [day, table] of recordedBrackets()) {
      expect(table.size, day).toBeGreaterThan(300);
      check([...table.values()]);
    }
  });
});

function check(tables: readonly (readonly Bracket[])[]): void {
  const counts = { liquidated: 0, never: 0, atBorder: 0 };
  const anyTable = fc.constantFrom(...tables);
  fc.assert(
    fc.property(anyTable, anyPosition(), (brackets, position) => {
      checkPosition(position, brackets);
      if (liquidationPrice(position, { ...TERMS, brackets }) === null) counts.never += 1;
      else counts.liquidated += 1;
    }),
    { numRuns: RUNS },
  );
  fc.assert(
    fc.property(
      anyTable.chain((brackets) => fc.tuple(fc.constant(brackets), positionAtBorder(brackets))),
      ([brackets, position]) => {
        if (position.isolatedWallet < 0n) return;
        checkPosition(position, brackets);
        counts.atBorder += 1;
      },
    ),
    { numRuns: RUNS },
  );
  // Every case must occur, or the test checks nothing.
  expect(counts.liquidated).toBeGreaterThan(RUNS / 2);
  expect(counts.never).toBeGreaterThan(0);
  expect(counts.atBorder).toBeGreaterThan(RUNS / 2);
}

function checkPosition(position: Position, brackets: readonly Bracket[]): void {
  const isLong = position.quantity > 0n;
  const price = liquidationPrice(position, { ...TERMS, brackets });
  if (price === null) {
    expect(isLong).toBe(true);
    expect(excessAt(1n, position, brackets)).toBeGreaterThan(0n);
    return;
  }
  const before = (isLong ? price + 1n : price - 1n) as Price;
  expect(excessAt(price, position, brackets)).toBeLessThanOrEqual(0n);
  expect(excessAt(before, position, brackets)).toBeGreaterThan(0n);
  expect(isTriggeredBy(liquidationTrigger(position, price), price)).toBe(true);
  expect(isTriggeredBy(liquidationTrigger(position, price), before)).toBe(false);
}

/** The margin less the maintenance margin at a price, in units of 1e-24. */
function excessAt(
  price: bigint,
  { quantity, entryValue, isolatedWallet }: Position,
  brackets: readonly Bracket[],
): bigint {
  const notional = magnitude(quantity) * price;
  const profit = quantity > 0n ? notional - entryValue : entryValue - notional;
  const margin = isolatedWallet * SCALE + profit;
  const bracket =
    brackets.find(
      ({ notionalFloor, notionalCap }) => notionalFloor * SCALE <= notional && notional < notionalCap * SCALE,
    ) ?? brackets.at(-1);
  if (bracket === undefined) throw new Error("a table has brackets");
  return margin * SCALE - (notional * bracket.maintenanceRate - bracket.cum * SCALE * SCALE);
}

/** From dust to beyond every bracket, with a wallet of anything up to more than the position is worth. */
function anyPosition(): fc.Arbitrary<Position> {
  return fc
    .record({
      size: digits(16),
      entry: digits(13),
      share: fc.oneof(fc.bigInt(0n, SCALE / 10n), fc.bigInt(0n, (SCALE * 11n) / 10n)),
      isLong: fc.boolean(),
    })
    .map(({ size, entry, share, isLong }) =>
      positionWith(isLong ? size : -size, size * entry, (size * entry * share) / SCALE / SCALE),
    );
}

/**
 * One that ends within a few steps of where one bracket becomes the next; its wallet is negative where none
 * does.
 */
function positionAtBorder(brackets: readonly Bracket[]): fc.Arbitrary<Position> {
  return fc
    .record({
      border: fc.constantFrom(...brackets.map(({ notionalCap }) => notionalCap)),
      size: digits(13),
      steps: fc.bigInt(-3n, 3n),
      loss: fc.bigInt(0n, SCALE / 2n),
      isLong: fc.boolean(),
    })
    .map(({ border, size, steps, loss, isLong }) => {
      const price = (border * SCALE) / size + steps;
      const entry = isLong ? (price * (SCALE + loss)) / SCALE : (price * (SCALE - loss)) / SCALE;
      const bare = positionWith(isLong ? size : -size, size * entry, 0n);
      // The shortfall at that price is what the wallet must hold.
      return { ...bare, isolatedWallet: (-excessAt(price, bare, brackets) / SCALE / SCALE) as Amount };
    });
}

function positionWith(quantity: bigint, entryValue: bigint, isolatedWallet: bigint): Position {
  return {
    symbol: "BTCUSDT",
    quantity: quantity as Quantity,
    entryValue: entryValue as Product,
    isolatedWallet: isolatedWallet as Amount,
    burden: ZERO,
    openedAt: 0,
    updatedAt: 0,
  };
}

/** Numbers of every length up to this one, each as likely. */
function digits(most: number): fc.Arbitrary<bigint> {
  return fc
    .integer({ min: 0, max: most - 1 })
    .chain((length) => fc.bigInt(10n ** BigInt(length), 10n ** BigInt(length + 1)));
}
