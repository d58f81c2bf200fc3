// What a generated client calls each bot route.

const IDS: Readonly<Record<string, string>> = {
  "GET /bot/v1/spot/pairs": "listPairs",
  "POST /bot/v1/spot/test": "testKey",
  "POST /bot/v1/spot/orders": "submitSignal",
  "GET /bot/v1/spot/orders": "listSignals",
  "GET /bot/v1/spot/signals/:signalId": "findSignal",
  "POST /bot/v1/spot/orders/cancel": "cancelOrder",
  "POST /bot/v1/spot/strategy/close": "closeStrategy",
};

/** The operation id of a route, named as `POST /bot/v1/spot/orders`. Throws if it has none. */
export function operationId(route: string): string {
  const id = IDS[route];
  if (id === undefined) throw new Error(`a bot route has an operation id: ${route}`);
  return id;
}
