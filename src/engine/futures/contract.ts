// The rules of a symbol that is a perpetual contract.
import type { Market } from "../../domain/market.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { ContractTerms, SymbolRules } from "../../domain/symbol.ts";
import { seedOf } from "../open-strategy.ts";

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

/** The asset that a contract is margined in; null for one that is not listed any more. */
export function marginAssetOf(contract: Contract | null): string {
  return contract === null ? seedOf("FUTURES").asset : contract.contract.marginAsset;
}

/** Why a recorded market takes no order on any contract; null if it does. */
export function untradableRefusal(market: Market): Refusal | null {
  const untradable = market.untradable();
  if (untradable === null) return null;
  return {
    refusal: untradable === "RECORDING_ENDED" ? "CONTRACT_RECORDING_ENDED" : "MARK_PRICES_MISSING",
  };
}

function isContract(rules: SymbolRules): rules is Contract {
  return rules.contract !== null;
}
