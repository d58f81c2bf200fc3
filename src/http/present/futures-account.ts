// The futures account as the wire has it. There is one margin asset, so the totals are its row's amounts; all
// positions are isolated, so what is not in their wallets has no profit or loss of its own.
// Source: specification 2.4; reference exchange, sections 11.1 to 11.3, 11.7, 11.8 and 15.8.
import type { Account } from "../../domain/account.ts";
import { FEE_TIERS } from "../../domain/fill-profile.ts";
import type { Income } from "../../domain/income.ts";
import { seedOf } from "../../engine/open-strategy.ts";
import { type Amount, add, formatDecimal, ZERO } from "../../money/decimal.ts";
import { emptyLedgerAccounts, ownedOf } from "../../money/posting.ts";
import { type MarkedMarket, presentPosition, type Standing, standingOf } from "./futures-positions.ts";
import { presentProfile } from "./strict.ts";

/** The account and its open positions. */
export function presentAccount(account: Account, standings: readonly Standing[]) {
  const { asset, marginAvailable, updateTime, ...amounts } = assetOf(account, standings);
  return {
    ...presentConfig(account),
    updateTime,
    totalInitialMargin: amounts.initialMargin,
    totalMaintMargin: amounts.maintMargin,
    totalWalletBalance: amounts.walletBalance,
    totalUnrealizedProfit: amounts.unrealizedProfit,
    totalMarginBalance: amounts.marginBalance,
    totalPositionInitialMargin: amounts.positionInitialMargin,
    totalOpenOrderInitialMargin: amounts.openOrderInitialMargin,
    totalCrossWalletBalance: amounts.crossWalletBalance,
    totalCrossUnPnl: amounts.crossUnPnl,
    availableBalance: amounts.availableBalance,
    maxWithdrawAmount: amounts.maxWithdrawAmount,
    assets: [{ asset, ...amounts, marginAvailable, updateTime }],
    positions: standings.map(presentPosition),
    ...presentProfile(account.profile),
  };
}

/** The balances, a row an asset. */
export function presentBalances(account: Account) {
  const { asset, marginAvailable, updateTime, ...amounts } = assetOf(account, []);
  return [
    {
      accountAlias: account.strategyId,
      asset,
      balance: amounts.walletBalance,
      crossWalletBalance: amounts.crossWalletBalance,
      crossUnPnl: amounts.crossUnPnl,
      availableBalance: amounts.availableBalance,
      maxWithdrawAmount: amounts.maxWithdrawAmount,
      marginAvailable,
      updateTime,
    },
  ];
}

/** How the account is set. Nothing of it can be changed. */
export function presentConfig({ status, updatedAt, profile }: Account) {
  return {
    feeTier: profile.strict === null ? 0 : FEE_TIERS.indexOf(profile.strict.feeTier),
    feeBurn: false,
    canTrade: status === "LIVE",
    canDeposit: false,
    canWithdraw: false,
    dualSidePosition: false,
    multiAssetsMargin: false,
    tradeGroupId: -1,
    updateTime: updatedAt,
  };
}

/** The state of every symbol in which the account has a position. */
export function standingsOf(account: Account, market: MarkedMarket): readonly Standing[] {
  return [...account.positions.keys()].map((symbol) => standingOf(account, symbol, market));
}

export function presentIncome({ incomeId, type, symbol, asset, amount, at, tradeId }: Income) {
  return {
    symbol: symbol ?? "",
    incomeType: type,
    income: formatDecimal(amount),
    asset,
    info: type,
    time: at,
    tranId: incomeId,
    tradeId: tradeId === null ? "" : String(tradeId),
  };
}

function assetOf(account: Account, standings: readonly Standing[]) {
  const { asset } = seedOf("FUTURES");
  const { free, locked } = account.balances.get(asset) ?? emptyLedgerAccounts();
  const wallet = ownedOf(account.balances, asset);
  const profit = sumOf(standings, ({ profit }) => profit);
  const positionMargin = sumOf(standings, ({ positionMargin }) => positionMargin);
  return {
    asset,
    walletBalance: formatDecimal(wallet),
    unrealizedProfit: formatDecimal(profit),
    marginBalance: formatDecimal(add(wallet, profit)),
    maintMargin: formatDecimal(sumOf(standings, ({ maintenanceMargin }) => maintenanceMargin)),
    initialMargin: formatDecimal(add(positionMargin, locked)),
    positionInitialMargin: formatDecimal(positionMargin),
    openOrderInitialMargin: formatDecimal(locked),
    crossWalletBalance: formatDecimal(add(free, locked)),
    crossUnPnl: formatDecimal(ZERO),
    availableBalance: formatDecimal(free),
    maxWithdrawAmount: formatDecimal(free),
    marginAvailable: true,
    // Clients leave out assets that were never updated; the seed is an update.
    updateTime: account.updatedAt,
  };
}

function sumOf(standings: readonly Standing[], part: (standing: Standing) => Amount): Amount {
  return standings.reduce((sum, standing) => add(sum, part(standing)), ZERO as Amount);
}
