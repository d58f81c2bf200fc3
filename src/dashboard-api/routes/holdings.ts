// A strategy's balances, its positions, and the incomes of its wallet.
import { z } from "zod";
import type { Account } from "../../domain/account.ts";
import { bracketOf } from "../../engine/futures/margin.ts";
import { seedOf } from "../../engine/open-strategy.ts";
import { standingOf } from "../../http/present/futures-positions.ts";
import { accountOf } from "../../http/routes/strategy.ts";
import type { MarketFeed } from "../../market/client/feed.ts";
import {
  type Amount,
  add,
  divideDown,
  magnitude,
  proceedsDown,
  type Quantity,
  SCALE,
  subtract,
} from "../../money/decimal.ts";
import { ownedOf } from "../../money/posting.ts";
import type { LastPrices } from "../last-prices.ts";
import { PAGE_ROWS, pageOf } from "../paging.ts";
import { type DashboardCall, ownStrategy, route } from "../route.ts";
import { page, rows } from "../schemas/fields.ts";
import { balanceSchema, incomeSchema, legAnswer, positionSchema } from "../schemas/trading.ts";
import { priceOfAsset } from "../valuation.ts";

/** Funding is booked later than it was due, so a page of incomes ends at a time and a number. */
const incomeCursor = z
  .string()
  .regex(/^[0-9]{1,15}-[0-9]{1,15}$/, "is no place in the list")
  .transform((text) => {
    const [at = 0, incomeId = 0] = text.split("-").map(Number);
    return { at, incomeId };
  });

export const HOLDING_ROUTES = [
  route("GET /strategies/:strategyId/balances", "TRADER", rows(balanceSchema), async (call) => {
    const account = await ownAccount(call);
    const assets = [...account.balances.keys()].filter((asset) => ownedOf(account.balances, asset) > 0n);
    const rows = await Promise.all(assets.map((asset) => balanceAnswer(call, account, asset)));
    return { body: { rows } };
  }),

  route("GET /strategies/:strategyId/positions", "TRADER", rows(positionSchema), async (call) => {
    const account = await ownAccount(call);
    const { gateway, prices } = call.parts;
    return { body: { rows: positionAnswers(account, { market: gateway.markets.FUTURES, prices }) } };
  }),

  route("GET /strategies/:strategyId/incomes", "TRADER", page(incomeSchema), {
    query: z.strictObject({ before: incomeCursor.optional() }),
    async answer(call) {
      const { strategyId } = await ownStrategy(call);
      const query = { before: call.query.before, limit: PAGE_ROWS + 1 };
      const found = await call.parts.gateway.store.listRecentIncomes(strategyId, query);
      return { body: pageOf(found, ({ at, incomeId }) => `${at}-${incomeId}`) };
    },
  }),
];

async function ownAccount(call: Parameters<typeof ownStrategy>[0]): Promise<Account> {
  return await accountOf(call.parts.gateway, await ownStrategy(call));
}

/** Locked includes the margin of positions. */
async function balanceAnswer(
  { parts }: Pick<DashboardCall, "parts">,
  account: Account,
  asset: string,
): Promise<z.output<typeof balanceSchema>> {
  const ledgerAccounts = account.balances.get(asset);
  if (ledgerAccounts === undefined) throw new Error(`an owned asset has a balance: ${asset}`);
  const owned = ownedOf(account.balances, asset);
  const value = await worthOf(account, asset, owned, parts);
  return {
    asset,
    free: ledgerAccounts.free,
    locked: add(ledgerAccounts.locked, ledgerAccounts.isolated),
    value,
  };
}

/** Open positions: the same figures that bots get, and the distance to the liquidation. */
function positionAnswers(
  account: Account,
  { market, prices }: { readonly market: MarketFeed; readonly prices: LastPrices },
): readonly z.output<typeof positionSchema>[] {
  return [...account.positions.keys()].map((symbol) => {
    const known = prices.of("FUTURES", symbol);
    const mark = known?.price ?? null;
    // All figures are of the one price that is shown.
    const standing = standingOf(account, symbol, { rules: market.rules, lastMarkPrice: () => mark });
    const { liquidationPrice: liquidation } = standing;
    const terms = market.rules(symbol)?.contract ?? null;
    const hasDistance = mark !== null && mark !== 0n && liquidation !== 0n;
    return {
      ...standing,
      symbol,
      markPrice: mark,
      unrealised: mark === null ? null : standing.profit,
      notional: mark === null ? null : standing.notional,
      liquidationDistance: hasDistance
        ? divideDown(magnitude(subtract(mark, liquidation)) * SCALE, mark)
        : null,
      maintenance:
        mark === null || terms === null
          ? null
          : {
              margin: standing.maintenanceMargin,
              rate: bracketOf(magnitude(standing.notional), terms).maintenanceRate,
            },
      nextFundingAt: market.nextFundingAt(symbol),
      legs: [...account.openLegs.values()]
        .filter((leg) => leg.symbol === symbol && leg.status === "NEW")
        .map(legAnswer),
      pricedAt: known?.at ?? null,
    };
  });
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
