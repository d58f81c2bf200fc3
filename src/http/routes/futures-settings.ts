// The settings of a futures account. Leverage can be set; each other setting has one value here, which may be
// confirmed but not changed. Source: specification 4.2; reference exchange, section 11.7.
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { ContractTerms } from "../../domain/symbol.ts";
import { leverageMax } from "../../engine/futures/margin.ts";
import type { Parameters } from "../parameters.ts";
import { allOf, optionalFlag, text } from "../parse/fields.ts";
import { optionalLeverage } from "../parse/place-futures-order.ts";
import type { Ports } from "../pipeline.ts";
import type { SignedCall } from "../route.ts";

type LeverageChange = { readonly symbol: string; readonly leverage: number };

export function parseLeverage(parameters: Parameters<"symbol" | "leverage">): LeverageChange | Refusal {
  const leverage = optionalLeverage(parameters) ?? { refusal: "PARAMETER_MISSING", parameter: "leverage" };
  return allOf({ symbol: text(parameters, "symbol"), leverage });
}

/**
 * Sets the leverage of a symbol. Above the contract's maximum it becomes that maximum, which the answer
 * shows.
 */
export async function changeLeverage(
  { symbol, leverage }: LeverageChange,
  { desk, markets }: Pick<Ports, "desk" | "markets">,
  { strategyId, lapsed }: SignedCall,
): Promise<(LeverageChange & { readonly terms: ContractTerms }) | Refusal> {
  const command = { type: "ChangeLeverage", symbol, leverage } as const;
  const executed = await desk.execute(strategyId, command, { lapsed });
  if (isRefusal(executed)) return executed;
  const terms = markets.FUTURES.rules(symbol)?.contract ?? null;
  if (terms === null) return { refusal: "SYMBOL_UNKNOWN" };
  return { symbol, leverage: Math.min(leverage, leverageMax(terms)), terms };
}

/** The symbol, if its margin is to stay isolated. */
export function parseMarginType(parameters: Parameters<"symbol" | "marginType">): string | Refusal {
  const symbol = text(parameters, "symbol");
  if (isRefusal(symbol)) return symbol;
  const marginType = text(parameters, "marginType");
  if (isRefusal(marginType)) return marginType;
  if (marginType === "CROSSED") return { refusal: "MARGIN_TYPE_UNSUPPORTED" };
  return marginType === "ISOLATED" ? symbol : { refusal: "PARAMETER_INVALID", parameter: "marginType" };
}

export function confirmMarginType(symbol: string, { markets }: Pick<Ports, "markets">): object | Refusal {
  if (markets.FUTURES.rules(symbol) === null) return { refusal: "SYMBOL_UNKNOWN" };
  return { code: 200, msg: "success" };
}

/** A flag that must be sent. */
export function parseFlag<Name extends string>(parameters: Parameters<Name>, name: Name): boolean | Refusal {
  return optionalFlag(parameters, name) ?? { refusal: "PARAMETER_MISSING", parameter: name };
}

/** Positions are one-way: either value is refused. */
export function changePositionMode(isDual: boolean): Refusal {
  return { refusal: isDual ? "POSITION_MODE_UNSUPPORTED" : "POSITION_MODE_UNCHANGED" };
}

/** There is one margin asset: either value is refused. */
export function changeAssetsMode(isMulti: boolean): Refusal {
  return { refusal: isMulti ? "ASSETS_MODE_UNSUPPORTED" : "ASSETS_MODE_UNCHANGED" };
}
