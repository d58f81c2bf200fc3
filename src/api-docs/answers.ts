// What the exchange-style routes answer: the shape of each answer by its name, and an example of each shape.
// The examples are answers of a running server, in answers.json; a test holds the server's answers to the
// schemas that they make.
import EXAMPLES from "./answers.json" with { type: "json" };
import { schemaOfExample } from "./example-schema.ts";
import { HOME, type JsonSchema } from "./schema-book.ts";

type ShapeName = keyof typeof EXAMPLES;
type AnswerOf = {
  readonly shape: ShapeName;
  /** Whether the answer is one of the shape, a list, or either of them: one for `symbol`, else a list. */
  readonly as: "one" | "list" | "either";
  /** Another shape that members of the list may have. */
  readonly other?: ShapeName;
};

/** What is not in every answer of its shape. */
const OPTIONAL: ReadonlySet<string> = new Set(["attachedLegs"]);
/**
 * What is null in some answers of its shape: a fill that no client asked for has not arrived, one after a gap
 * has no book.
 */
const NULLABLE: ReadonlySet<string> = new Set([
  ...["admittedAt", "latencyMs", "arrivedAt", "book"],
  ...["firstFillAt", "lastFillAt", "difference"],
  ...["aheadAtPlacement", "bookAtPlacement", "aheadBefore", "ahead", "history"],
]);

const one = (shape: ShapeName): AnswerOf => ({ shape, as: "one" });
const list = (shape: ShapeName, other?: ShapeName): AnswerOf => ({
  ...{ shape, as: "list" },
  ...(other !== undefined && { other }),
});
const either = (shape: ShapeName): AnswerOf => ({ shape, as: "either" });

