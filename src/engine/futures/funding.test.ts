// Funding payments and their payers, against the published table and its windows. The scenarios cover a
// settlement's effect on a position.
import { describe, expect, test } from "vitest";
import { emptyAccount } from "../../domain/account.ts";
import {
  type Decimal,
  decimal,
  formatDecimal,
  type Price,
  type Quantity,
  type Rate,
  ZERO,
} from "../../money/decimal.ts";
import { emptyLedgerAccounts } from "../../money/posting.ts";
import { decide } from "../decide.ts";
import { contractRules } from "../testing/contract-rules.ts";
import { FUTURES } from "../testing/futures-setup.ts";
import { MarketStub } from "../testing/market-stub.ts";
import { positionOf } from "../testing/positions.ts";
import { isHere, recorded, SKIPPED } from "../testing/recorded.ts";
import { type ScenarioSetup, Workbench } from "../testing/workbench.ts";
import { paymentOf } from "./funding.ts";

const SYMBOL = "ADAUSDT";
const ADA: ScenarioSetup = { ...FUTURES, rules: [contractRules("ADA")] };
/** The longest fraction of what is published. */
const DIGITS = 8;

type Published = {
  readonly table: readonly {
    readonly qty: number;
    readonly markPrice: number;
    readonly rate: number;
    readonly amount_short: number;
  }[];
  readonly windows: readonly {
    readonly open: string;
    readonly close: string;
    readonly qty: number;
    readonly expected_received_by_short: number;
  }[];
};

const settlement = { symbol: SYMBOL, fundingTime: 0 };

test.each([
  // The position of Example A: what the long pays, the short receives.
  ["0.02", "61000", "0.0001", "0.122"],
  ["-0.02", "61000", "0.0001", "-0.122"],
  ["0.02", "61000", "-0.0001", "-0.122"],
  ["-0.02", "61000", "-0.0001", "0.122"],
  // Paid up, received down.
  ["0.001", "61234.56789012", "0.00012345", "0.00755941"],
  ["-0.001", "61234.56789012", "0.00012345", "-0.0075594"],
  ["0.00000001", "0.00000001", "0.00000001", "0.00000001"],
  ["-0.00000001", "0.00000001", "0.00000001", "0"],
  ["0", "61000", "0.0001", "0"],
])("who holds %s at a mark of %s and a rate of %s pays %s", (held, markPrice, rate, paid) => {
  const terms = { ...settlement, rate: decimal<Rate>(rate), markPrice: decimal<Price>(markPrice) };
  expect(paymentOf(decimal<Quantity>(held), terms)).toBe(decimal(paid));
});

test("what was held before a settlement is forgotten with it, what is not settled is not", () => {
  const bench = new Workbench(ADA);
  const remembered = () => bench.account.heldBefore.get(SYMBOL)?.length ?? 0;
  for (const step of [`mark ${SYMBOL} 3`, `quote ${SYMBOL} 3 3`, `buy 30 ${SYMBOL}`, "time 08:00:01"])
    bench.take(step);
  bench.take(`buy 30 ${SYMBOL}`);
  expect(remembered()).toBe(2);
  bench.take(`funding ${SYMBOL} 0.0001 @ 3 due 08:00`);
  expect(remembered()).toBe(1);
  bench.take("time 16:00");
  bench.take(`funding ${SYMBOL} 0.0001 @ 3`);
  expect(remembered()).toBe(0);
});

test("a settlement waits while the exchange lists the contract and it has no rules here", () => {
  class Unreadable extends MarketStub {
    override delisted(): null {
      return null;
    }
  }
  const account = emptyAccount("one", "FUTURES");
  account.balances.set("USDT", { ...emptyLedgerAccounts(), isolated: decimal("120"), seed: decimal("-120") });
  account.positions = new Map([["BTCUSDT", positionOf("0.02", "60000", "120")]]);
  const terms = { symbol: "BTCUSDT", fundingTime: 2 * 3_600_000 };
  const published = { ...terms, rate: decimal<Rate>("0.0001"), markPrice: decimal<Price>("60000") };
  const command = { type: "SettleFunding", settlement: published } as const;
  const at = published.fundingTime + 1_000;
  expect(decide(account, command, { market: new Unreadable([]), at })).toEqual({ refusal: "MARKET_SILENT" });
  expect(decide(account, command, { market: new MarketStub([]), at })).toMatchObject({
    events: [
      { type: "FundingSettled", postings: [{ from: "isolated", to: "funding", amount: decimal("0.12") }] },
    ],
  });
});

describe.skipIf(!isHere)(`the published examples${SKIPPED}`, () => {
  const published = () => recorded("examples/funding.json") as Published;

  test("every row of the table, for a short and for a long", () => {
    const { table } = published();
    expect(table.length).toBeGreaterThan(20);
    for (const { qty, markPrice, rate, amount_short: received } of table) {
      const terms = { ...settlement, rate: read<Rate>(rate), markPrice: read<Price>(markPrice) };
      expect(-paymentOf(-read(qty) as bigint as Quantity, terms)).toBe(read(received));
      expect(-paymentOf(read<Quantity>(qty), terms)).toBe(-read(received));
    }
  });

  test("every window: a position pays at the settlements that it was held at", () => {
    const { table, windows } = published();
    expect(windows.length).toBe(8);
    for (const { open, close, qty, expected_received_by_short: expected } of windows) {
      // The table is of every hour of that day; the exchange settled every eight.
      const settlements = [0, 8].map((hour) => ({
        ...settlement,
        fundingTime: Date.parse(`2021-09-01T0${hour}:00:00Z`),
        rate: read<Rate>(table[hour]?.rate ?? 0),
        markPrice: read<Price>(table[hour]?.markPrice ?? 0),
      }));
      // A position opened in the very moment of a settlement does not pay it here; the example counts it.
      const opened =
        timeOf(open) - (settlements.some(({ fundingTime }) => fundingTime === timeOf(open)) ? 1 : 0);
      const bench = new Workbench(ADA);
      bench.take(`mark ${SYMBOL} 2.77`);
      bench.take(`quote ${SYMBOL} 2.77 2.77`);
      bench.at = opened;
      bench.carryOut(marketOrder("SELL", qty));
      bench.at = timeOf(close);
      bench.carryOut(marketOrder("BUY", qty));
      bench.at = Date.parse("2021-09-01T13:00:00Z");
      const before = bench.account.balances.get("USDT")?.free ?? ZERO;
      for (const each of settlements) bench.carryOut({ type: "SettleFunding", settlement: each });
      const received = (bench.account.balances.get("USDT")?.free ?? ZERO) - before;
      expect(formatDecimal(received), `${open} to ${close}`).toBe(formatDecimal(read(expected)));
    }
  });
});

function marketOrder(side: "BUY" | "SELL", quantity: number) {
  return {
    type: "PlaceOrder",
    symbol: SYMBOL,
    side,
    orderType: "MARKET",
    size: { quantity: read<Quantity>(quantity) },
    price: null,
    stopPrice: null,
    clientOrderId: side,
  } as const;
}

/** A published number, which went through floating point. */
function read<D extends Decimal>(value: number): D {
  return decimal(value.toFixed(DIGITS));
}

function timeOf(text: string): number {
  return Date.parse(`${text.replace(" ", "T")}Z`);
}
