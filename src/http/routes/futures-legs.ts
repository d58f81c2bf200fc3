// Legs: the exchange's algo orders. A leg is found by its own ids; a symbol that is sent besides is ignored.
// Source: specification 4.2 (algoOrder); reference exchange, section 13.
import { legKey } from "../../domain/command.ts";
import type { Leg } from "../../domain/leg.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import {
  type Descriptions,
  IGNORED,
  optional,
  SYMBOL_OF_ROWS_OR_ALL,
  soughtIds,
} from "../parse/descriptions.ts";
import { optionalInteger, optionalText, soughtClientId } from "../parse/fields.ts";
import { type LEG_LIST_PARAMETERS, parseAllLegs } from "../parse/futures-history.ts";
import { type LEG_PARAMETERS, parsePlaceLeg } from "../parse/place-leg.ts";
import { type Answer, Replay, type SignedCall } from "../pipeline.ts";
import { digitsOf } from "../present/digits.ts";
import { presentCanceledLeg, presentLeg } from "../present/futures-orders.ts";
import { cancelAll } from "./futures-orders.ts";
import { accountOf, listedOr } from "./strategy.ts";

/** What clients call a leg's id. */
const LEG_ID_PARAMETERS = ["algoId", "algoid", "orderid"] as const;
type LegIdName = (typeof LEG_ID_PARAMETERS)[number];
const OTHER_NAMES = {
  algoid: optional("id", "The same as `algoId`."),
  orderid: optional("id", "The same as `algoId`."),
};

/** What a leg may be looked for by; clients send its symbol of their own accord. */
export const SOUGHT_LEG_PARAMETERS: Descriptions<LegIdName | "clientAlgoId" | "symbol"> = {
  ...soughtIds("algoId", "clientAlgoId", "With both, `algoId` prevails."),
  ...OTHER_NAMES,
  symbol: IGNORED,
};
export const OPEN_LEGS_PARAMETERS: Descriptions<LegIdName | "symbol" | "algoType"> = {
  symbol: SYMBOL_OF_ROWS_OR_ALL,
  algoId: optional("id", "The leg that is wanted.", { default: "all" }),
  ...OTHER_NAMES,
  algoType: IGNORED,
};

/** A client id that was used before answers with its leg as it stands now. */
export async function placeLeg(call: SignedCall<keyof typeof LEG_PARAMETERS>): Promise<Answer> {
  const { parameters, strategyId, gateway, admittedAt, lapsed } = call;
  const command = parsePlaceLeg(parameters, gateway.newClientOrderId);
  if (isRefusal(command)) return command;
  const key = legKey(command.clientLegId);
  const executed = await gateway.desk.execute(strategyId, command, { key, admittedAt, lapsed });
  if (isRefusal(executed)) return executed;
  const body = presented(call, onlyLeg(executed.legs));
  return executed.replayed ? new Replay(body) : body;
}

export async function cancelLeg(call: SignedCall<LegIdName | "clientAlgoId">): Promise<Answer> {
  const found = await findLeg(call);
  if (isRefusal(found)) return found;
  const { strategyId, gateway, lapsed } = call;
  const { legId } = found;
  const executed = await gateway.desk.execute(strategyId, { type: "CancelLeg", legId }, { lapsed });
  return isRefusal(executed) ? executed : presentCanceledLeg(onlyLeg(executed.legs));
}

export function cancelOpenLegs(call: SignedCall<"symbol">): Promise<Answer> {
  return cancelAll(call, "CancelOpenLegs");
}

export async function queryLeg(call: SignedCall<LegIdName | "clientAlgoId">): Promise<Answer> {
  const found = await findLeg(call);
  return isRefusal(found) ? found : presented(call, found);
}

/** Those that wait, of a symbol, of an id, or all. */
export async function openLegs(call: SignedCall<LegIdName | "symbol">): Promise<Answer> {
  const { parameters, gateway } = call;
  const symbol = optionalText(parameters, "symbol");
  const legId = idOf(call);
  if (isRefusal(legId)) return legId;
  const { openLegs } = await accountOf(call);
  const legs = [...openLegs.values()].filter(
    (leg) => (symbol === null || leg.symbol === symbol) && (legId === undefined || leg.legId === legId),
  );
  const body = legs.map((leg) => presented(call, leg));
  return symbol === null ? body : listedOr(symbol, body, gateway.markets.FUTURES);
}

export async function allLegs(call: SignedCall<keyof typeof LEG_LIST_PARAMETERS>): Promise<Answer> {
  const { parameters, strategyId, gateway } = call;
  const market = gateway.markets.FUTURES;
  const query = parseAllLegs(parameters, market.now());
  if (isRefusal(query)) return query;
  const legs = await gateway.store.listLegs(strategyId, query);
  return listedOr(
    query.symbol,
    legs.map((leg) => presented(call, leg)),
    market,
  );
}

/** The leg that `algoId` or `clientAlgoId` names; with both, `algoId` prevails. */
async function findLeg(call: SignedCall<LegIdName | "clientAlgoId">): Promise<Leg | Refusal> {
  const { parameters, strategyId, gateway } = call;
  const legId = idOf(call);
  if (isRefusal(legId)) return legId;
  const clientLegId = soughtClientId(parameters, "clientAlgoId", "FUTURES");
  if (isRefusal(clientLegId)) return clientLegId;
  if (legId === undefined && clientLegId === null) {
    return { refusal: "PARAMETERS_MISSING", parameters: ["clientAlgoId", "algoId"] };
  }
  const leg =
    legId !== undefined
      ? await gateway.store.findLeg(strategyId, { legId })
      : clientLegId === null
        ? null
        : await gateway.store.findLeg(strategyId, { clientLegId });
  return leg ?? { refusal: "ORDER_UNKNOWN" };
}

function idOf({ parameters }: SignedCall<LegIdName>): number | undefined | Refusal {
  const name = LEG_ID_PARAMETERS.find((each) => optionalText(parameters, each) !== null) ?? "algoId";
  return optionalInteger(parameters, name);
}

function presented({ gateway }: SignedCall, leg: Leg) {
  return presentLeg(leg, digitsOf(gateway.markets.FUTURES.rules(leg.symbol)));
}

function onlyLeg(legs: readonly Leg[]): Leg {
  const [leg] = legs;
  if (leg === undefined) throw new Error("a command on one leg answers with it");
  return leg;
}
