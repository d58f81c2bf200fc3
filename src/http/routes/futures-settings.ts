// What of a futures account could be set. Leverage can; the rest has one value here, which may be confirmed and not changed.
// Source: specification 4.2; reference exchange, section 11.7.
import type { Refusal } from "../../domain/refusal.ts";
import { isRefusal } from "../../domain/refusal.ts";
import { leverageMax } from "../../engine/futures/margin.ts";
import { optionalFlag, text } from "../parse/fields.ts";
import { optionalLeverage } from "../parse/place-futures-order.ts";
import type { Answer, SignedCall } from "../pipeline.ts";
import { presentLeverage } from "../present/contracts.ts";

const SUCCESS = { code: 200, msg: "success" };

/** Sets the leverage of a symbol; above the highest it is that one, and the answer says which it is. */
export async function changeLeverage({
  parameters,
  strategyId,
  gateway,
  lapsed,
}: SignedCall<"symbol" | "leverage">): Promise<Answer> {
  const symbol = text(parameters, "symbol");
  if (isRefusal(symbol)) return symbol;
  const leverage = optionalLeverage(parameters);
  if (isRefusal(leverage)) return leverage;
  if (leverage === null) return { refusal: "PARAMETER_MISSING", parameter: "leverage" };
  const command = { type: "ChangeLeverage", symbol, leverage } as const;
  const executed = await gateway.desk.execute(strategyId, command, { lapsed });
  if (isRefusal(executed)) return executed;
  const terms = gateway.markets.FUTURES.rules(symbol)?.contract ?? null;
  if (terms === null) return { refusal: "SYMBOL_UNKNOWN" };
  return presentLeverage(symbol, Math.min(leverage, leverageMax(terms)), terms);
}

/** Margin is isolated, and stays so. */
export function changeMarginType({ parameters, gateway }: SignedCall<"symbol" | "marginType">): Answer {
  const symbol = text(parameters, "symbol");
  if (isRefusal(symbol)) return symbol;
  const marginType = text(parameters, "marginType");
  if (isRefusal(marginType)) return marginType;
  if (marginType === "CROSSED") return { refusal: "MARGIN_TYPE_UNSUPPORTED" };
  if (marginType !== "ISOLATED") return { refusal: "PARAMETER_INVALID", parameter: "marginType" };
  return gateway.markets.FUTURES.rules(symbol) === null ? { refusal: "SYMBOL_UNKNOWN" } : SUCCESS;
}

/** Positions are one-way, and stay so. */
export function changePositionMode(call: SignedCall<"dualSidePosition">): Answer {
  const refusals = { unchanged: "POSITION_MODE_UNCHANGED", changed: "POSITION_MODE_UNSUPPORTED" } as const;
  return keptOff(call, "dualSidePosition", refusals);
}

/** There is one margin asset, and it stays so. */
export function changeAssetsMode(call: SignedCall<"multiAssetsMargin">): Answer {
  const refusals = { unchanged: "ASSETS_MODE_UNCHANGED", changed: "ASSETS_MODE_UNSUPPORTED" } as const;
  return keptOff(call, "multiAssetsMargin", refusals);
}

/** Of a flag that is off: either way there is something to refuse. */
function keptOff<Name extends string>(
  { parameters }: SignedCall<Name>,
  name: Name,
  refusals: Readonly<
    Record<"unchanged" | "changed", Extract<Refusal["refusal"], `${"POSITION" | "ASSETS"}_MODE_${string}`>>
  >,
): Refusal {
  const wanted = optionalFlag(parameters, name);
  if (isRefusal(wanted)) return wanted;
  if (wanted === null) return { refusal: "PARAMETER_MISSING", parameter: name };
  return { refusal: wanted ? refusals.changed : refusals.unchanged };
}
