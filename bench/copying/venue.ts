// A venue in a process of its own, for more copies than a gateway of ours could serve beside the measurement:
// it checks each signature, fills every order in full at one price, has the balances and positions of each
// account, and answers the routes of both types that copying uses. With `weights` it counts the weight of all
// requests by address, as the exchange does, and answers 429 when a minute's is used up.
// The measurement is made here: the time when the answer to each placement was written.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { WEIGHTS } from "../../src/copy/venue/limits.ts";
import type { StrategyType } from "../../src/domain/account.ts";
import { perpetualExchangeInfo, spotExchangeInfo } from "../../src/market/simulated/exchange-info.ts";
import { COPIED_PRICE, COPIED_SYMBOL, secretOf, type VenueReady, type VenueTaken } from "./terms.ts";

const FEE_SHARE = { SPOT: 0.001, FUTURES: 0.0005 };
const DECIMALS = 8;
const WALLET = 1_000;
const MINUTE_MS = 60_000;
const PRICE = Number(COPIED_PRICE);
const countsWeights = process.argv[2] === "weights";

type Answer = { readonly status: number; readonly body: unknown; readonly retryAfter?: number };
type Asked = { readonly apiKey: string; readonly parameters: URLSearchParams };
type Fill = {
  readonly orderId: number;
  readonly side: string;
  readonly quantity: number;
  readonly at: number;
};
type Account = { wallet: number; held: number; fills: Fill[] };
type Route = { readonly weight: number; answer(asked: Asked): Answer };

/** So high that none is reached. */
const NO_LIMITS = [
  { rateLimitType: "REQUEST_WEIGHT", interval: "MINUTE", intervalNum: 1, limit: 1_000_000 },
  { rateLimitType: "ORDERS", interval: "SECOND", intervalNum: 10, limit: 10_000 },
];
/** Source: reference exchange, section 4. */
const WEIGHT_MAX = { SPOT: 6_000, FUTURES: 2_400 };

let answeredAt: number[] = [];
let requests = 0;
let badSignatures = 0;
let limited = 0;
let lastOrderId = 0;
const accounts = { SPOT: new Map<string, Account>(), FUTURES: new Map<string, Account>() };
const polled = new Set<string>();
const used = { SPOT: { minute: 0, weight: 0 }, FUTURES: { minute: 0, weight: 0 } };

const OPEN: Readonly<Record<string, { readonly weight: number; answer(): unknown }>> = {
  "/api/v3/time": { weight: WEIGHTS.SPOT.time, answer: () => ({ serverTime: Date.now() }) },
  "/api/v3/ticker/price": {
    weight: WEIGHTS.SPOT.prices,
    answer: () => [{ symbol: COPIED_SYMBOL, price: COPIED_PRICE }],
  },
  "/api/v3/exchangeInfo": {
    weight: WEIGHTS.SPOT.rules,
    answer: () => withLimits(spotExchangeInfo(Date.now(), [COPIED_SYMBOL])),
  },
  "/fapi/v1/time": { weight: WEIGHTS.FUTURES.time, answer: () => ({ serverTime: Date.now() }) },
  "/fapi/v1/premiumIndex": {
    weight: WEIGHTS.FUTURES.prices,
    answer: () => [{ symbol: COPIED_SYMBOL, markPrice: COPIED_PRICE, time: Date.now() }],
  },
  "/fapi/v1/exchangeInfo": {
    weight: WEIGHTS.FUTURES.rules,
    answer: () => withLimits(perpetualExchangeInfo(Date.now(), [COPIED_SYMBOL])),
  },
};

const SIGNED: Readonly<Record<string, Route>> = {
  "POST /api/v3/order": { weight: 0, answer: (asked) => ok(spotFilled(asked)) },
  "GET /api/v3/order": { weight: WEIGHTS.SPOT.find, answer: () => NO_ORDER },
  "GET /api/v3/account": { weight: WEIGHTS.SPOT.account, answer: (asked) => ok(spotAccount(asked)) },
  "GET /api/v3/openOrders": { weight: WEIGHTS.SPOT.openOrders.ofOne, answer: () => ok([]) },
  "GET /api/v3/myTrades": { weight: WEIGHTS.SPOT.fills, answer: () => ok([]) },
  "POST /fapi/v1/order": { weight: WEIGHTS.FUTURES.place, answer: (asked) => ok(futuresFilled(asked)) },
  "GET /fapi/v1/order": { weight: WEIGHTS.FUTURES.find, answer: () => NO_ORDER },
  "GET /fapi/v3/account": { weight: WEIGHTS.FUTURES.account, answer: (asked) => ok(futuresAccount(asked)) },
  "GET /fapi/v1/openOrders": { weight: WEIGHTS.FUTURES.openOrders.ofOne, answer: () => ok([]) },
  "GET /fapi/v1/openAlgoOrders": { weight: WEIGHTS.FUTURES.openLegs.ofOne, answer: () => ok([]) },
  "GET /fapi/v1/userTrades": { weight: WEIGHTS.FUTURES.fills, answer: (asked) => ok(futuresTrades(asked)) },
  "POST /fapi/v1/leverage": {
    weight: WEIGHTS.FUTURES.setting,
    answer: ({ parameters }) =>
      ok({
        symbol: COPIED_SYMBOL,
        leverage: Number(parameters.get("leverage")),
        maxNotionalValue: "1000000",
      }),
  },
  "POST /fapi/v1/marginType": {
    weight: WEIGHTS.FUTURES.setting,
    answer: () => ok({ code: 200, msg: "success" }),
  },
};

