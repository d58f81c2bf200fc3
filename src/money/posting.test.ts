import { expect, test } from "vitest";
import { type Amount, decimal } from "./decimal.ts";
import { type Balances, freeOf, OWN_LEDGER_ACCOUNTS, post, WORLD_LEDGER_ACCOUNTS } from "./posting.ts";

const amount = (text: string) => decimal<Amount>(text);

test("a posting moves an amount from one ledger account to another", () => {
  const balances: Balances = new Map();
  post(balances, { from: "seed", to: "free", asset: "USDT", amount: amount("200") });
  post(balances, { from: "free", to: "locked", asset: "USDT", amount: amount("50.5") });
  expect(freeOf(balances, "USDT")).toBe(amount("149.5"));
  const ledgerAccounts = balances.get("USDT");
  const sum = [...OWN_LEDGER_ACCOUNTS, ...WORLD_LEDGER_ACCOUNTS].reduce(
    (total, name) => total + (ledgerAccounts?.[name] ?? 0n),
    0n,
  );
  expect(sum).toBe(0n);
});

test("an own ledger account is never overdrawn, an external one may be", () => {
  const balances: Balances = new Map();
  post(balances, { from: "market", to: "free", asset: "BTC", amount: amount("1") });
  expect(() => post(balances, { from: "free", to: "market", asset: "BTC", amount: amount("1.1") })).toThrow(
    "never overdrawn",
  );
});

test("a posting moves no negative amount", () => {
  expect(() => post(new Map(), { from: "seed", to: "free", asset: "BTC", amount: amount("-1") })).toThrow(
    "positive amount",
  );
});
