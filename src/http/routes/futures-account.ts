// The futures account: balances, positions, incomes, and the terms of its contracts.
// Source: specification 2.4 and 4.2; reference exchange, section 11.

import type { FillProfile } from "../../domain/fill-profile.ts";
import type { Income } from "../../domain/income.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { ContractTerms } from "../../domain/symbol.ts";
import { leverageOf } from "../../engine/futures/margin.ts";
import type { IncomeQuery } from "../../store/ports/trading.ts";
import { incomesListed } from "../parse/futures-history.ts";
import type { Ports } from "../pipeline.ts";
import { standingsOf } from "../present/futures-account.ts";
import { type Standing, standingOf } from "../present/futures-positions.ts";
import type { SignedCall } from "../route.ts";
import { listedBy } from "./exchange-info.ts";
import { accountOf } from "./strategy.ts";

export async function account(_input: undefined, ports: Pick<Ports, "store" | "markets">, call: SignedCall) {
  const account = await accountOf(ports, call);
  await marksReady(ports, account.positions.keys());
  return { account, standings: standingsOf(account, ports.markets.FUTURES) };
}

/** The account as last committed, for rows that show a part of it. */
export function storedAccount(_input: undefined, ports: Pick<Ports, "store">, call: SignedCall) {
  return accountOf(ports, call);
}

/** The open positions; of a named symbol also the absence of one. */
export async function positionRisk(
  symbol: string | null,
  ports: Pick<Ports, "store" | "markets">,
  call: SignedCall,
): Promise<readonly Standing[] | Refusal> {
  const market = ports.markets.FUTURES;
  const account = await accountOf(ports, call);
  await marksReady(ports, symbol === null ? account.positions.keys() : [symbol]);
  if (symbol === null) return standingsOf(account, market);
  if (!account.positions.has(symbol) && market.rules(symbol) === null) {
    return { refusal: "SYMBOL_UNKNOWN" };
  }
  return [standingOf(account, symbol, market)];
}

/** The leverage of a contract, or of all that are listed. */
export async function symbolConfig(
  symbol: string | null,
  ports: Pick<Ports, "store" | "markets">,
  call: SignedCall,
) {
  const contracts = contractsOf(symbol, ports);
  if (isRefusal(contracts)) return contracts;
  const account = await accountOf(ports, call);
  return contracts.map(({ symbol, terms }) => ({
    symbol,
    terms,
    leverage: leverageOf(account, symbol, terms),
  }));
}

/** The contract of a symbol, or all that are listed. */
export function contractsOf(
  symbol: string | null,
  { markets }: Pick<Ports, "markets">,
): readonly { readonly symbol: string; readonly terms: ContractTerms }[] | Refusal {
  const market = markets.FUTURES;
  const symbols = symbol === null ? [...listedBy("FUTURES", market).keys()] : [symbol];
  const contracts = symbols.flatMap((name) => {
    const terms = market.rules(name)?.contract ?? null;
    return terms === null ? [] : [{ symbol: name, terms }];
  });
  return symbol !== null && contracts.length === 0 ? { refusal: "SYMBOL_UNKNOWN" } : contracts;
}

export async function commissionRate(
  symbol: string,
  ports: Pick<Ports, "store" | "markets">,
  call: SignedCall,
): Promise<{ readonly symbol: string; readonly profile: FillProfile } | Refusal> {
  if (ports.markets.FUTURES.rules(symbol) === null) return { refusal: "SYMBOL_UNKNOWN" };
  const { profile } = await accountOf(ports, call);
  return { symbol, profile };
}

export async function income(
  query: IncomeQuery | null,
  { store, markets }: Pick<Ports, "store" | "markets">,
  { strategyId }: SignedCall,
): Promise<readonly Income[]> {
  if (query === null) return [];
  return await store.listIncomes(strategyId, incomesListed(query, markets.FUTURES.now()));
}

/** Waits for present mark prices, a short time at most for a symbol without one. */
async function marksReady({ markets }: Pick<Ports, "markets">, symbols: Iterable<string>): Promise<void> {
  await Promise.all([...symbols].map((symbol) => markets.FUTURES.prepare(symbol)));
}