/** By method and the first path of a route. */
const ANSWERS: Readonly<Record<string, AnswerOf | "EMPTY_LIST" | "REFUSAL">> = {
  "GET /api/v3/ping": one("Empty"),
  "GET /api/v3/time": one("ServerTime"),
  "GET /api/v3/exchangeInfo": one("SpotExchangeInfo"),
  "GET /api/v3/depth": one("SpotDepth"),
  "GET /api/v3/trades": list("SpotPublicTrade"),
  "GET /api/v3/historicalTrades": list("SpotPublicTrade"),
  "GET /api/v3/aggTrades": list("SpotAggregateTrade"),
  "GET /api/v3/klines": list("Candle"),
  "GET /api/v3/uiKlines": list("Candle"),
  "GET /api/v3/avgPrice": one("AveragePrice"),
  "GET /api/v3/ticker/24hr": either("SpotDayTicker"),
  "GET /api/v3/ticker/price": either("SpotPrice"),
  "GET /api/v3/ticker/bookTicker": either("SpotBookTicker"),
  "GET /api/v3/account": one("SpotAccount"),
  "POST /api/v3/order": one("SpotOrder"),
  "DELETE /api/v3/order": one("CanceledSpotOrder"),
  "DELETE /api/v3/openOrders": list("CanceledSpotOrder"),
  "GET /api/v3/order": one("SpotOrder"),
  "GET /api/v3/openOrders": list("SpotOrder"),
  "GET /api/v3/allOrders": list("SpotOrder"),
  "GET /api/v3/myTrades": list("SpotTrade"),
  "GET /api/v3/platform/fillReceipts": list("FillReceipt", "OpenOrderFillReceipt"),
  "GET /api/v3/platform/counterfactuals": one("Counterfactual"),
  "POST /api/v3/platform/strategy/close": one("Closing"),
  "GET /fapi/v1/exchangeInfo": one("FuturesExchangeInfo"),
  "GET /fapi/v1/depth": one("FuturesDepth"),
  "GET /fapi/v1/trades": list("FuturesPublicTrade"),
  "GET /fapi/v1/historicalTrades": list("FuturesPublicTrade"),
  "GET /fapi/v1/aggTrades": list("FuturesAggregateTrade"),
  "GET /fapi/v1/klines": list("Candle"),
  "GET /fapi/v1/continuousKlines": list("Candle"),
  "GET /fapi/v1/markPriceKlines": list("Candle"),
  "GET /fapi/v1/indexPriceKlines": list("Candle"),
  "GET /fapi/v1/premiumIndexKlines": list("Candle"),
  "GET /fapi/v1/premiumIndex": either("PremiumIndex"),
  "GET /fapi/v1/fundingRate": list("FundingRate"),
  "GET /fapi/v1/fundingInfo": list("FundingInfo"),
  "GET /fapi/v1/ticker/24hr": either("FuturesDayTicker"),
  "GET /fapi/v2/ticker/price": either("FuturesPrice"),
  "GET /fapi/v1/ticker/bookTicker": either("FuturesBookTicker"),
  "GET /fapi/v1/openInterest": one("OpenInterest"),
  "GET /fapi/v3/account": one("FuturesAccount"),
  "GET /fapi/v3/balance": list("FuturesBalance"),
  "GET /fapi/v3/positionRisk": list("PositionRisk"),
  "GET /fapi/v1/accountConfig": one("AccountConfig"),
  "GET /fapi/v1/symbolConfig": list("SymbolConfig"),
  "GET /fapi/v1/leverageBracket": list("LeverageBrackets"),
  "GET /fapi/v1/commissionRate": one("CommissionRate"),
  "GET /fapi/v1/income": list("Income"),
  "POST /fapi/v1/leverage": one("Leverage"),
  "POST /fapi/v1/marginType": one("Confirmation"),
  "GET /fapi/v1/positionSide/dual": one("PositionMode"),
  "POST /fapi/v1/positionSide/dual": "REFUSAL",
  "GET /fapi/v1/multiAssetsMargin": one("AssetsMode"),
  "POST /fapi/v1/multiAssetsMargin": "REFUSAL",
  "GET /fapi/v1/feeBurn": one("FeeBurn"),
  "POST /fapi/v1/order": one("FuturesOrder"),
  "DELETE /fapi/v1/order": one("FuturesOrder"),
  "DELETE /fapi/v1/allOpenOrders": one("Confirmation"),
  "GET /fapi/v1/order": one("FuturesOrder"),
  "GET /fapi/v1/openOrder": one("FuturesOrder"),
  "GET /fapi/v1/openOrders": list("FuturesOrder"),
  "GET /fapi/v1/allOrders": list("FuturesOrder"),
  "GET /fapi/v1/userTrades": list("FuturesTrade"),
  "POST /fapi/v1/algoOrder": one("Leg"),
  "DELETE /fapi/v1/algoOrder": one("CanceledLeg"),
  "DELETE /fapi/v1/algoOpenOrders": one("Confirmation"),
  "GET /fapi/v1/algoOrder": one("Leg"),
  "GET /fapi/v1/openAlgoOrders": list("Leg"),
  "GET /fapi/v1/allAlgoOrders": list("Leg"),
  "GET /fapi/v1/platform/fillReceipts": list("FillReceipt", "OpenOrderFillReceipt"),
  "GET /fapi/v1/platform/counterfactuals": one("Counterfactual"),
  "POST /fapi/v1/platform/strategy/close": one("Closing"),
  "POST /fapi/v1/listenKey": one("ListenKey"),
  "PUT /fapi/v1/listenKey": one("ListenKey"),
  "DELETE /fapi/v1/listenKey": one("Empty"),
  "POST /api/v3/userDataStream": "REFUSAL",
  "PUT /api/v3/userDataStream": "REFUSAL",
  "DELETE /api/v3/userDataStream": "REFUSAL",
  "GET /sapi/v1/capital/config/getall": "EMPTY_LIST",
  "GET /sapi/v1/margin/allPairs": "EMPTY_LIST",
  "GET /sapi/v1/margin/isolated/allPairs": "EMPTY_LIST",
  "GET /sapi/v1/system/status": one("SystemStatus"),
  "GET /dapi/v1/exchangeInfo": one("CoinMarginedExchangeInfo"),
};

/** The schemas of all shapes, by name. */
export function answerSchemas(): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    Object.entries(EXAMPLES).map(([name, example]) => [
      name,
      schemaOfExample(example, { optional: OPTIONAL, nullable: NULLABLE }),
    ]),
  );
}

/** What a route answers if all goes well, with an example; null if it never does. */
export function answerOf(route: string): { readonly schema: JsonSchema; readonly example: unknown } | null {
  const answer = ANSWERS[route];
  if (answer === undefined) throw new Error(`every route has an answer in the API reference: ${route}`);
  if (answer === "REFUSAL") return null;
  if (answer === "EMPTY_LIST") return { schema: { type: "array", maxItems: 0 }, example: [] };
  const example = EXAMPLES[answer.shape];
  const single: JsonSchema = { $ref: `${HOME}${answer.shape}` };
  const several: JsonSchema = { type: "array", items: single };
  switch (answer.as) {
    case "one":
      return { schema: single, example };
    case "list": {
      if (answer.other === undefined) return { schema: several, example: [example] };
      const items = { anyOf: [single, { $ref: `${HOME}${answer.other}` }] };
      return { schema: { type: "array", items }, example: [example, EXAMPLES[answer.other]] };
    }
    case "either":
      return { schema: { oneOf: [single, several] }, example };
  }
}
