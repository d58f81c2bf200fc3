// What a close would do, with a book that is known only once somebody has waited for it.
import { expect, test } from "vitest";
import type { Account, StrategyType } from "../../domain/account.ts";
import { type FillProfile, STANDARD } from "../../domain/fill-profile.ts";
import type { BookView } from "../../domain/market.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { STRICT_DEFAULTS, strictProfile } from "../../engine/matching/terms.ts";
import { openStrategy } from "../../engine/open-strategy.ts";
import { contractRules } from "../../engine/testing/contract-rules.ts";
import { bookViewOf, type Levels, MarketStub, symbolRules } from "../../engine/testing/market-stub.ts";
import { positionOf } from "../../engine/testing/positions.ts";
import { decimal, formatBriefly } from "../../money/decimal.ts";
import { post } from "../../money/posting.ts";
import { previewClose } from "./close-preview.ts";

const SYMBOL = "BTCUSDT";
const AT = 1_000;
const DEEP: Levels = [["60000", "1"]];
const THIN: Levels = [["60000", "0.0004"]];

/** Its book is known from the moment that somebody has waited for it. */
class FollowedMarket extends MarketStub {
  #isFollowed = false;

  override async prepareBook(): Promise<void> {
    await Promise.resolve();
    this.#isFollowed = true;
  }

  override book(symbol: string): BookView | null {
    return this.#isFollowed ? super.book(symbol) : null;
  }
}

function marketWith(bids: Levels | null, rules: SymbolRules): FollowedMarket {
  const market = new FollowedMarket([rules], () => AT);
  market.setQuote(SYMBOL, { bid: decimal("60000"), ask: decimal("60001") });
  market.setAveragePrice(SYMBOL, decimal("60000"));
  market.setMarkPrice(SYMBOL, decimal("60000"));
  if (bids !== null) market.setBook(SYMBOL, bookViewOf(AT, { BID: bids, ASK: [["60001", "1"]] }));
  return market;
}
const spotMarket = (bids: Levels | null) => marketWith(bids, symbolRules("BTC"));
const futuresMarket = (bids: Levels | null) => marketWith(bids, contractRules("BTC"));

function accountOf(type: StrategyType, profile: FillProfile | null): Account {
  if (profile === null) throw new Error("the first tier is known");
  return openStrategy("one", type, 0, profile).account;
}

/** Of 0.001005 BTC: half a step more than can be sold. */
function holder(profile = strictProfile("SPOT", STRICT_DEFAULTS)): Account {
  const account = accountOf("SPOT", profile);
  post(account.balances, { from: "market", to: "free", asset: "BTC", amount: decimal("0.001005") });
  return account;
}

function positionHolder(): Account {
  const account = accountOf("FUTURES", strictProfile("FUTURES", STRICT_DEFAULTS));
  post(account.balances, { from: "free", to: "isolated", asset: "USDT", amount: decimal("6") });
  account.positions = new Map([[SYMBOL, positionOf("0.002", "50000", "6")]]);
  return account;
}

function previewOf(account: Account, market: FollowedMarket) {
  const parts = {
    gateway: { markets: { SPOT: market, FUTURES: market }, store: { listTrades: async () => [] } },
    prices: { of: () => null },
  };
  return previewClose(account, "one", parts as unknown as Parameters<typeof previewClose>[2]);
}

/** What the preview says, its quantities in short. */
async function previewed(account: Account, market: FollowedMarket) {
  const { sold, dust, waitingFor } = await previewOf(account, market);
  const briefly = ({ quantity }: { readonly quantity: bigint }) => formatBriefly(quantity);
  return {
    now: sold.filter(({ brings }) => brings !== null).map(briefly),
    later: sold.filter(({ brings }) => brings === null).map(briefly),
    dust: dust.map(briefly),
    waitingFor,
  };
}

test("with a holding that trades the other way round the quote asset is bought, which is what it brings", async () => {
  const lira = (): Account => {
    const account = accountOf("SPOT", STANDARD.SPOT);
    post(account.balances, { from: "market", to: "free", asset: "TRY", amount: decimal("4030.965") });
    return account;
  };
  const rules = { symbol: "USDTTRY", baseAsset: "USDT", quoteAsset: "TRY" };
  const market = new FollowedMarket([symbolRules("USDT", rules)]);
  market.setQuote("USDTTRY", { bid: decimal("26.9"), ask: decimal("27") });
  const { sold, dust, waitingFor } = await previewOf(lira(), market);
  // 149.295 at 27, less a thousandth
  expect(sold).toEqual([
    { symbol: "USDTTRY", side: "BUY", quantity: decimal("149.295"), brings: decimal("149.145705") },
  ]);
  expect({ dust, waitingFor }).toEqual({ dust: [], waitingFor: [] });
  market.setQuote("USDTTRY", null);
  expect(await previewOf(lira(), market)).toMatchObject({
    sold: [{ symbol: "USDTTRY", side: "BUY", brings: null }],
    dust: [],
    waitingFor: ["USDTTRY"],
  });
});

test("a strict strategy whose book nobody follows: the preview waits for the book, as the close does", async () => {
  expect(await previewed(holder(), spotMarket(DEEP))).toEqual({
    now: ["0.001"],
    later: [],
    dust: ["0.000005"],
    waitingFor: [],
  });
  expect(await previewed(positionHolder(), futuresMarket(DEEP))).toEqual({
    now: ["0.002"],
    later: [],
    dust: [],
    waitingFor: [],
  });
});

test("a strict strategy whose book stays unknown: what can be sold later is waited for, not too small", async () => {
  expect(await previewed(holder(), spotMarket(null))).toEqual({
    now: [],
    later: ["0.001"],
    dust: ["0.000005"],
    waitingFor: [SYMBOL],
  });
  expect(await previewed(positionHolder(), futuresMarket(null))).toEqual({
    now: [],
    later: ["0.002"],
    dust: [],
    waitingFor: [SYMBOL],
  });
});

test("a strict strategy and a thin book: what the book does not hold is waited for, beside what is sold", async () => {
  expect(await previewed(holder(), spotMarket(THIN))).toEqual({
    now: ["0.0004"],
    later: ["0.0006"],
    dust: ["0.000005"],
    waitingFor: [SYMBOL],
  });
  const thin: Levels = [["60000", "0.001"]];
  expect(await previewed(positionHolder(), futuresMarket(thin))).toEqual({
    now: ["0.001"],
    later: ["0.001"],
    dust: [],
    waitingFor: [SYMBOL],
  });
});

test("a standard strategy at a silent market waits for what can be sold, and not for dust", async () => {
  const market = spotMarket(null);
  market.setQuote(SYMBOL, null);
  expect(await previewed(holder(STANDARD.SPOT), market)).toEqual({
    now: [],
    later: ["0.001"],
    dust: ["0.000005"],
    waitingFor: [SYMBOL],
  });
  const account = holder(STANDARD.SPOT);
  post(account.balances, { from: "market", to: "free", asset: "ETH", amount: decimal("0.000004") });
  const both = new FollowedMarket([symbolRules("BTC"), symbolRules("ETH")]);
  both.setAveragePrice(SYMBOL, decimal("60000"));
  both.setAveragePrice("ETHUSDT", decimal("3000"));
  expect(await previewed(account, both)).toMatchObject({
    dust: ["0.000005", "0.000004"],
    waitingFor: [SYMBOL],
  });
});
