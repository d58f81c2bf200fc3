// One request, drawn: a route, parameters that mostly make sense, and now and then something that nobody
// honest sends, in the parameters, in the signature, in how they are carried.
import type { Draw } from "./draw.ts";
import { drawFuturesPlacement, drawLeg } from "./futures-placement.ts";
import { drawPlacement } from "./placement.ts";
import { drawGoal, type Goal, type Mood } from "./routes.ts";
import type { Parameter, Scenario } from "./scenario.ts";
import { drawKey, drawTimes, joined, type Parts, type SignedParts, signedParts } from "./signing.ts";
import { hostileName, hostileValue, NAMES, sensibleValue } from "./values.ts";
import type { Sent } from "./wire.ts";

export type DrawnRequest = {
  readonly goal: Goal;
  readonly sent: Sent;
  /** Whether it bears a key that is not good, or a signature that is not the right one where it belongs. */
  readonly isForged: boolean;
};

/**
 * The parameters that a path is likely to need beside `symbol`, by how the path ends. Others come now and
 * then.
 */
const LIKELY: readonly (readonly [end: string, names: readonly string[]])[] = [
  ["lines", ["interval", "interval", "interval", "limit"]],
  ["algoOrder", ["algoId", "clientAlgoId"]],
  ["AlgoOrders", ["algoId", "startTime"]],
  ["order", ["orderId", "origClientOrderId"]],
  ["depth", ["limit"]],
  ["openOrder", ["orderId", "origClientOrderId"]],
  ["exchangeInfo", ["permissions", "symbolStatus"]],
  ["Trades", ["orderId", "fromId", "startTime"]],
  ["Receipts", ["orderId", "fromId"]],
  ["allOrders", ["orderId", "startTime", "endTime"]],
  ["leverage", ["leverage", "leverage"]],
  ["marginType", ["marginType", "marginType"]],
  ["dual", ["dualSidePosition", "dualSidePosition"]],
  ["multiAssetsMargin", ["multiAssetsMargin", "multiAssetsMargin"]],
  ["income", ["incomeType", "startTime", "page"]],
];

/** What a path answers nothing without, where that is more than chance would bring together. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  "/fapi/v1/continuousKlines": ["pair", "contractType", "interval"],
  "/fapi/v1/indexPriceKlines": ["pair", "interval"],
  "/api/v3/platform/counterfactuals": ["symbol", "orderId"],
  "/fapi/v1/platform/counterfactuals": ["symbol", "orderId"],
};

/**
 * Half of all queries and cancels, and all queries of open orders, are of one of so many orders that were
 * placed last.
 */
const LAST = 3;

/** Bodies and queries stay below the bound of a request's head, bytes; a few bodies go beyond their own. */
const QUERY_BYTES_MAX = 9_000;
const BODY_BYTES_ABOUT_MAX = 16 * 1_024;

/** Draws the request of this number. */
export function drawRequest(
  draw: Draw,
  requestNumber: number,
  { scenario, mood, address }: { readonly scenario: Scenario; readonly mood: Mood; readonly address: string },
): DrawnRequest {
  const goal = drawGoal(draw, mood, scenario.type);
  const isHonest = mood !== "TRADES";
  const sensible = sensibleParameters(draw, goal, scenario, requestNumber);
  const parameters = isHonest || draw.chance(0.8) ? sensible : spoiled(draw, sensible);
  const needsKey = goal.route !== null && goal.route.access !== "public";
  const isSigned = needsKey || draw.chance(0.1);
  const type = (needsKey ? goal.route.strategyType : null) ?? scenario.type;
  const key = isSigned ? drawKey(draw, scenario, type, isHonest) : null;
  const stamped = isSigned ? [...parameters, ...drawTimes(draw, isHonest)] : parameters;
  const parts = split(draw, goal, stamped);
  const signed: SignedParts =
    key === null ? { ...parts, isForged: true } : signedParts(draw, parts, key.apiSecret, isHonest);
  const { query, body, isForged } = isHonest ? signed : withOddBody(draw, signed);
  return {
    goal,
    isForged: isForged || key?.isForged !== false,
    sent: {
      method: goal.method,
      target: query === "" ? goal.path : `${goal.path}?${query}`,
      body: body === "" ? null : body,
      headers: {
        "x-forwarded-for": address,
        ...(key === null || key.apiKey === "" ? {} : { "x-mbx-apikey": key.apiKey }),
        ...contentType(draw, body),
      },
    },
  };
}

