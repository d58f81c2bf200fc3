// Two strategies, one of each type, whose market and clock are in the test's hands: prices are set minute
// by minute, and are what the candles say afterwards.
import {
  ContractMarket,
  createFixture as deskFixture,
  executed,
  StubMarket,
} from "../../desk/testing/fixture.ts";
import type { StrategyType } from "../../domain/account.ts";
import type { Command } from "../../domain/command.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { contractRules } from "../../engine/testing/contract-rules.ts";
import { unfilteredRules } from "../../engine/testing/market-stub.ts";
import type { UpstreamAnswer } from "../../market/client/rest/rest.ts";
import { decimal, formatBriefly, type Price, type Quantity, type Rate } from "../../money/decimal.ts";
import { createPerformanceReports, type PerformanceParts, type PerformanceReport } from "../reports.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** Prices by symbol and minute, and their candles: of a second, and of a minute for any other interval. */
class Told {
  /** Minutes since 1970. */
  minute = 0;
  /** The requests, path and query. */
  readonly asked: string[] = [];
  isOutOfReach = false;
  readonly #closes = new Map<string, Map<number, string>>();

  now(): number {
    return this.minute * MINUTE_MS + 1_000;
  }

  set(symbol: string, price: string): void {
    const closes = this.#closes.get(symbol) ?? new Map<number, string>();
    closes.set(this.minute, price);
    this.#closes.set(symbol, closes);
  }

  query(path: string, search: URLSearchParams | string): Promise<UpstreamAnswer> {
    this.asked.push(`${path}?${search}`);
    if (this.isOutOfReach) return Promise.resolve({ unavailable: true, reason: "out of reach" });
    const asked = new URLSearchParams(search);
    const from = Number(asked.get("startTime"));
    const prices = this.#closes.get(asked.get("symbol") ?? "") ?? new Map<number, string>();
    const rows = asked.get("interval") === "1s" ? this.#seconds(from, prices) : minutes(from, prices);
    const text = JSON.stringify(rows.slice(0, Number(asked.get("limit"))));
    return Promise.resolve({ unavailable: false, status: 200, text });
  }

  /** A price is valid from the beginning of its minute until the next one. */
  #seconds(from: number, prices: ReadonlyMap<number, string>): readonly unknown[] {
    const [first = Number.POSITIVE_INFINITY] = prices.keys();
    const rows: unknown[] = [];
    let close = "";
    for (let at = first * MINUTE_MS; at < this.now(); at += SECOND_MS) {
      close = prices.get(at / MINUTE_MS) ?? close;
      if (at >= from) rows.push(candle(at, SECOND_MS, close));
    }
    return rows;
  }
}

function minutes(from: number, prices: ReadonlyMap<number, string>): readonly unknown[] {
  const later = [...prices].filter(([minute]) => minute * MINUTE_MS >= from);
  return later.map(([minute, close]) => candle(minute * MINUTE_MS, MINUTE_MS, close));
}

function candle(openTime: number, lengthMs: number, close: string): unknown {
  return [openTime, close, close, close, close, "1", openTime + lengthMs - 1];
}

/** Of pairs that are not quoted in USDT. */
const OTHER_ASSETS: Readonly<Record<string, readonly [baseAsset: string, quoteAsset: string]>> = {
  ETHBTC: ["ETH", "BTC"],
  USDTTRY: ["USDT", "TRY"],
};

class PricedPairs extends StubMarket {
  readonly told = new Told();

  override now(): number {
    return this.told.now();
  }

  /** The step of quantities. */
  step: string | null = null;

  override rules(symbol: string): SymbolRules {
    const [baseAsset, quoteAsset] = OTHER_ASSETS[symbol] ?? [];
    const rules = {
      ...unfilteredRules(symbol),
      ...(baseAsset !== undefined && quoteAsset !== undefined && { baseAsset, quoteAsset }),
      ...(symbol === "TRYUSDT" && { status: "BREAK" }),
    };
    if (this.step === null) return rules;
    const stepSize = decimal<Quantity>(this.step);
    return { ...rules, lotSize: { minQuantity: stepSize, maxQuantity: decimal("1000"), stepSize } };
  }

