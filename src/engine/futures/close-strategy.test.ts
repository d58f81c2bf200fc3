import { describe, expect, test } from "vitest";
import { emptyAccount } from "../../domain/account.ts";
import { type FillProfile, STANDARD, type StrictTerms } from "../../domain/fill-profile.ts";
import { isRefusal } from "../../domain/refusal.ts";
import { decimal, type Price } from "../../money/decimal.ts";
import { emptyLedgerAccounts } from "../../money/posting.ts";
import { apply } from "../apply.ts";
import { decide } from "../decide.ts";
import { contractRules } from "../testing/contract-rules.ts";
import { MarketStub } from "../testing/market-stub.ts";
import { positionOf } from "../testing/positions.ts";

const STRICT: StrictTerms = {
  latency: 100,
  queue: "trades",
  refreshMs: 1_000,
  feeTier: "regular",
  feeDiscount: "none",
};
const PROFILES: readonly FillProfile[] = [
  STANDARD.FUTURES,
  { ...STANDARD.FUTURES, name: "strict", strict: STRICT },
];

describe.each(PROFILES)("closing under $name with a position in a contract that was delisted", (profile) => {
  /** Closes 0.02 BTC of one side, entered at 60,000 with a wallet of 120, with 880 free. */
  function closed(quantity: "0.02" | "-0.02", market: MarketStub) {
    const account = emptyAccount("one", "FUTURES");
    account.profile = profile;
    const ledgerAccounts = emptyLedgerAccounts();
    ledgerAccounts.free = decimal("880");
    ledgerAccounts.isolated = decimal("120");
    ledgerAccounts.seed = decimal("-1000");
    account.balances.set("USDT", ledgerAccounts);
    account.positions = new Map([["BTCUSDT", positionOf(quantity, "60000", "120")]]);
    const decision = decide(account, { type: "CloseStrategy" }, { market, at: 1_000 });
    if (isRefusal(decision)) throw new Error("a live strategy can be closed");
    for (const event of decision.events) apply(account, event);
    const trades = decision.events.flatMap((event) => (event.type === "OrderFilled" ? [event.trade] : []));
    const { free, isolated, fees } = account.balances.get("USDT") ?? emptyLedgerAccounts();
    return { status: account.status, positions: account.positions.size, trades, free, isolated, fees };
  }

  /** Nothing is listed; the mark price is the last one. */
  function delisting(lastMark: string | null): MarketStub {
    const market = new MarketStub([]);
    if (lastMark !== null) market.setMarkPrice("BTCUSDT", decimal<Price>(lastMark));
    return market;
  }

  test.each([
    ["0.02", "61000", "1020"],
    ["-0.02", "61000", "980"],
    ["0.02", "59000.5", "980.01"],
    // No position costs more than its wallet.
    ["0.02", "40000", "880"],
    ["0.02", null, "1000"],
    ["-0.02", null, "1000"],
  ] as const)("%s at a last mark price of %s leaves %s", (quantity, lastMark, free) => {
    const after = closed(quantity, delisting(lastMark));
    expect(after).toMatchObject({ status: "CLOSED", positions: 0, isolated: 0n, fees: 0n });
    expect(after.free).toBe(decimal(free));
    expect(after.trades).toMatchObject([{ price: decimal(lastMark ?? "60000"), fee: 0n, isMaker: false }]);
    expect(after.trades[0]).not.toHaveProperty("receipt");
  });

  test("one that is listed and halted keeps the strategy CLOSING", () => {
    const market = new MarketStub([contractRules("BTC", { status: "BREAK" })]);
    market.setMarkPrice("BTCUSDT", decimal<Price>("61000"));
    expect(closed("0.02", market)).toMatchObject({ status: "CLOSING", positions: 1, trades: [] });
  });
});
