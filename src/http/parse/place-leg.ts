// The parameters of a leg: a stop or a take-profit that closes the whole position when the mark price reaches it.
// Checked in this order: what it is (symbol, side, type), what it closes, its trigger, then the client's id.
// Source: specification 4.2 (algoOrder); reference exchange, section 13.1.
import type { PlaceLeg } from "../../domain/command.ts";
import { LEG_TYPES, type LegType } from "../../domain/leg.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import { type Price, parseDecimal } from "../../money/decimal.ts";
import type { Parameters } from "../parameters.ts";
import { amount, optionalClientId, optionalFlag, optionalText, text } from "./fields.ts";
import { anyOf, otherPositionSide, sideOf } from "./terms.ts";

/**
 * What the placement of a leg may say. Clients send the last five of their own accord: they are ignored.
 * Source: specification 4.2; reference exchange, section 13.1.
 */
export const LEG_PARAMETERS = [
  "symbol",
  "side",
  "type",
  "algoType",
  "positionSide",
  "closePosition",
  "quantity",
  "price",
  "reduceOnly",
  "stopPrice",
  "triggerPrice",
  "workingType",
  "clientAlgoId",
  "timeInForce",
  "priceProtect",
  "newOrderRespType",
  "selfTradePreventionMode",
  "goodTillDate",
] as const;

type LegParameters = Parameters<(typeof LEG_PARAMETERS)[number]>;

/** The price that clients name; ours is the mark price whatever they say. */
const WORKING_TYPES: ReadonlySet<string> = new Set(["MARK_PRICE", "CONTRACT_PRICE"]);

/** Reads a leg; one without a client id gets a fresh one. */
export function parsePlaceLeg(parameters: LegParameters, newClientLegId: () => string): PlaceLeg | Refusal {
  const symbol = text(parameters, "symbol");
  if (isRefusal(symbol)) return symbol;
  const side = sideOf(parameters);
  if (isRefusal(side)) return side;
  const legType = legTypeOf(parameters);
  if (isRefusal(legType)) return legType;
  const unfit = otherFamily(parameters) ?? otherPositionSide(parameters) ?? closesLess(parameters);
  if (unfit !== null) return unfit;
  const triggerPrice = triggerOf(parameters);
  if (isRefusal(triggerPrice)) return triggerPrice;
  const clientLegId = optionalClientId(parameters, "clientAlgoId", "FUTURES");
  if (isRefusal(clientLegId)) return clientLegId;
  return {
    type: "PlaceLeg",
    symbol,
    side,
    legType,
    triggerPrice,
    clientLegId: clientLegId ?? newClientLegId(),
  };
}

function legTypeOf(parameters: LegParameters): LegType | Refusal {
  const legType = text(parameters, "type");
  if (isRefusal(legType)) return legType;
  return isLegType(legType) ? legType : { refusal: "ORDER_TYPE_INVALID" };
}

function otherFamily(parameters: LegParameters): Refusal | null {
  const isServed = (optionalText(parameters, "algoType") ?? "CONDITIONAL") === "CONDITIONAL";
  return isServed ? null : { refusal: "PARAMETER_INVALID", parameter: "algoType" };
}

/** A leg closes the whole position, at the market's price; whatever says otherwise is refused. */
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
  if (workingType !== null && !WORKING_TYPES.has(workingType)) {
    return { refusal: "WORKING_TYPE_INVALID", workingType };
  }
  const stopPrice = optionalText(parameters, "stopPrice");
  const alias = optionalText(parameters, "triggerPrice");
  if (stopPrice !== null && alias !== null && stopPrice !== alias) return { refusal: "PARAMETERS_EXCLUSIVE" };
  const name = stopPrice === null && alias !== null ? "triggerPrice" : "stopPrice";
  return amount<Price, typeof name>(parameters, name);
}

function isLegType(value: string): value is LegType {
  return (LEG_TYPES as readonly string[]).includes(value);
}
