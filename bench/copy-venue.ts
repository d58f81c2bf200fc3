// A venue in a process of its own, for as many copies as no gateway of ours could serve beside what is measured: it checks each
// signature, fills every order whole at one price, and answers the few spot routes that copying asks. It keeps no balances.
//
// What is measured is measured here: when the answer to each placement was written.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { spotExchangeInfo } from "../src/market/simulated/exchange-info.ts";
import { COPIED_PRICE, COPIED_SYMBOL, secretOf, type VenueReady, type VenueTaken } from "./copy-terms.ts";

const FEE_SHARE = 0.001;
const DECIMALS = 8;
const WALLET = "1000.00000000";

let answeredAt: number[] = [];
let requests = 0;
let badSignatures = 0;
let lastOrderId = 0;

type Answer = { readonly status: number; readonly body: string };

function isTrue(apiKey: string, message: string): boolean {
  const at = message.lastIndexOf("&signature=");
  const given = Buffer.from(message.slice(at + "&signature=".length), "latin1");
  const expected = createHmac("sha256", secretOf(apiKey))
    .update(message.slice(0, at), "latin1")
    .digest("hex");
  return given.length === expected.length && timingSafeEqual(given, Buffer.from(expected, "latin1"));
}

function answerOf(method: string, path: string, message: string, apiKey: string | undefined): Answer {
  const open = OPEN[path];
  if (open !== undefined) return { status: 200, body: open() };
  requests += 1;
  if (apiKey === undefined || !isTrue(apiKey, message)) {
    badSignatures += 1;
    return { status: 401, body: '{"code":-2015,"msg":"Invalid API-key, IP, or permissions for action."}' };
  }
  if (method === "POST" && path === "/api/v3/order") return { status: 200, body: filled(message) };
  if (method === "GET" && path === "/api/v3/account") return { status: 200, body: account() };
  if (method === "GET" && (path === "/api/v3/openOrders" || path === "/api/v3/myTrades")) {
    return { status: 200, body: "[]" };
  }
  if (path === "/api/v3/order") return { status: 400, body: '{"code":-2013,"msg":"Order does not exist."}' };
  return { status: 404, body: '{"code":-5000,"msg":"Path is invalid."}' };
}

const OPEN: Readonly<Record<string, () => string>> = {
  "/api/v3/time": () => `{"serverTime":${Date.now()}}`,
  "/api/v3/ticker/price": () => JSON.stringify([{ symbol: COPIED_SYMBOL, price: COPIED_PRICE }]),
  "/api/v3/exchangeInfo": () =>
    JSON.stringify({ ...spotExchangeInfo(Date.now(), [COPIED_SYMBOL]), rateLimits: RATE_LIMITS }),
};

/** So high that none is reached. */
const RATE_LIMITS = [
  { rateLimitType: "REQUEST_WEIGHT", interval: "MINUTE", intervalNum: 1, limit: 1_000_000 },
  { rateLimitType: "ORDERS", interval: "SECOND", intervalNum: 10, limit: 10_000 },
];

function filled(message: string): string {
  const order = new URLSearchParams(message);
  const quantity = Number(order.get("quantity"));
  const quote = (quantity * Number(COPIED_PRICE)).toFixed(DECIMALS);
  const isBuy = order.get("side") === "BUY";
  lastOrderId += 1;
  const executed = quantity.toFixed(DECIMALS);
  return JSON.stringify({
    ...{ symbol: order.get("symbol"), orderId: lastOrderId, orderListId: -1 },
    ...{ clientOrderId: order.get("newClientOrderId"), transactTime: Date.now(), price: "0.00000000" },
    ...{ origQty: executed, executedQty: executed, cummulativeQuoteQty: quote, status: "FILLED" },
    ...{ timeInForce: "GTC", type: order.get("type"), side: order.get("side"), workingTime: Date.now() },
    fills: [
      {
        ...{ price: COPIED_PRICE, qty: executed, tradeId: lastOrderId },
        commission: ((isBuy ? quantity : Number(quote)) * FEE_SHARE).toFixed(DECIMALS),
        commissionAsset: isBuy ? "DOGE" : "USDT",
      },
    ],
  });
}

function account(): string {
  return JSON.stringify({
    ...{ makerCommission: 10, takerCommission: 10, canTrade: true, canWithdraw: false, canDeposit: false },
    ...{ accountType: "SPOT", permissions: ["SPOT"], updateTime: Date.now() },
    balances: [
      { asset: "USDT", free: WALLET, locked: "0.00000000" },
      { asset: "DOGE", free: WALLET, locked: "0.00000000" },
    ],
  });
}

function respond(request: IncomingMessage, response: ServerResponse, body: string): void {
  const { method = "GET", url = "/" } = request;
  const [path = "/", query = ""] = url.split("?", 2);
  const apiKey = request.headers["x-mbx-apikey"];
  const answer = answerOf(method, path, query + body, typeof apiKey === "string" ? apiKey : undefined);
  response.writeHead(answer.status, {
    "content-type": "application/json;charset=UTF-8",
    "content-length": Buffer.byteLength(answer.body),
    "x-mbx-used-weight-1m": "1",
  });
  response.end(answer.body);
  if (method === "POST" && answer.status === 200) answeredAt.push(performance.timeOrigin + performance.now());
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  let body = "";
  request.setEncoding("latin1");
  request.on("data", (part: string) => {
    body += part;
  });
  request.on("end", () => respond(request, response, body));
});

server.listen(0, "127.0.0.1", () => {
  process.send?.({ port: (server.address() as AddressInfo).port } satisfies VenueReady);
});
process.on("message", () => {
  process.send?.({ answeredAt, requests, badSignatures } satisfies VenueTaken);
  answeredAt = [];
  requests = 0;
  badSignatures = 0;
});
process.once("disconnect", () => process.exit());