  query(path: string, search: URLSearchParams | string): Promise<UpstreamAnswer> {
    return this.told.query(path, search);
  }
}

class PricedContracts extends ContractMarket {
  readonly told = new Told();
  readonly #marks = new Map<string, Price>();

  override now(): number {
    return this.told.now();
  }

  override rules(symbol: string): SymbolRules {
    const rules = contractRules(symbol.replace(/USDT$/, ""));
    const contract = { ...rules.contract, marketTakeBound: decimal<Rate>("0.5") };
    return { ...rules, notional: null, percentPrice: null, contract };
  }

  override markPrice(symbol = "BTCUSDT"): Price {
    return this.#marks.get(symbol) ?? decimal("100");
  }

  setMark(symbol: string, price: string): void {
    this.#marks.set(symbol, decimal(price));
  }

  query(path: string, search: URLSearchParams | string): Promise<UpstreamAnswer> {
    return this.told.query(path, search);
  }
}

/** `spot` has 200 USDT and `futures` 1,000, both since the first second of 1970. */
export async function createFixture(options: Pick<Partial<PerformanceParts>, "tradesMax"> = {}) {
  const pairs = new PricedPairs();
  const contracts = new PricedContracts();
  const on = await deskFixture({ market: pairs, contracts, strategies: ["spot"], futures: ["futures"] });
  let placed = 0;
  const wall = { now: 0 };
  const reports = createPerformanceReports({
    store: on.store,
    markets: { SPOT: pairs, FUTURES: contracts },
    wallNow: () => wall.now,
    ...options,
  });
  const idOf = (type: StrategyType) => type.toLowerCase();
  return {
    ...on,
    pairs,
    contracts,
    wall,
    reports,
    /** Sets the clock to a minute, and the price of a symbol. */
    price(minute: number, symbol: string, price: string): void {
      pairs.told.minute = minute;
      contracts.told.minute = minute;
      for (const market of [pairs, contracts]) {
        market.told.set(symbol, price);
        market.show(symbol, price, price);
        market.trade(symbol, price);
      }
      contracts.setMark(symbol, price);
    },
    /** Carries a command out, which may not be refused. */
    async carryOut(type: StrategyType, command: Command): Promise<void> {
      executed(await on.desk.execute(idOf(type), command));
    },
    /** At the market's price. */
    async trade(type: StrategyType, side: "BUY" | "SELL", quantity: string, symbol: string): Promise<void> {
      placed += 1;
      const command: Command = {
        type: "PlaceOrder",
        symbol,
        side,
        orderType: "MARKET",
        size: { quantity: decimal(quantity) },
        price: null,
        stopPrice: null,
        clientOrderId: `trade-${placed}`,
      };
      executed(await on.desk.execute(idOf(type), command));
    },
    async report(type: StrategyType, range: PerformanceReport["range"] = "all"): Promise<PerformanceReport> {
      const report = await reports.report(idOf(type), range);
      if (report === null) throw new Error("there is a report of a strategy that is there");
      return report;
    },
  };
}

/** The figures as a person reads them. */
export function inWords({ statistics }: PerformanceReport): Readonly<Record<string, string | number | null>> {
  return Object.fromEntries(
    Object.entries(statistics).map(([name, value]) => [
      name,
      typeof value === "bigint" ? formatBriefly(value) : value,
    ]),
  );
}

/** The curve at its ends and when a minute ends: minutes, and what the strategy was worth. */
export function curveOf({ points }: PerformanceReport): readonly string[] {
  const shown = points.filter(
    ({ at }, index) => index === 0 || index === points.length - 1 || at % MINUTE_MS === 0,
  );
  return shown.map(({ at, equity }) => `${Math.floor(at / MINUTE_MS)}: ${formatBriefly(equity)}`);
}
