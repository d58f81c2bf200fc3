// The parameters of a leg: a stop or a take-profit that closes the whole position when the mark price reaches
// it. Checked in this order: what it is (symbol, side, type), what it closes, its trigger, then the client's
// id.
// Source: specification 4.2 (algoOrder); reference exchange, section 13.1.
import type { PlaceLeg } from "../../domain/command.ts";
import { LEG_TYPES, type LegType } from "../../domain/leg.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import { type Price, parseDecimal } from "../../money/decimal.ts";
import type { Parameters } from "../parameters.ts";
import { conditional, type Descriptions, IGNORED, mandatory, optional, SYMBOL } from "./descriptions.ts";
import { amount, optionalClientId, optionalFlag, optionalText, text } from "./fields.ts";
import { anyOf, type ByProfile, otherPositionSide, POSITION_SIDE, SIDE, sideOf } from "./terms.ts";

/** The price that clients name. Under `standard` the mark price decides whatever they say. */
const WORKING_TYPES: readonly string[] = ["MARK_PRICE", "CONTRACT_PRICE"];

/**
 * The parameters of a leg's placement. The last ones, which some clients send, are ignored.
 * Source: specification 4.2; reference exchange, section 13.1.
 */
export const LEG_PARAMETERS = {
  symbol: { ...SYMBOL, description: "A listed symbol with an open position." },
  side: { ...SIDE, description: "The side that closes the position." },
  type: mandatory("text", "", { values: LEG_TYPES, example: "STOP_MARKET" }),
  algoType: optional("text", "", { values: ["CONDITIONAL"], default: "CONDITIONAL" }),
  positionSide: POSITION_SIDE,
  closePosition: mandatory("flag", "Only `true`: a leg closes the whole position.", { example: "true" }),
  quantity: optional("decimal", "Refused with -4137 unless it is zero: a leg closes the whole position."),
  price: optional("decimal", "Refused (-1106): a leg closes at the market's price."),
  reduceOnly: optional("flag", "Refused (-1106): a leg only reduces anyway."),
  stopPrice: conditional(
    "decimal",
    "without `triggerPrice`",
    "The trigger; the filter PRICE_FILTER applies. The mark price must not have reached it.",
  ),
  triggerPrice: conditional(
    "decimal",
    "without `stopPrice`",
    "Another name of `stopPrice`; with both, they must be the same.",
  ),
  workingType: optional(
    "text",
    "The price that triggers it: the mark price, or under the fill profile `strict` the last one. Under `standard` the mark price decides with either of them, and the answer says `MARK_PRICE`.",
    { values: WORKING_TYPES, default: "MARK_PRICE" },
  ),
  priceProtect: optional(
    "flag",
    "Under the fill profile `strict`: `true` holds the leg back while mark price and last price are further apart than the contract's `triggerProtect`. Under `standard` ignored.",
    { default: "false" },
  ),
  clientAlgoId: optional("text", "As `newClientOrderId` of an order; not that of an open order (-4116).", {
    default: "a fresh one",
  }),
  timeInForce: IGNORED,
  newOrderRespType: IGNORED,
  selfTradePreventionMode: IGNORED,
  goodTillDate: IGNORED,
  activatePrice: IGNORED,
  callbackRate: IGNORED,
  priceMatch: IGNORED,
} satisfies Descriptions;

type LegParameters = Parameters<keyof typeof LEG_PARAMETERS>;

/** A leg as sent, which may have no client id. */
export type LegPlacement = Omit<PlaceLeg, "clientLegId"> & { readonly clientLegId: string | null };

export function parsePlaceLeg(parameters: LegParameters): LegPlacement | ByProfile<LegPlacement> | Refusal {
  const symbol = text(parameters, "symbol");
  if (isRefusal(symbol)) return symbol;
  const side = sideOf(parameters);
  if (isRefusal(side)) return side;
  const legType = legTypeOf(parameters);
  if (isRefusal(legType)) return legType;
  const unfit = otherAlgoType(parameters) ?? otherPositionSide(parameters) ?? closesLess(parameters);
  if (unfit !== null) return unfit;
  const triggerPrice = triggerOf(parameters);
  if (isRefusal(triggerPrice)) return triggerPrice;
  const clientLegId = optionalClientId(parameters, "clientAlgoId", "FUTURES");
  if (isRefusal(clientLegId)) return clientLegId;
  const leg: LegPlacement = { type: "PlaceLeg", symbol, side, legType, triggerPrice, clientLegId };
  const priceProtect = optionalFlag(parameters, "priceProtect");
  // Only `strict` reads the flag, so a malformed one is no fault under `standard`.
  if (isRefusal(priceProtect)) return { standard: leg, strict: priceProtect };
  return {
    ...leg,
    ...(optionalText(parameters, "workingType") === "CONTRACT_PRICE" && { workingType: "CONTRACT_PRICE" }),
    ...(priceProtect === true && { priceProtect }),
  };
}

function legTypeOf(parameters: LegParameters): LegType | Refusal {
  const legType = text(parameters, "type");
  if (isRefusal(legType)) return legType;
  return LEG_TYPES.find((served) => served === legType) ?? { refusal: "ORDER_TYPE_INVALID" };
}

function otherAlgoType(parameters: LegParameters): Refusal | null {
  const isServed = (optionalText(parameters, "algoType") ?? "CONDITIONAL") === "CONDITIONAL";
  return isServed ? null : { refusal: "PARAMETER_INVALID", parameter: "algoType" };
}

/** A leg closes the whole position, at the market's price; parameters that say otherwise are refused. */
function closesLess(parameters: LegParameters): Refusal | null {
  const closes = optionalFlag(parameters, "closePosition");
  if (isRefusal(closes)) return closes;
  if (closes === null) return { refusal: "CLOSE_POSITION_MISSING" };
  if (!closes) return { refusal: "CLOSE_POSITION_FALSE" };
  const quantity = optionalText(parameters, "quantity");
  if (quantity !== null && parseDecimal(quantity) !== 0n) return { refusal: "LEG_QUANTITY_SENT" };
  return anyOf(parameters, ["reduceOnly", "price"]);
}

/** `stopPrice`, or `triggerPrice` in its place. */
function triggerOf(parameters: LegParameters): Price | Refusal {
  const workingType = optionalText(parameters, "workingType");
  if (workingType !== null && !WORKING_TYPES.includes(workingType)) {
    return { refusal: "WORKING_TYPE_INVALID", workingType };
  }
  const stopPrice = optionalText(parameters, "stopPrice");
  const alias = optionalText(parameters, "triggerPrice");
  if (stopPrice !== null && alias !== null && stopPrice !== alias) return { refusal: "PARAMETERS_EXCLUSIVE" };
  const name = stopPrice === null && alias !== null ? "triggerPrice" : "stopPrice";
  return amount<Price, typeof name>(parameters, name, "FUTURES");
}
