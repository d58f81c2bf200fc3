// The worst case of settings, with the brackets of the reference exchange: 0.4 % maintenance margin below a
// notional of 50,000.
import { describe, expect, test } from "vitest";
import { type CopySettings, EXACT_SETTINGS } from "../../domain/copying.ts";
import { contractRules } from "../../engine/testing/contract-rules.ts";
import { type Amount, decimal, formatBriefly, type Rate } from "../../money/decimal.ts";
import { type WorstCaseInput, worstCase, worstCaseWords } from "./worst-case.ts";

const rate = (text: string) => decimal<Rate>(text);

function inputOf(leverage: number, settings: Partial<CopySettings> = {}, equity = "400"): WorstCaseInput {
  return {
    type: "FUTURES",
    settings: { ...EXACT_SETTINGS, ...settings },
    equity: decimal<Amount>(equity),
    contracts: [{ rules: contractRules("BTC"), leverage }],
  };
}

describe("the smallest move that liquidates", () => {
  test.each<[string, WorstCaseInput, string, string]>([
    // A short: (1 / 100 − 0.004) / 1.004.
    ["at leverage 100 without a cap", inputOf(100), "0.0059761", "400"],
    ["at leverage 5, which is the cap", inputOf(100, { leverageMax: 5 }), "0.19521913", "400"],
    ["with a bound for the position", inputOf(100, { positionMax: rate("2") }), "0.0059761", "8"],
    // 5000 at 100 times are 500,000, of the second bracket: (0.01 − 0.005 + 50 / 500000) / 1.005.
    ["of a notional in a higher bracket", inputOf(100, {}, "5000"), "0.00507463", "5000"],
    // (1 − 0.004) / 1.004; a long would be safe at this leverage.
    ["at leverage 1", inputOf(1), "0.99203188", "400"],
  ])("%s", (_, input, move, loss) => {
    const { liquidation } = worstCase(input);
    expect(liquidation && formatBriefly(liquidation.move)).toBe(move);
    expect(liquidation && formatBriefly(liquidation.loss)).toBe(loss);
  });

  test("is that of the contract that is liquidated first, and unknown where no contract is", () => {
    const input = inputOf(10);
    const eth = { rules: contractRules("ETH"), leverage: 50 };
    const found = worstCase({ ...input, contracts: [...input.contracts, eth] });
    expect(found.liquidation).toMatchObject({ symbol: "ETHUSDT", leverage: 50 });
    expect(found.exposure?.multiple).toBe(rate("50"));
    expect(worstCase({ ...input, contracts: [] })).toEqual({ liquidation: null, exposure: null });
  });
});

describe("in words", () => {
  const words = (input: WorstCaseInput) => worstCaseWords(worstCase(input), input);

  test("exactly as a strategy at leverage 100", () => {
    expect(words(inputOf(100))).toEqual([
      "At leverage 100 without a cap, a move of about 0.6 % would liquidate the position in BTCUSDT: 400 USDT would be lost.",
      "All positions together may be worth up to 100 times the equity, 40000 USDT: a move of 1 % against all of them costs 100 % of it.",
      "There is no stop loss: the copy can lose all that it uses.",
    ]);
  });

  test("protected", () => {
    const settings = {
      ...{ leverageMax: 5, positionMax: rate("2"), exposureMax: rate("5"), stopLoss: rate("0.2") },
    };
    expect(words(inputOf(100, settings))).toEqual([
      "At leverage 5, your maximum (the strategy uses 100), a move of about 19.5 % would liquidate the position in BTCUSDT: 160 USDT would be lost.",
      "All positions together may be worth up to 5 times the equity, 2000 USDT: a move of 1 % against all of them costs 5 % of it.",
      "The stop loss closes everything once 20 % are lost; in a fast market the loss can be larger.",
    ]);
    expect(words(inputOf(3, settings))[0]).toMatch(/^At leverage 3, the strategy's own, /);
  });

  test("of spot", () => {
    expect(words({ ...inputOf(1), type: "SPOT", contracts: [] })[0]).toBe(
      "On spot nothing is borrowed: the copy can hold coins for up to 400 USDT, and cannot be liquidated.",
    );
  });
});
