// The worked examples of the reference exchange's mathematics as a trader goes through them: orders in,
// decisions out. The opening fee and the open loss are part of the wallet here, so that the numbers are those
// of the examples' opening note, and the formulas' with that wallet. Source: reference exchange, section 15.
import { expect, test } from "vitest";
import type { Position } from "../../domain/account.ts";
import { decimal, formatBriefly, type Price } from "../../money/decimal.ts";
import { emptyLedgerAccounts, ownedOf } from "../../money/posting.ts";
import { contractRules } from "../testing/contract-rules.ts";
import { FUTURES } from "../testing/futures-setup.ts";
import { Workbench } from "../testing/workbench.ts";
import {
  bankruptcyPrice,
  breakEvenPrice,
  entryPriceOf,
  initialMargin,
  isolatedMarginOf,
  liquidationPrice,
  maintenanceMargin,
  profitAt,
} from "./margin.ts";

const { contract: TERMS } = contractRules("BTC");

/** 1,000 USDT, leverage 10, MARKET BUY 0.020 at 60,000, with the mark there. */
function exampleA(): Workbench {
  const bench = new Workbench(FUTURES);
  for (const step of ["mark BTCUSDT 60000", "quote BTCUSDT 60000 60000", "leverage BTCUSDT 10"])
    bench.take(step);
  bench.take("buy 0.02 BTCUSDT");
  return bench;
}

test("Example A: what is free, what the position holds, and where it ends", () => {
  const bench = exampleA();
  const position = positionOn(bench);
  expect(wallet(bench)).toBe("999.4");
  expect(free(bench)).toBe("880");
  expect(formatBriefly(position.isolatedWallet)).toBe("119.4");
  expect(formatBriefly(liquidationPrice(position, TERMS) ?? 0n)).toBe("54246.9879518");
  expect(formatBriefly(bankruptcyPrice(position))).toBe("54030");
  expect(formatBriefly(breakEvenPrice(position))).toBe("60030");
});

test("Example A at 61000: profit, margin and maintenance", () => {
  const mark = decimal<Price>("61000");
  const position = positionOn(exampleA());
  expect(formatBriefly(profitAt(position, mark))).toBe("20");
  expect(formatBriefly(isolatedMarginOf(position, mark))).toBe("139.4");
  expect(formatBriefly(maintenanceMargin(position.quantity, mark, TERMS))).toBe("4.88");
  expect(formatBriefly(initialMargin(mark, position.quantity, 10))).toBe("122");
});

test("at its liquidation price the margin of Example A is its maintenance margin", () => {
  const position = positionOn(exampleA());
  const price = liquidationPrice(position, TERMS) ?? decimal<Price>("0");
  // The price is the exact one cut off, and both are rounded against the account.
  expect(formatBriefly(maintenanceMargin(position.quantity, price, TERMS))).toBe("4.33975904");
  expect(formatBriefly(isolatedMarginOf(position, price))).toBe("4.33975903");
});

test("Example A liquidated: what is left of the wallet pays the clearance fee, and 880 remain", () => {
  const bench = exampleA();
  const { outcome } = bench.take("mark BTCUSDT 54246.9879518");
  expect(outcome).toBe(
    "placed 2, then filled 2: 0.02 @ 54246.9879518 fee 0 USDT taker realized -115.06024097 clearance -4.33975903",
  );
  expect(wallet(bench)).toBe("880");
  expect(free(bench)).toBe("880");
});

test("Example A with BUY 0.01 @ 58000 open, which locks 58 (15.7, 15.8)", () => {
  const bench = exampleA();
  bench.take("buy 0.01 BTCUSDT @ 58000");
  expect(free(bench)).toBe("822");
  expect(locked(bench)).toBe("58");
  expect(wallet(bench)).toBe("999.4");
});

test("an order against Example A locks what goes beyond closing it (15.7)", () => {
  const closing = exampleA();
  closing.take("sell 0.02 BTCUSDT @ 62000");
  expect(locked(closing)).toBe("0");
  const flipping = exampleA();
  flipping.take("sell 0.06 BTCUSDT @ 62000");
  expect(locked(flipping)).toBe("248");
});

test("adding: BUY 0.01 at 57000 makes the entry 59000 and adds 57 less its fee to the wallet (15.9)", () => {
  const bench = exampleA();
  bench.take("mark BTCUSDT 57000");
  bench.take("quote BTCUSDT 57000 57000");
  bench.take("buy 0.01 BTCUSDT");
  const position = positionOn(bench);
  expect(formatBriefly(entryPriceOf(position))).toBe("59000");
  expect(formatBriefly(position.isolatedWallet)).toBe("176.115");
  expect(free(bench)).toBe("823");
  expect(formatBriefly(position.burden)).toBe("0.885");
});

