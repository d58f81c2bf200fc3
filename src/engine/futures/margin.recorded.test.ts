// Margin as the exchange has published it: the worked examples of its support pages, and positions that
// accounts showed.
import { describe, expect, test } from "vitest";
import type { Position } from "../../domain/account.ts";
import type { Bracket } from "../../domain/symbol.ts";
import { decimal, formatDecimal, magnitude, type Price, subtract, ZERO } from "../../money/decimal.ts";
import { contractRules, EXAMPLE_BRACKETS } from "../testing/contract-rules.ts";
import { positionOf } from "../testing/positions.ts";
import { isHere, recorded, SKIPPED } from "../testing/recorded.ts";
import { initialMargin, isolatedMarginOf, liquidationPrice, profitAt } from "./margin.ts";

const { contract: TERMS } = contractRules("BTC");
/** Default tolerance: one part in this many. */
const RELATIVE_TOLERANCE = 100_000_000n;

const HALF_A_CENT = decimal<Price>("0.005");

type Example = {
  readonly side: "LONG" | "SHORT";
  readonly qty: number;
  readonly entryPrice: number;
  readonly mmr: number;
  readonly cum: number;
};
type Published = {
  readonly cases: readonly {
    readonly id: string;
    readonly kind: "isolated" | "cross";
    readonly inputs: Example & { readonly isolatedWallet: number };
    readonly expected: { readonly liquidationPrice: number };
    readonly tolerance: number;
  }[];
  readonly freqtrade_computed: {
    readonly cases: readonly (Example & { readonly leverage: number; readonly expected: number })[];
  };
};

describe.skipIf(!isHere)(`published liquidation prices${SKIPPED}`, () => {
  const published = () => recorded("examples/liquidation-price-published.json") as Published;

  test("of isolated positions; ours are never cross", () => {
    const cases = published().cases.filter(({ kind }) => kind === "isolated");
    expect(cases.map(({ id }) => id)).toEqual(["faq-isolated-ETH", "faq-isolated-BTC"]);
    for (const { inputs, expected, tolerance } of cases) {
      const position = positionOf(
        signedQuantity(inputs),
        String(inputs.entryPrice),
        String(inputs.isolatedWallet),
      );
      const difference = subtract(liquidated(position, inputs), published8(expected.liquidationPrice));
      expect(magnitude(difference)).toBeLessThanOrEqual(published8(tolerance));
    }
  });

  test("of positions with no more than their initial margin", () => {
    const { cases } = published().freqtrade_computed;
    expect(cases.length).toBe(8);
    for (const example of cases) {
      const bare = positionOf(signedQuantity(example), String(example.entryPrice), "0");
      const margin = initialMargin(
        decimal(String(example.entryPrice)),
        decimal(String(example.qty)),
        example.leverage,
      );
      const price = liquidated({ ...bare, isolatedWallet: margin }, example);
      const expected = published8(example.expected);
      expect(magnitude(subtract(price, expected)) * RELATIVE_TOLERANCE).toBeLessThanOrEqual(expected);
    }
  });
});

type Shown = Readonly<
  Record<"positionAmt" | "isolatedMargin" | "liquidationPrice" | "markPrice" | "unRealizedProfit", string>
>;

test.skipIf(!isHere)(`a long and a short as an account showed them${SKIPPED}`, () => {
  const fixtures = recorded("captures/nautilus-binance-fixtures.json.gz") as Readonly<
    Record<string, readonly Shown[]>
  >;
  const shown = fixtures["tests/http_responses/http_futures_account_positions_hedge.json"] ?? [];
  expect(shown.length).toBe(2);
  for (const { positionAmt, isolatedMargin, liquidationPrice: price, markPrice, unRealizedProfit } of shown) {
    const mark = decimal<Price>(markPrice);
    const profit = decimal(unRealizedProfit);
    // The entry follows from mark and profit, the wallet from margin and profit.
    const bare = positionOf(positionAmt, markPrice, "0");
    const change = (profit * decimal("1")) as Position["entryValue"];
    const entryValue = (
      bare.quantity > 0n ? bare.entryValue - change : bare.entryValue + change
    ) as typeof change;
    const isolatedWallet = (decimal(isolatedMargin) - profit) as Position["isolatedWallet"];
    const position = { ...bare, entryValue, isolatedWallet };

    expect(profitAt(position, mark)).toBe(profit);
    expect(formatDecimal(isolatedMarginOf(position, mark))).toBe(isolatedMargin);
    // The brackets of that time had the same second row, in which both lie.
    const computed = liquidationPrice(position, { ...TERMS, brackets: EXAMPLE_BRACKETS.slice(1, 2) });
    // It is shown to the cent.
    expect(magnitude(subtract(computed ?? ZERO, decimal<Price>(price)))).toBeLessThanOrEqual(HALF_A_CENT);
  }
});

function signedQuantity({ side, qty }: Example): string {
  return `${side === "SHORT" ? "-" : ""}${qty}`;
}

/** With the bracket that the example gives, whatever the notional. */
function liquidated(position: Position, { mmr, cum }: Example): Price {
  const [first] = EXAMPLE_BRACKETS;
  if (first === undefined) throw new Error("there are brackets");
  const only: Bracket = { ...first, maintenanceRate: decimal(String(mmr)), cum: decimal(String(cum)) };
  const price = liquidationPrice(position, { ...TERMS, brackets: [only] });
  if (price === null) throw new Error("every published example has a liquidation price");
  return price;
}

/** A published number as its digits say it, to the eighth of them after the point. */
function published8(value: number): Price {
  const [whole = "0", fraction = ""] = String(value).split(".");
  return decimal(`${whole}.${fraction.slice(0, 8).padEnd(1, "0")}`);
}
