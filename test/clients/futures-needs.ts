// What typed clients read in every futures body. go-binance and the Python connector type every field that
// they know; hummingbot fails without some, and ccxt misreads what has others, or lacks some. Source:
// reference exchange, sections 10 to 13 and 18.
import { fields, type Needs, type Shape } from "./needs.ts";

const ORDER: Shape = fields({
  text: `
    symbol clientOrderId status timeInForce type origType side workingType priceMatch
    selfTradePreventionMode
  `,
  id: "orderId",
  decimal: "price avgPrice origQty executedQty cumQty cumQuote stopPrice",
  oneWay: "positionSide",
  flag: "reduceOnly closePosition priceProtect",
  count: "goodTillDate",
  time: "updateTime",
});
const LEG: Shape = fields({
  id: "algoId",
  text: `
    clientAlgoId algoType orderType symbol side timeInForce algoStatus selfTradePreventionMode
    workingType priceMatch
  `,
  oneWay: "positionSide",
  decimal: "quantity actualPrice actualQty triggerPrice price tpTriggerPrice tpPrice slTriggerPrice slPrice",
  textOrEmpty: "actualOrderId actualType tpOrderType activatePrice callbackRate",
  textOrNull: "icebergQuantity",
  flag: "closePosition priceProtect reduceOnly",
  time: "createTime updateTime",
  count: "triggerTime goodTillDate",
});
const RISK: Shape = fields({
  text: "symbol marginType isAutoAddMargin marginAsset",
  oneWay: "positionSide",
  signedDecimal: "positionAmt unRealizedProfit isolatedMargin notional",
  decimal: `
    entryPrice breakEvenPrice markPrice liquidationPrice leverage maxNotionalValue isolatedWallet
    initialMargin maintMargin positionInitialMargin openOrderInitialMargin bidNotional askNotional
  `,
  count: "adl",
});
const MARGINS: Shape = {
  maintMargin: "decimal",
  initialMargin: "decimal",
  positionInitialMargin: "decimal",
  openOrderInitialMargin: "decimal",
};