test("reducing: SELL 0.01 at 61000 realizes 10, releases half of the wallet and pays 0.305 (15.9)", () => {
  const bench = exampleA();
  bench.take("mark BTCUSDT 61000");
  bench.take("quote BTCUSDT 61000 61000");
  expect(bench.take("sell 0.01 BTCUSDT").outcome).toContain("fee 0.305 USDT taker realized +10");
  const position = positionOn(bench);
  expect(formatBriefly(entryPriceOf(position))).toBe("60000");
  expect(formatBriefly(position.isolatedWallet)).toBe("59.7");
  expect(free(bench)).toBe("949.395");
  // Fees of 0.905 so far, less the 10 that were gained: it breaks even below its entry.
  expect(formatBriefly(breakEvenPrice(position))).toBe("59090.5");
});

test("flipping: SELL 0.05 at 61000 closes with 20 and opens 0.03 with 183 less its share of the fee (15.9)", () => {
  const bench = exampleA();
  bench.take("mark BTCUSDT 61000");
  bench.take("quote BTCUSDT 61000 61000");
  expect(bench.take("sell 0.05 BTCUSDT").outcome).toContain("fee 1.525 USDT taker realized +20");
  const position = positionOn(bench);
  expect(formatBriefly(position.quantity)).toBe("-0.03");
  expect(formatBriefly(entryPriceOf(position))).toBe("61000");
  expect(formatBriefly(position.isolatedWallet)).toBe("182.085");
  expect(formatBriefly(position.burden)).toBe("0.915");
});

test("funding: 0.0001 at 61000 costs Example A 0.122 of its wallet (15.10)", () => {
  const bench = exampleA();
  bench.take("time 08:00");
  expect(bench.take("funding BTCUSDT 0.0001 @ 61000").outcome).toBe("funding -0.122");
  const position = positionOn(bench);
  expect(formatBriefly(position.isolatedWallet)).toBe("119.278");
  expect(formatBriefly(liquidationPrice(position, TERMS) ?? 0n)).toBe("54253.11244979");
});

test.each([
  ["a long opened above the mark", "buy", "60000", "59990", "119.6"],
  ["a long opened below the mark", "buy", "60000", "60010", "119.4"],
  ["a short opened below the mark", "sell", "60000", "60010", "119.6"],
  ["a short opened above the mark", "sell", "60000", "59990", "119.4"],
])("the wallet of %s is margin + open loss − fee", (_, side, price, mark, expected) => {
  const bench = new Workbench(FUTURES);
  for (const step of [`mark BTCUSDT ${mark}`, `quote BTCUSDT ${price} ${price}`, "leverage BTCUSDT 10"])
    bench.take(step);
  bench.take(`${side} 0.02 BTCUSDT`);
  expect(formatBriefly(positionOn(bench).isolatedWallet)).toBe(expected);
});

test("a position is as old as its opening; adding and reducing change it, flipping begins another", () => {
  const bench = exampleA();
  const openedAt = bench.at;
  for (const step of ["buy 0.01 BTCUSDT", "sell 0.02 BTCUSDT"]) {
    bench.take(step);
    expect(positionOn(bench)).toMatchObject({ openedAt, updatedAt: bench.at });
  }
  bench.take("sell 0.02 BTCUSDT");
  expect(positionOn(bench)).toMatchObject({ openedAt: bench.at, updatedAt: bench.at });
});

test("a wallet's step at every fill is what was realized less the commission", () => {
  const bench = exampleA();
  let before = ownedOf(bench.account.balances, "USDT");
  const steps = ["buy 0.013 BTCUSDT", "sell 0.021 BTCUSDT", "sell 0.05 BTCUSDT @ 60100", "buy 0.038 BTCUSDT"];
  for (const [index, step] of steps.entries()) {
    const price = `${60_000 + 37 * index}.3`;
    bench.take(`mark BTCUSDT ${price}`);
    bench.take(`quote BTCUSDT ${price} ${price}`);
    const outcome = [bench.take(step).outcome, bench.take("quote BTCUSDT 60100 60100.1").outcome].join();
    const changes = [...outcome.matchAll(/(fee|realized) ([+-]?[0-9.]+)/g)].map(([, what, amount = ""]) =>
      what === "fee" ? -decimal(amount) : decimal(amount.replace("+", "")),
    );
    const after = ownedOf(bench.account.balances, "USDT");
    expect(changes.length, outcome).toBeGreaterThan(0);
    expect(after - before).toBe(changes.reduce((sum, change) => sum + change, 0n));
    before = after;
  }
});

function positionOn({ account }: Workbench): Position {
  const position = account.positions.get("BTCUSDT");
  if (position === undefined) throw new Error("the example holds a position");
  return position;
}

/** The wallet's balance: all that is owned, wherever it lies. */
function wallet({ account }: Workbench): string {
  return formatBriefly(ownedOf(account.balances, "USDT"));
}

function free({ account }: Workbench): string {
  return formatBriefly((account.balances.get("USDT") ?? emptyLedgerAccounts()).free);
}

function locked({ account }: Workbench): string {
  return formatBriefly((account.balances.get("USDT") ?? emptyLedgerAccounts()).locked);
}
