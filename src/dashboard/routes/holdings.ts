// What a strategy has: its balances, its positions, and the incomes of its wallet.
import { z } from "zod";
import type { Account } from "../../domain/account.ts";
import { seedOf } from "../../engine/open-strategy.ts";
import { type Amount, add, formatBriefly, proceedsDown, type Quantity } from "../../money/decimal.ts";
import { ownedOf } from "../../money/posting.ts";
import { PAGE_ROWS, pageOf } from "../paging.ts";
import { presentIncome } from "../present/orders.ts";
import { presentPositions } from "../present/positions.ts";
import { type DashboardCall, type DashboardRoute, ownStrategy, route } from "../route.ts";
import type { BalanceShape, IncomeShape, PageShape } from "../shapes.ts";
import { priceOfAsset } from "../valuation.ts";

/** Funding is told later than it was due, so that a page of incomes ends at a time and a number. */
const incomeCursor = z
  .string()
  .regex(/^[0-9]{1,15}-[0-9]{1,15}$/, "is no place in the list")
  .transform((text) => {
    const [at = 0, incomeId = 0] = text.split("-").map(Number);
    return { at, incomeId };
  });

export const HOLDING_ROUTES: readonly DashboardRoute[] = [
  route({
    method: "GET",
    path: "/strategies/:strategyId/balances",
    access: "TRADER",
    async answer(call) {
      const account = await ownAccount(call);
      const assets = [...account.balances.keys()].filter((asset) => ownedOf(account.balances, asset) > 0n);
      const rows = await Promise.all(assets.map((asset) => presentBalance(call, account, asset)));
      return { body: { rows } };
    },
  }),

  route({
    method: "GET",
    path: "/strategies/:strategyId/positions",
    access: "TRADER",
    async answer(call) {
      const account = await ownAccount(call);
      const { gateway, prices } = call.parts;
      return { body: { rows: presentPositions(account, { market: gateway.markets.FUTURES, prices }) } };
    },
  }),

  route({
    method: "GET",
    path: "/strategies/:strategyId/incomes",
    access: "TRADER",
    query: z.strictObject({ before: incomeCursor.optional() }),
    async answer(call) {
      const { strategyId } = await ownStrategy(call);
      const query = { before: call.query.before, limit: PAGE_ROWS + 1 };
      const found = await call.parts.gateway.store.listRecentIncomes(strategyId, query);
      const body: PageShape<IncomeShape> = pageOf(found, {
        present: presentIncome,
        next: ({ at, incomeId }) => `${at}-${incomeId}`,
      });
      return { body };
    },
  }),
];

async function ownAccount(call: Pick<DashboardCall, "parts" | "params" | "signedIn">): Promise<Account> {
  const { strategyId } = await ownStrategy(call);
  const loaded = await call.parts.gateway.store.loadAccount(strategyId);
  if (loaded === null) throw new Error(`a strategy has an account: ${strategyId}`);
  return loaded.account;
}

/** Locked is what orders hold, and what positions hold. */
async function presentBalance(
  { parts }: Pick<DashboardCall, "parts">,
  account: Account,
  asset: string,
): Promise<BalanceShape> {
  const pockets = account.balances.get(asset);
  if (pockets === undefined) throw new Error("only what is owned is presented");
  const owned = ownedOf(account.balances, asset);
  const value = await worthOf(account, asset, owned, parts);
  return {
    asset,
    free: formatBriefly(pockets.free),
    locked: formatBriefly(add(pockets.locked, pockets.isolated)),
    value: value === null ? null : formatBriefly(value),
  };
}

async function worthOf(
  account: Account,
  asset: string,
  owned: Amount,
  { prices, gateway }: DashboardCall["parts"],
): Promise<Amount | null> {
  if (asset === seedOf(account.type).asset) return owned;
  const known = await priceOfAsset(account, asset, { prices, store: gateway.store });
  return known === null ? null : proceedsDown(known.price, owned as bigint as Quantity);
}