export const FUTURES_NEEDS: Needs = {
  placed: {
    "go-binance": ORDER,
    "binance-connector-python": ORDER,
    hummingbot: { orderId: "id", updateTime: "time", status: "text" },
    ccxt: { positionSide: "oneWay", avgPrice: "decimal", cumQuote: "decimal", updateTime: "time" },
  },
  canceled: { "go-binance": { ...ORDER, status: "canceled" }, hummingbot: { status: "canceled" } },
  queried: {
    "go-binance": { ...ORDER, time: "time" },
    "binance-connector-python": { ...ORDER, time: "time" },
    hummingbot: { clientOrderId: "text", orderId: "id", status: "text", updateTime: "time" },
  },
  allCanceled: { "every client": { code: "success", msg: "text" } },
  leg: { "binance-connector-python": LEG, "python-binance": LEG },
  canceledLeg: {
    "binance-connector-python": { algoId: "id", clientAlgoId: "text", code: "successText", msg: "text" },
  },
  account: {
    "go-binance": fields({
      count: "feeTier",
      flag: "feeBurn canTrade canDeposit canWithdraw multiAssetsMargin",
      time: "updateTime",
      list: "assets positions",
      decimal: `
        totalInitialMargin totalMaintMargin totalWalletBalance totalMarginBalance
        totalPositionInitialMargin totalOpenOrderInitialMargin totalCrossWalletBalance
        availableBalance maxWithdrawAmount
      `,
      signedDecimal: "totalUnrealizedProfit totalCrossUnPnl",
    }),
    "binance-connector-python": { tradeGroupId: "minusOne" },
  },
  asset: {
    "go-binance": {
      ...MARGINS,
      ...fields({
        text: "asset",
        decimal: "walletBalance marginBalance crossWalletBalance availableBalance maxWithdrawAmount",
        signedDecimal: "unrealizedProfit crossUnPnl",
        flag: "marginAvailable",
        time: "updateTime",
      }),
    },
    // It leaves out an asset that was never updated.
    ccxt: { updateTime: "time" },
    hummingbot: { asset: "text", walletBalance: "decimal", availableBalance: "decimal" },
  },
  position: {
    "go-binance": {
      ...MARGINS,
      ...fields({
        text: "symbol",
        yes: "isolated",
        decimal: "leverage entryPrice maxNotional bidNotional askNotional",
        signedDecimal: "unrealizedProfit positionAmt notional",
        oneWay: "positionSide",
        time: "updateTime",
      }),
    },
    "binance-connector-python": { isolatedMargin: "signedDecimal", isolatedWallet: "decimal" },
  },
  balance: {
    "every client": fields({
      text: "accountAlias asset",
      decimal: "balance crossWalletBalance availableBalance maxWithdrawAmount",
      signedDecimal: "crossUnPnl",
      flag: "marginAvailable",
      time: "updateTime",
    }),
  },
  risk: {
    "go-binance": { ...RISK, updateTime: "time" },
    "binance-connector-python": { ...RISK, updateTime: "time" },
    hummingbot: { positionSide: "oneWay", leverage: "decimal", unRealizedProfit: "signedDecimal" },
  },
  flatRisk: { "go-binance": { ...RISK, updateTime: "zero" }, hummingbot: { leverage: "decimal" } },
  trade: {
    "every client": fields({
      text: "symbol side commissionAsset",
      id: "id orderId",
      oneWay: "positionSide",
      decimal: "price qty quoteQty commission",
      signedDecimal: "realizedPnl",
      time: "time",
      flag: "buyer maker",
    }),
  },
  income: {
    "every client": fields({
      textOrEmpty: "symbol tradeId",
      text: "incomeType asset info",
      signedDecimal: "income",
      time: "time",
      id: "tranId",
    }),
  },
  leverage: { "every client": { leverage: "id", maxNotionalValue: "decimal", symbol: "text" } },
  brackets: { "every client": { symbol: "text", brackets: "list" } },
  bracket: {
    "go-binance": fields({
      id: "bracket initialLeverage",
      number: "notionalCap notionalFloor maintMarginRatio cum",
    }),
    "binance-connector-python": { notionalCap: "id", notionalFloor: "count" },
  },
  fees: {
    "every client": { symbol: "text", makerCommissionRate: "decimal", takerCommissionRate: "decimal" },
  },
  symbolConfig: {
    "binance-connector-python": fields({
      text: "symbol marginType",
      flag: "isAutoAddMargin",
      id: "leverage",
      decimal: "maxNotionalValue",
    }),
  },
  accountConfig: {
    "binance-connector-python": fields({
      count: "feeTier",
      flag: "canTrade canDeposit canWithdraw dualSidePosition multiAssetsMargin",
      time: "updateTime",
      minusOne: "tradeGroupId",
    }),
  },
  exchange: {
    "go-binance": fields({
      text: "timezone",
      time: "serverTime",
      list: "rateLimits exchangeFilters symbols",
    }),
  },
  contract: {
    "go-binance": fields({
      text: `
        symbol pair underlyingType quoteAsset marginAsset baseAsset
        filters.PERCENT_PRICE.multiplierDecimal
      `,
      perpetual: "contractType",
      id: `
        deliveryDate baseAssetPrecision quotePrecision filters.MAX_NUM_ORDERS.limit
        filters.MAX_NUM_ALGO_ORDERS.limit
      `,
      time: "onboardDate",
      trading: "status",
      decimal: `
        maintMarginPercent requiredMarginPercent triggerProtect liquidationFee marketTakeBound
        filters.PRICE_FILTER.minPrice filters.PRICE_FILTER.maxPrice filters.PRICE_FILTER.tickSize
        filters.LOT_SIZE.minQty filters.LOT_SIZE.maxQty filters.LOT_SIZE.stepSize
        filters.MARKET_LOT_SIZE.minQty filters.MARKET_LOT_SIZE.maxQty filters.MARKET_LOT_SIZE.stepSize
        filters.MIN_NOTIONAL.notional filters.PERCENT_PRICE.multiplierUp
        filters.PERCENT_PRICE.multiplierDown
      `,
      count: "pricePrecision quantityPrecision",
      texts: "underlyingSubType orderTypes timeInForce",
    }),
  },
  premium: {
    "go-binance": fields({
      text: "symbol",
      decimal: "markPrice indexPrice estimatedSettlePrice",
      signedDecimal: "lastFundingRate interestRate",
      time: "nextFundingTime time",
    }),
  },
  settlement: {
    "go-binance": { symbol: "text", fundingRate: "signedDecimal", fundingTime: "time", markPrice: "decimal" },
  },
  error: { "every client": { code: "code", msg: "text" } },
};

/** Names by which ccxt takes an order for another's or a refused one, and a fill for one of spot. */
export const NEVER_IN_AN_ORDER = ["strategyId", "algoId", "code", "origClientOrderId"];
export const NEVER_IN_A_LEG = ["strategyId", "orderId", "status", "code"];
export const NEVER_IN_A_TRADE = ["isMaker", "isBuyer", "isIsolated", "orderListId", "M"];