const NO_ORDER: Answer = { status: 400, body: { code: -2013, msg: "Order does not exist." } };

function ok(body: unknown): Answer {
  return { status: 200, body };
}

function withLimits(info: object): object {
  return countsWeights ? info : { ...info, rateLimits: NO_LIMITS };
}

function isTrue(apiKey: string, message: string): boolean {
  const at = message.lastIndexOf("&signature=");
  const given = Buffer.from(message.slice(at + "&signature=".length), "latin1");
  const expected = createHmac("sha256", secretOf(apiKey))
    .update(message.slice(0, at), "latin1")
    .digest("hex");
  return given.length === expected.length && timingSafeEqual(given, Buffer.from(expected, "latin1"));
}

/** Charges the address; null if there is enough left of the minute, otherwise the refusal. */
function charge(type: StrategyType, weight: number): Answer | null {
  if (!countsWeights) return null;
  const budget = used[type];
  const now = Date.now();
  const minute = Math.floor(now / MINUTE_MS);
  if (budget.minute !== minute) Object.assign(budget, { minute, weight: 0 });
  budget.weight += weight;
  if (budget.weight <= WEIGHT_MAX[type]) return null;
  limited += 1;
  const retryAfter = Math.ceil(((minute + 1) * MINUTE_MS - now) / 1_000);
  return { status: 429, body: { code: -1003, msg: "Too many requests." }, retryAfter };
}

function answerOf(method: string, path: string, message: string, apiKey: string | undefined): Answer {
  const type: StrategyType = path.startsWith("/fapi") ? "FUTURES" : "SPOT";
  const open = OPEN[path];
  if (open !== undefined) return charge(type, open.weight) ?? ok(open.answer());
  requests += 1;
  if (apiKey === undefined || !isTrue(apiKey, message)) {
    badSignatures += 1;
    return { status: 401, body: { code: -2015, msg: "Invalid API-key, IP, or permissions for action." } };
  }
  const route = SIGNED[`${method} ${path}`];
  if (route === undefined) return { status: 404, body: { code: -5000, msg: "Path is invalid." } };
  return charge(type, route.weight) ?? route.answer({ apiKey, parameters: new URLSearchParams(message) });
}

function accountOf(type: StrategyType, apiKey: string): Account {
  const known = accounts[type].get(apiKey);
  if (known !== undefined) return known;
  const made: Account = { wallet: WALLET, held: 0, fills: [] };
  accounts[type].set(apiKey, made);
  return made;
}

/** Fills an order whole; answers what it was worth and cost. */
function fill(type: StrategyType, { apiKey, parameters }: Asked) {
  const account = accountOf(type, apiKey);
  const side = parameters.get("side") ?? "";
  const quantity = Number(parameters.get("quantity"));
  const [quote, sign] = [quantity * PRICE, side === "BUY" ? 1 : -1];
  lastOrderId += 1;
  const isFeeInBase = type === "SPOT" && side === "BUY";
  const fee = (isFeeInBase ? quantity : quote) * FEE_SHARE[type];
  account.held += sign * quantity - (isFeeInBase ? fee : 0);
  account.wallet -= (type === "SPOT" ? sign * quote : 0) + (isFeeInBase ? 0 : fee);
  account.fills.push({ orderId: lastOrderId, side, quantity, at: Date.now() });
  const order = {
    ...{ symbol: parameters.get("symbol"), orderId: lastOrderId, side, status: "FILLED" },
    ...{ clientOrderId: parameters.get("newClientOrderId"), type: parameters.get("type") },
    ...{ price: "0.00000000", origQty: text(quantity), executedQty: text(quantity), timeInForce: "GTC" },
  };
  return { order, quantity, quote, fee, isFeeInBase };
}

