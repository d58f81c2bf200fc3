// Legs: the exchange's algo orders. A leg is found by its own ids; a symbol that is sent with them is
// ignored.
// Source: specification 4.2 (algoOrder); reference exchange, section 13.
import { legKey } from "../../domain/command.ts";
import type { Leg } from "../../domain/leg.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { LegQuery } from "../../store/ports/trading.ts";
import type { Parameters } from "../parameters.ts";
import {
  type Descriptions,
  IGNORED,
  optional,
  SYMBOL_OF_ROWS_OR_ALL,
  soughtIds,
} from "../parse/descriptions.ts";
import { optionalLongInteger, optionalText, soughtClientId } from "../parse/fields.ts";
import { sinceLastDays } from "../parse/futures-history.ts";
import type { LegPlacement } from "../parse/place-leg.ts";
import type { ByProfile } from "../parse/terms.ts";
import type { Ports } from "../pipeline.ts";
import { digitsOf } from "../present/digits.ts";
import type { ShownLeg } from "../present/futures-orders.ts";
import type { SignedCall } from "../route.ts";
import { accountOf, listedOr, ofProfile } from "./strategy.ts";

/** The names that clients use for a leg's id. */
const LEG_ID_PARAMETERS = ["algoId", "algoid", "orderid"] as const;
type LegIdName = (typeof LEG_ID_PARAMETERS)[number];
const OTHER_NAMES = {
  algoid: optional("id", "The same as `algoId`."),
  orderid: optional("id", "The same as `algoId`."),
};

/** The parameters that name a leg; some clients send its symbol without being asked. */
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

type SoughtLeg = { readonly legId: number } | { readonly clientLegId: string };

/** The leg that `algoId` or `clientAlgoId` names; with both, `algoId` prevails. */
export function parseSoughtLeg(parameters: Parameters<LegIdName | "clientAlgoId">): SoughtLeg | Refusal {
  const legId = legIdOf(parameters);
  if (isRefusal(legId)) return legId;
  const clientLegId = soughtClientId(parameters, "clientAlgoId", "FUTURES");
  if (isRefusal(clientLegId)) return clientLegId;
  if (legId !== undefined) return { legId };
  if (clientLegId !== null) return { clientLegId };
  return { refusal: "PARAMETERS_MISSING", parameters: ["clientAlgoId", "algoId"] };
}

type OpenLegsQuery = { readonly symbol: string | null; readonly legId: number | undefined };

export function parseOpenLegs(parameters: Parameters<LegIdName | "symbol">): OpenLegsQuery | Refusal {
  const symbol = optionalText(parameters, "symbol");
  const legId = legIdOf(parameters);
  return isRefusal(legId) ? legId : { symbol, legId };
}

function legIdOf(parameters: Parameters<LegIdName>): number | undefined | Refusal {
  const name = LEG_ID_PARAMETERS.find((each) => optionalText(parameters, each) !== null) ?? "algoId";
  return optionalLongInteger(parameters, name);
}

/** A client id that was used before answers with the present state of its leg. */
export async function placeLeg(
  asked: LegPlacement | ByProfile<LegPlacement>,
  ports: Pick<Ports, "desk" | "markets" | "newClientOrderId">,
  call: SignedCall,
) {
  const placement = await ofProfile(asked, ports, call);
  if (isRefusal(placement)) return placement;
  const { strategyId, admittedAt, lapsed } = call;
  const clientLegId = placement.clientLegId ?? ports.newClientOrderId();
  const options = { key: legKey(clientLegId), admittedAt, lapsed };
  const executed = await ports.desk.execute(strategyId, { ...placement, clientLegId }, options);
  if (isRefusal(executed)) return executed;
  return { ...shown(onlyLeg(executed.legs), ports), replayed: executed.replayed };
}

/** The desk looks the leg up, as it does an order (`cancelSought`). */
export async function cancelLeg(sought: SoughtLeg, ports: Pick<Ports, "desk" | "store">, call: SignedCall) {
  const { strategyId, lapsed } = call;
  const executed = await ports.desk.execute(strategyId, { type: "CancelLeg", ...sought }, { lapsed });
  if (!isRefusal(executed)) return onlyLeg(executed.legs);
  if (executed.refusal !== "ORDER_NOT_OPEN") return executed;
  const found = await findLeg(sought, ports, call);
  return isRefusal(found) ? found : executed;
}

export async function queryLeg(sought: SoughtLeg, ports: Pick<Ports, "store" | "markets">, call: SignedCall) {
  const found = await findLeg(sought, ports, call);
  return isRefusal(found) ? found : shown(found, ports);
}

/** The open legs, of a symbol, of an id, or all. */
export async function openLegs(
  { symbol, legId }: OpenLegsQuery,
  ports: Pick<Ports, "store" | "markets">,
  call: SignedCall,
) {
  const { openLegs } = await accountOf(ports, call);
  const legs = [...openLegs.values()].filter(
    (leg) => (symbol === null || leg.symbol === symbol) && (legId === undefined || leg.legId === legId),
  );
  const rows = legs.map((leg) => shown(leg, ports));
  return symbol === null ? rows : listedOr(symbol, rows, ports.markets.FUTURES);
}

export async function allLegs(
  query: LegQuery,
  ports: Pick<Ports, "store" | "markets">,
  { strategyId }: SignedCall,
) {
  const market = ports.markets.FUTURES;
  const legs = await ports.store.listLegs(strategyId, sinceLastDays(query, market.now()));
  return listedOr(
    query.symbol,
    legs.map((leg) => shown(leg, ports)),
    market,
  );
}

async function findLeg(
  sought: SoughtLeg,
  { store }: Pick<Ports, "store">,
  { strategyId }: SignedCall,
): Promise<Leg | Refusal> {
  return (await store.findLeg(strategyId, sought)) ?? { refusal: "ORDER_UNKNOWN" };
}

function shown(leg: Leg, { markets }: Pick<Ports, "markets">): ShownLeg {
  return { leg, digits: digitsOf(markets.FUTURES.rules(leg.symbol)) };
}

function onlyLeg(legs: readonly Leg[]): Leg {
  const [leg] = legs;
  if (leg === undefined) throw new Error("a command on one leg answers with it");
  return leg;
}
