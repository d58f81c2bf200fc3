// The futures account: balances, positions, incomes, and what holds for its contracts.
// Source: specification 2.4 and 4.2; reference exchange, section 11.

import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { ContractTerms } from "../../domain/symbol.ts";
import { leverageOf } from "../../engine/futures/margin.ts";
import { optionalText, text } from "../parse/fields.ts";
import { type INCOME_PARAMETERS, parseIncomes } from "../parse/futures-history.ts";
import type { Answer, SignedCall } from "../pipeline.ts";
import { presentBrackets, presentCommission, presentLeverage } from "../present/contracts.ts";
import {
  presentAccount,
  presentBalances,
  presentConfig,
  presentIncome,
  standingsOf,
} from "../present/futures-account.ts";
import { presentRisk, standingOf } from "../present/futures-positions.ts";
import { listedBy } from "./exchange-info.ts";
import { accountOf } from "./strategy.ts";

export async function account(call: SignedCall): Promise<Answer> {
  const account = await accountOf(call);
  await marksReady(call, account.positions.keys());
  return presentAccount(account, call.gateway.markets.FUTURES);
}

export async function balance(call: SignedCall): Promise<Answer> {
  return presentBalances(await accountOf(call));
}

/** The open positions; of a symbol that is named also what there is none of. */
export async function positionRisk(call: SignedCall<"symbol">): Promise<Answer> {
  const market = call.gateway.markets.FUTURES;
  const symbol = optionalText(call.parameters, "symbol");
  const account = await accountOf(call);
  await marksReady(call, symbol === null ? account.positions.keys() : [symbol]);
  if (symbol === null) return standingsOf(account, market).map(presentRisk);
  if (!account.positions.has(symbol) && market.rules(symbol) === null) return { refusal: "SYMBOL_UNKNOWN" };
  return [presentRisk(standingOf(account, symbol, market))];
}

export async function accountConfig(call: SignedCall): Promise<Answer> {
  const { feeBurn, ...config } = presentConfig(await accountOf(call));
  return config;
}

/** How contracts are set, of a symbol or of all that are listed. */
export async function symbolConfig(call: SignedCall<"symbol">): Promise<Answer> {
  const contracts = contractsOf(call);
  if (isRefusal(contracts)) return contracts;
  const account = await accountOf(call);
  return contracts.map(([symbol, terms]) => {
    const { leverage, maxNotionalValue } = presentLeverage(symbol, leverageOf(account, symbol, terms), terms);
    return { symbol, marginType: "ISOLATED", isAutoAddMargin: false, leverage, maxNotionalValue };
  });
}

/** The brackets of a symbol or of all that are listed; a list in either case. */
export function leverageBracket(call: SignedCall<"symbol">): Answer {
  const contracts = contractsOf(call);
  if (isRefusal(contracts)) return contracts;
  return contracts.map(([symbol, terms]) => presentBrackets(symbol, terms));
}

export function commissionRate({ parameters, gateway }: SignedCall<"symbol">): Answer {
  const symbol = text(parameters, "symbol");
  if (isRefusal(symbol)) return symbol;
  if (gateway.markets.FUTURES.rules(symbol) === null) return { refusal: "SYMBOL_UNKNOWN" };
  return presentCommission(symbol, gateway.profiles.FUTURES);
}

export async function income({
  parameters,
  strategyId,
  gateway,
}: SignedCall<keyof typeof INCOME_PARAMETERS>): Promise<Answer> {
  const query = parseIncomes(parameters, gateway.markets.FUTURES.now());
  if (query === null) return [];
  if (isRefusal(query)) return query;
  return (await gateway.store.listIncomes(strategyId, query)).map(presentIncome);
}

/** Has the marks of symbols streaming, so that what is shown is of now; a symbol without one keeps nobody waiting long. */
async function marksReady({ gateway }: SignedCall, symbols: Iterable<string>): Promise<void> {
  await Promise.all([...symbols].map((symbol) => gateway.markets.FUTURES.prepare(symbol)));
}

type Listed = readonly [symbol: string, terms: ContractTerms];

/** The contract that `symbol` names, or all that are listed. */
function contractsOf({ parameters, gateway }: SignedCall<"symbol">): readonly Listed[] | Refusal {
  const market = gateway.markets.FUTURES;
  const symbol = optionalText(parameters, "symbol");
  const symbols = symbol === null ? [...listedBy("FUTURES", market).keys()] : [symbol];
  const contracts = symbols.flatMap((name) => {
    const terms = market.rules(name)?.contract ?? null;
    return terms === null ? [] : [[name, terms] as const];
  });
  return symbol !== null && contracts.length === 0 ? { refusal: "SYMBOL_UNKNOWN" } : contracts;
}