function sensibleParameters(draw: Draw, goal: Goal, scenario: Scenario, requestNumber: number): Parameter[] {
  if (goal.route?.access === "signed" && goal.route.placesOrder && draw.chance(0.9)) {
    const ofScenario = scenario.type === "SPOT" ? drawPlacement : drawFuturesPlacement;
    return (goal.path.endsWith("/algoOrder") ? drawLeg : ofScenario)(draw, scenario, requestNumber);
  }
  const isOfLeg = goal.path.endsWith("/algoOrder");
  const known = [...(isOfLeg ? scenario.legs : scenario.orders).values()];
  if (/[oO]rder$/.test(goal.path) && known.length > 0 && draw.chance(0.8)) {
    // Of the last ones some are still open.
    const isOfLast = goal.path.endsWith("/openOrder") || draw.chance(0.5);
    const { symbol, orderId, clientOrderId } = draw.pick(known.slice(isOfLast ? -LAST : 0));
    const byId: Parameter = [isOfLeg ? "algoId" : "orderId", String(orderId)];
    const byClientId: Parameter = [isOfLeg ? "clientAlgoId" : "origClientOrderId", clientOrderId];
    const named = draw.pick([[byId], [byClientId], [byId, byClientId]]);
    const cancelId: Parameter[] = draw.chance(0.2) ? [["newClientOrderId", `c${requestNumber}`]] : [];
    return [["symbol", symbol], ...named, ...cancelId];
  }
  const needed = NEEDED[goal.path] ?? ["symbol"];
  const names = new Set(draw.chance(0.85) ? needed : []);
  const likely = LIKELY.find(([end]) => goal.path.endsWith(end))?.[1] ?? [];
  for (let count = draw.below(3); count > 0 && likely.length > 0; count -= 1) names.add(draw.pick(likely));
  for (let count = draw.below(8) - 4; count > 0; count -= 1) names.add(draw.pick(NAMES));
  names.delete("recvWindow");
  return [...names].map((name) => [name, sensibleValue(name, draw, scenario)]);
}

/** With something wrong: a value, a name, one too many, one too few. */
function spoiled(draw: Draw, parameters: readonly Parameter[]): Parameter[] {
  const at = draw.below(parameters.length + 1);
  const [name, value]: Parameter = parameters[at] ?? [draw.pick(NAMES), "1"];
  const instead = (...replacement: Parameter[]) => parameters.toSpliced(at, 1, ...replacement);
  switch (draw.below(7)) {
    case 0:
      return instead();
    case 1:
      return instead([name, value], [name, draw.chance(0.5) ? value : hostileValue(draw)]);
    case 2:
      return [...parameters, [hostileName(draw), hostileValue(draw)]];
    case 3:
      return [...parameters, [draw.pick(NAMES), hostileValue(draw)]];
    default:
      return instead([name, hostileValue(draw)]);
  }
}

/**
 * Query, body, or both as some clients do: these are mostly of names that the route knows, since no other
 * would be read.
 */
function split(draw: Draw, { method, route }: Goal, parameters: readonly Parameter[]): Parts {
  const text = (list: readonly Parameter[]) => list.map(([name, value]) => `${name}=${value}`).join("&");
  const whole = text(parameters);
  const inQuery = draw.below(10);
  const prefersBody = method === "POST" ? inQuery < 5 : inQuery < 1;
  if (prefersBody || whole.length > QUERY_BYTES_MAX) return { query: "", body: rawBytes(whole) };
  const isKnown = parameters.every(([name]) => route?.known?.has(name) !== false);
  if (inQuery < 8 || !(isKnown || draw.chance(0.2))) return { query: whole, body: "" };
  const at = draw.below(parameters.length + 1);
  const [one, other] = [text(parameters.slice(0, at)), text(parameters.slice(at))];
  return draw.chance(0.5) ? { query: one, body: other } : { query: other, body: one };
}

/** Only a body may hold bytes that no request line can. */
function rawBytes(text: string): string {
  return text.replaceAll("%00", "\0").replaceAll("%C3%BC", "\xc3\xbc").replaceAll("%FF", "\xff");
}

const ODD_BODIES = [
  '{"symbol":"BTCUSDT","side":"BUY"}',
  ' \n["BTCUSDT"]',
  "null",
  "&",
  "&&==&&",
  "=",
  "%",
  "\0\0\0\0",
  "\x1f\x8b\x08\x00",
  "\xff\xfe\xfd",
  '--x\r\nContent-Disposition: form-data; name="symbol"\r\n\r\nBTCUSDT\r\n--x--',
  `note=${"x".repeat(BODY_BYTES_ABOUT_MAX - 5)}`,
  `note=${"x".repeat(BODY_BYTES_ABOUT_MAX - 4)}`,
  `note=${"x".repeat(BODY_BYTES_ABOUT_MAX + 4_000)}`,
  Array.from({ length: 1_500 }, (_, index) => `p${index}=1`).join("&"),
  "a=1&".repeat(2_000),
];

/** Now and then another body than the one that was signed. */
function withOddBody(draw: Draw, { query, body, isForged }: SignedParts): SignedParts {
  if (draw.chance(0.97)) return { query, body, isForged };
  const odd = draw.pick(ODD_BODIES);
  return { query, body: draw.chance(0.5) ? odd : joined(body, odd), isForged: true };
}

const CONTENT_TYPES = [
  "application/json",
  "application/x-www-form-urlencoded;charset=utf-8",
  "multipart/form-data; boundary=x",
  "text/plain",
  "nonsense",
  "",
];

function contentType(draw: Draw, body: string): Readonly<Record<string, string>> {
  if (draw.chance(body === "" ? 0.05 : 0.2)) return { "content-type": draw.pick(CONTENT_TYPES) };
  return body === "" ? {} : { "content-type": "application/x-www-form-urlencoded" };
}
