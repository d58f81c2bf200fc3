// An example of each body and each answer of the bot routes, as the server reads and writes them.

const ORDER_SUBMITTED = { symbol: "BTCUSDT", tradeType: "BUY", quoteOrderQty: "20" };
const SIGNAL_ID = "7d0f5f0e-6c0b-4c6e-9f57-0f6f3c0f8f11";
const COLLECTIVE_ID = "0b5c9a44-3f0d-8a2e-8c41-000000000001";
const PLACED_AT = 1_767_225_600_012;

const ORDER = {
  symbol: "BTCUSDT",
  orderId: 1,
  orderListId: -1,
  clientOrderId: SIGNAL_ID,
  transactTime: PLACED_AT,
  price: "0.00000000",
  origQty: "0.00031000",
  executedQty: "0.00031000",
  origQuoteOrderQty: "20.00000000",
  cummulativeQuoteQty: "19.84310000",
  status: "FILLED",
  timeInForce: "GTC",
  type: "MARKET",
  side: "BUY",
  stopPrice: "0.00000000",
  icebergQty: "0.00000000",
  time: PLACED_AT,
  updateTime: PLACED_AT,
  isWorking: true,
  workingTime: PLACED_AT,
  selfTradePreventionMode: "NONE",
  collectiveId: COLLECTIVE_ID,
};
const CANCELED = {
  ...ORDER,
  price: "60000.00000000",
  origQty: "0.00100000",
  executedQty: "0.00000000",
  origQuoteOrderQty: "0.00000000",
  cummulativeQuoteQty: "0.00000000",
  status: "CANCELED",
  type: "LIMIT",
};

const STATE = {
  signalId: SIGNAL_ID,
  idempotencyKey: "rebalance-2026-01-01-7",
  status: "EXECUTED",
  result: { status: true, message: "Order placed", data: ORDER },
};
const TIMES = { receivedAt: "2026-01-01T00:00:00.004Z", processedAt: "2026-01-01T00:00:00.012Z" };
const SIGNAL = { ...STATE, collectiveId: COLLECTIVE_ID, order: ORDER_SUBMITTED, ...TIMES };

const PAIR = {
  symbol: "BTCUSDT",
  baseAsset: "BTC",
  quoteAsset: "USDT",
  status: "TRADING",
  isSpotTradingAllowed: true,
  orderTypes: ["LIMIT", "LIMIT_MAKER", "MARKET", "STOP_LOSS", "STOP_LOSS_LIMIT"],
  supportedBotOrderTypes: ["LIMIT", "MARKET", "STOP_LOSS", "STOP_LOSS_LIMIT"],
  filters: {
    minPrice: "0.01000000",
    maxPrice: "1000000.00000000",
    tickSize: "0.01000000",
    minQty: "0.00001000",
    maxQty: "9000.00000000",
    stepSize: "0.00001000",
    marketMinQty: "0.00000000",
    marketMaxQty: "120.00000000",
    marketStepSize: "0.00000000",
    minNotional: "5.00000000",
    maxNotional: null,
  },
};

/** By route, and by `body` or by status. */
const EXAMPLES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "GET /bot/v1/spot/pairs": {
    200: success("Trading pairs", { timeframes: ["1s", "1m", "1h", "1d"], pairs: [PAIR] }),
  },
  "POST /bot/v1/spot/test": {
    200: success("Signature is valid", {
      apiKeyId: "9f86d081884c7d65",
      userId: "60303ae22b998861",
      serverTime: PLACED_AT,
    }),
    400: failure("The body is not JSON"),
  },
  "POST /bot/v1/spot/orders": {
    body: ORDER_SUBMITTED,
    202: { ...SIGNAL, replayed: false },
    400: failure("stopprice is not a field of this body"),
    422: failure("idempotency-key was used for another order; take a fresh key"),
  },
  "GET /bot/v1/spot/orders": { 200: success("Signals", [SIGNAL]) },
  "GET /bot/v1/spot/signals/:signalId": {
    200: { ...STATE, ...TIMES },
    404: failure("Signal not found"),
  },
  "POST /bot/v1/spot/orders/cancel": {
    body: { collectiveId: COLLECTIVE_ID },
    200: success("Order canceled", CANCELED),
    400: failure("collectiveId must be a UUID"),
    404: failure("Order not found"),
  },
  "POST /bot/v1/spot/strategy/close": {
    body: {},
    200: success("Strategy closed", { strategyId: "0123456789abcdef", status: "CLOSED" }),
    400: failure("The body is not a JSON object"),
  },
};

/** The example of a route's body (`body`) or of its answer with a status; undefined if there is none. */
export function exampleOf(route: string, part: string): unknown {
  return EXAMPLES[route]?.[part];
}

function success(message: string, data: object) {
  return { status: true, message, data };
}

function failure(message: string) {
  return { status: false, message };
}
