import { expect, test } from "vitest";
import type { ClosePreviewJson, LegJson, OrderJson } from "../../../../../src/dashboard-api/schemas.ts";
import { closeInWords } from "./close-words.ts";

const nothing: ClosePreviewJson = {
  confirmation: "grid",
  cancelled: [],
  legs: [],
  sold: [],
  dust: [],
  waitingFor: [],
};

test("of nothing nothing is said", () => {
  expect(closeInWords(nothing)).toEqual([]);
});

test("what is canceled, sold, bought back, waited for and left has a line", () => {
  expect(
    closeInWords({
      ...nothing,
      cancelled: [{}, {}] as OrderJson[],
      legs: [{}] as LegJson[],
      sold: [
        { symbol: "BTCUSDT", side: "SELL", quantity: "0.5", brings: "30000" },
        { symbol: "ETHUSDT", side: "BUY", quantity: "2", brings: "-1" },
        { symbol: "XRPUSDT", side: "SELL", quantity: "9", brings: null },
      ],
      dust: [{ asset: "BNB", quantity: "0.00001", value: null }],
      waitingFor: ["XRPUSDT"],
    }),
  ).toEqual([
    "2 open orders are canceled.",
    "1 take profit or stop loss is canceled.",
    "0.5 BTCUSDT is sold at market.",
    "2 ETHUSDT is bought back at market.",
    "It waits for the market of XRPUSDT.",
    "0.00001 BNB is too small to sell, and stays.",
  ]);
});

test("of a holding that is sold in part now, both parts have a line", () => {
  const part = { symbol: "BTCUSDT", side: "SELL" } as const;
  expect(
    closeInWords({
      ...nothing,
      sold: [
        { ...part, quantity: "0.4", brings: "24000" },
        { ...part, quantity: "0.6", brings: null },
      ],
      waitingFor: ["BTCUSDT"],
    }),
  ).toEqual(["0.4 BTCUSDT is sold at market.", "It waits for the market of BTCUSDT."]);
});
