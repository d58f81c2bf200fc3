// The rules of a symbol that is a perpetual contract.
import type { Market } from "../../domain/market.ts";
import type { ContractTerms, SymbolRules } from "../../domain/symbol.ts";

export type Contract = SymbolRules & { readonly contract: ContractTerms };

/** The contract of a symbol, or null if the exchange lists none. */
export function contractOf(market: Market, symbol: string): Contract | null {
  const rules = market.rules(symbol);
  return rules !== null && isContract(rules) ? rules : null;
}

/** The contract, if it is open for trading. */
export function openContractOf(market: Market, symbol: string): Contract | null {
  const contract = contractOf(market, symbol);
  return contract?.status === "TRADING" ? contract : null;
}

function isContract(rules: SymbolRules): rules is Contract {
  return rules.contract !== null;
}
