// The terms that placements of every kind share.

import type { StrategyType } from "../../domain/account.ts";
import type { PlaceOrder } from "../../domain/command.ts";
import type { FillProfileName } from "../../domain/fill-profile.ts";
import { SIDES, type Side, TIMES_IN_FORCE, type TimeInForce } from "../../domain/order.ts";
import { isRefusal, type Refusal, type RefusalName } from "../../domain/refusal.ts";
import type { Price, Quantity } from "../../money/decimal.ts";
import type { Parameters } from "../parameters.ts";
import { mandatory, optional } from "./descriptions.ts";
import { allOf, amount, optionalText, text } from "./fields.ts";

export const SIDE = mandatory("text", "", { values: SIDES, example: "BUY" });
/** A placement as sent, which may have no client id. */
export type Placement = Omit<PlaceOrder, "clientOrderId"> & { readonly clientOrderId: string | null };

/**
 * What a request asks for, by the fill profile of its strategy, where the profiles differ. Parsing does not
 * know the strategy's profile; `ofProfile` in `http/routes/strategy.ts` looks it up for such a request alone.
 */
export type ByProfile<Input> = { readonly [Name in FillProfileName]: Input | Refusal };

/** The times in force that `strict` takes; `standard` takes GTC alone. */
const SERVED_TIMES: { readonly [T in StrategyType]: readonly TimeInForce[] } = {
  SPOT: ["GTC", "IOC", "FOK"],
  FUTURES: TIMES_IN_FORCE,
};
const GOOD_TILL_CANCELED = {};
const SELF_TRADE_PREVENTION_MODES: readonly string[] = ["EXPIRE_MAKER", "NONE"];
export const SELF_TRADE_PREVENTION = optional(
  "text",
  "Under the fill profile `strict` always `EXPIRE_MAKER`, as which `NONE` is taken; any other is refused. Under `standard` ignored.",
  { values: SELF_TRADE_PREVENTION_MODES, default: "EXPIRE_MAKER" },
);
export const POSITION_SIDE = optional("text", "", { values: ["BOTH"], default: "BOTH" });

/** PARAMETER_MISSING, SIDE_INVALID. */
export function sideOf(parameters: Parameters<"side">): Side | Refusal {
  const side = text(parameters, "side");
  if (isRefusal(side)) return side;
  return SIDES.find((served) => served === side) ?? { refusal: "SIDE_INVALID" };
}

/** `standard` takes GTC alone. PARAMETER_MISSING, TIME_IN_FORCE_INVALID. */
export function timeInForceOf(
  parameters: Parameters<"timeInForce">,
  type: StrategyType,
  profile: FillProfileName,
): Pick<PlaceOrder, "timeInForce"> | Refusal {
  const sent = text(parameters, "timeInForce");
  if (isRefusal(sent)) return sent;
  if (sent === "GTC") return GOOD_TILL_CANCELED;
  const timeInForce = SERVED_TIMES[type].find((served) => served === sent);
  return timeInForce === undefined || profile === "standard"
    ? { refusal: "TIME_IN_FORCE_INVALID" }
    : { timeInForce };
}

/**
 * Parses a placement as `standard` does; only where that refuses what `strict` may take, or `strict` refuses
 * more, by either profile, so that each refuses what it does not take, and in the same order.
 */
export function byProfile<Input extends object>(
  parse: (profile: FillProfileName) => Input | Refusal,
  refusedByStrict: Refusal | null,
): Input | ByProfile<Input> | Refusal {
  const standard = parse("standard");
  if (isRefusal(standard) && !OF_STRICT.has(standard.refusal)) return standard;
  if (!isRefusal(standard) && refusedByStrict === null) return standard;
  const parsed = parse("strict");
  const strict = isRefusal(parsed) ? parsed : (refusedByStrict ?? parsed);
  const isSame = isRefusal(standard) && isRefusal(strict) && strict.refusal === standard.refusal;
  return isSame ? standard : { standard, strict };
}

const OF_STRICT: ReadonlySet<RefusalName> = new Set(["ORDER_TYPE_INVALID", "TIME_IN_FORCE_INVALID"]);

/**
 * The refusal of a mode that `strict` does not serve: the own order that waits expires, never the one that
 * was just sent. `NONE`, which some clients send of their own accord, is taken as no mode.
 */
export function otherSelfTradePrevention(
  parameters: Parameters<"selfTradePreventionMode">,
  type: StrategyType,
): Refusal | null {
  const sent = optionalText(parameters, "selfTradePreventionMode");
  if (sent === null || SELF_TRADE_PREVENTION_MODES.includes(sent)) return null;
  return { refusal: "SELF_TRADE_PREVENTION_INVALID", type };
}

/** The refusal of the first of these parameters that was sent although the type does not take it. */
export function anyOf<Name extends string>(
  parameters: Parameters<Name>,
  names: readonly Name[],
): Refusal | null {
  const extra = names.find((name) => optionalText(parameters, name) !== null);
  return extra === undefined ? null : { refusal: "PARAMETER_NOT_REQUIRED", parameter: extra };
}

/**
 * The refusal of legs that a client writes as objects (`stopLoss[triggerPrice]`). Parameters that are not
 * known are ignored; ignoring these would leave somebody unprotected who believes the contrary.
 */
export function nestedLegs(parameters: Parameters<never>): Refusal | null {
  const extra = [...parameters.keys()].find((name) => NESTED_LEG.test(name));
  return extra === undefined ? null : { refusal: "PARAMETER_NOT_REQUIRED", parameter: extra };
}

const NESTED_LEG = /^(stopLoss|takeProfit)(\[|$)/;

/** The size of an order that is given as a quantity. */
export function quantitySize(
  parameters: Parameters<"quantity">,
  type: StrategyType,
): { readonly quantity: Quantity } | Refusal {
  return allOf({ quantity: amount<Quantity, "quantity">(parameters, "quantity", type) });
}

/** The terms of every limit order. */
export function limitTerms(
  parameters: Parameters<"quantity" | "price">,
  type: StrategyType,
): Pick<PlaceOrder, "size" | "price"> | Refusal {
  const price = amount<Price, "price">(parameters, "price", type);
  return allOf({ size: quantitySize(parameters, type), price });
}

/**
 * Positions are one-way: POSITION_SIDE_MISMATCH for a side of a hedge, POSITION_SIDE_INVALID for none that
 * there is.
 */
export function otherPositionSide(parameters: Parameters<"positionSide">): Refusal | null {
  const positionSide = optionalText(parameters, "positionSide") ?? "BOTH";
  if (positionSide === "BOTH") return null;
  const isHedge = positionSide === "LONG" || positionSide === "SHORT";
  return { refusal: isHedge ? "POSITION_SIDE_MISMATCH" : "POSITION_SIDE_INVALID" };
}