function spotFilled(asked: Asked): object {
  const { order, quantity, quote, fee, isFeeInBase } = fill("SPOT", asked);
  return {
    ...order,
    ...{
      orderListId: -1,
      transactTime: Date.now(),
      workingTime: Date.now(),
      cummulativeQuoteQty: text(quote),
    },
    fills: [
      {
        ...{ price: COPIED_PRICE, qty: text(quantity), tradeId: lastOrderId, commission: text(fee) },
        commissionAsset: isFeeInBase ? "DOGE" : "USDT",
      },
    ],
  };
}

function futuresFilled(asked: Asked): object {
  const { order, quote } = fill("FUTURES", asked);
  return {
    ...order,
    ...{ cumQuote: text(quote), avgPrice: COPIED_PRICE, updateTime: Date.now(), positionSide: "BOTH" },
    reduceOnly: asked.parameters.get("reduceOnly") === "true",
  };
}

function spotAccount({ apiKey }: Asked): object {
  polled.add(apiKey);
  const { wallet, held } = accountOf("SPOT", apiKey);
  return {
    ...{ makerCommission: 10, takerCommission: 10, canTrade: true, canWithdraw: false, canDeposit: false },
    ...{ accountType: "SPOT", permissions: ["SPOT"], updateTime: Date.now() },
    balances: [
      { asset: "USDT", free: text(wallet), locked: "0.00000000" },
      { asset: "DOGE", free: text(held), locked: "0.00000000" },
    ],
  };
}

function futuresAccount({ apiKey }: Asked): object {
  polled.add(apiKey);
  const { wallet, held } = accountOf("FUTURES", apiKey);
  const amount = text(wallet);
  const position = { symbol: COPIED_SYMBOL, positionSide: "BOTH", positionAmt: text(held) };
  return {
    assets: [{ asset: "USDT", walletBalance: amount, availableBalance: amount, marginBalance: amount }],
    positions: held === 0 ? [] : [position],
  };
}

function futuresTrades({ apiKey, parameters }: Asked): object {
  const [orderId, startTime] = [Number(parameters.get("orderId")), Number(parameters.get("startTime"))];
  return accountOf("FUTURES", apiKey)
    .fills.filter((each) => (orderId === 0 ? each.at >= startTime : each.orderId === orderId))
    .map((each) => ({
      ...{ symbol: COPIED_SYMBOL, id: each.orderId, orderId: each.orderId, side: each.side, time: each.at },
      ...{ price: COPIED_PRICE, qty: text(each.quantity), quoteQty: text(each.quantity * PRICE) },
      ...{ commission: text(each.quantity * PRICE * FEE_SHARE.FUTURES), commissionAsset: "USDT" },
      realizedPnl: "0.00000000",
    }));
}

function text(amount: number): string {
  return amount.toFixed(DECIMALS);
}

function respond(request: IncomingMessage, response: ServerResponse, body: string): void {
  const { method = "GET", url = "/" } = request;
  const [path = "/", query = ""] = url.split("?", 2);
  const apiKey = request.headers["x-mbx-apikey"];
  const answer = answerOf(method, path, query + body, typeof apiKey === "string" ? apiKey : undefined);
  const bytes = JSON.stringify(answer.body);
  const weight = countsWeights ? used[path.startsWith("/fapi") ? "FUTURES" : "SPOT"].weight : 1;
  response.writeHead(answer.status, {
    "content-type": "application/json;charset=UTF-8",
    "content-length": Buffer.byteLength(bytes),
    "x-mbx-used-weight-1m": String(weight),
    ...(answer.retryAfter !== undefined && { "retry-after": String(answer.retryAfter) }),
  });
  response.end(bytes);
  const isPlacement = method === "POST" && path.endsWith("/order");
  if (isPlacement && answer.status === 200) answeredAt.push(performance.timeOrigin + performance.now());
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  let body = "";
  request.setEncoding("latin1");
  request.on("data", (part: string) => {
    body += part;
  });
  request.on("end", () => respond(request, response, body));
});

// It has no user data streams, so executions are learned by polls.
server.on("upgrade", (_, socket) => {
  socket.on("error", () => {});
  socket.end("HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
});

server.listen(0, "127.0.0.1", () => {
  process.send?.({ port: (server.address() as AddressInfo).port } satisfies VenueReady);
});
process.on("message", () => {
  const taken = { answeredAt, requests, badSignatures, limited, polled: polled.size };
  process.send?.(taken satisfies VenueTaken);
  answeredAt = [];
  requests = 0;
  badSignatures = 0;
  limited = 0;
});
process.once("disconnect", () => process.exit());
