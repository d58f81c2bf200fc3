// Runs the tables in `scenarios/`: every line is a step, its outcome and the balances after it, to the last digit.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Account } from "../domain/account.ts";
import type { Command } from "../domain/command.ts";
import type { DomainEvent } from "../domain/event.ts";
import { isOpen, type OrderType } from "../domain/order.ts";
import { isRefusal } from "../domain/refusal.ts";
import type { SymbolRules } from "../domain/symbol.ts";
import { decimal, formatDecimal, type Price, type Quantity, ZERO } from "../money/decimal.ts";
import { type Reached, WatchList, waitingOf } from "../watch/watch-list.ts";
import { apply } from "./apply.ts";
import { decide } from "./decide.ts";
import { openStrategy } from "./open-strategy.ts";
import { STANDARD_SPOT } from "./profiles.ts";
import { MarketStub, symbolRules } from "./testing/market-stub.ts";

const FINEST = decimal<Price & Quantity>("0.00000001");

const RULES: readonly SymbolRules[] = [
  // As the exchange publishes them for its first pair.
  symbolRules("BTC"),
  // A coin of whole units and tiny prices.
  symbolRules("SHIB", {
    priceFilter: { minPrice: FINEST, maxPrice: decimal("1"), tickSize: FINEST },
    lotSize: { minQuantity: decimal("1"), maxQuantity: decimal("46116860414"), stepSize: decimal("1") },
    marketLotSize: null,
  }),
  // Every digit may be used.
  symbolRules("FINE", {
    priceFilter: { minPrice: FINEST, maxPrice: ZERO, tickSize: FINEST },
    lotSize: { minQuantity: FINEST, maxQuantity: ZERO, stepSize: FINEST },
    marketLotSize: null,
  }),
  // Whole units for a notional between 5 and 150, which market orders need not keep.
  symbolRules("ABC", {
    lotSize: { minQuantity: decimal("1"), maxQuantity: decimal("1000"), stepSize: decimal("1") },
    notional: {
      minNotional: decimal("5"),
      maxNotional: decimal("150"),
      appliesMinToMarket: false,
      appliesMaxToMarket: false,
      reference: "AVERAGE",
    },
  }),
  // Limit orders only.
  symbolRules("CALM", { orderTypes: ["LIMIT"] }),
  // A limit may be up to a fifth above and down to half of the average for a buyer, twice and four fifths for a seller.
  symbolRules("BAND", {
    percentPriceBySide: {
      buy: { up: decimal("1.2"), down: decimal("0.5") },
      sell: { up: decimal("2"), down: decimal("0.8") },
      reference: "AVERAGE",
    },
  }),
  // The older filter, of both sides, against the last price.
  symbolRules("LAST", {
    percentPrice: {
      buy: { up: decimal("1.1"), down: decimal("0.9") },
      sell: { up: decimal("1.1"), down: decimal("0.9") },
      reference: "LAST",
    },
  }),
  // At most 3 units, two open orders, one of them a stop.
  symbolRules("FEW", { maxPosition: decimal("3"), maxNumOrders: 2, maxNumAlgoOrders: 1 }),
  // Filters that are published and, being zero, ask nothing.
  symbolRules("OPEN", {
    percentPriceBySide: {
      buy: { up: ZERO, down: ZERO },
      sell: { up: ZERO, down: ZERO },
      reference: "AVERAGE",
    },
    maxPosition: ZERO,
    maxNumOrders: 0,
    maxNumAlgoOrders: 0,
  }),
  // A market order is for at most 100 at the average price.
  symbolRules("PART", {
    notional: {
      minNotional: decimal("5"),
      maxNotional: decimal("100"),
      appliesMinToMarket: true,
      appliesMaxToMarket: true,
      reference: "AVERAGE",
    },
  }),
  symbolRules("FREE", { priceFilter: null, lotSize: null, marketLotSize: null, notional: null }),
];

const folder = join(import.meta.dirname, "../../scenarios/spot");
for (const file of readdirSync(folder)) {
  describe(file, () => {
    for (const { name, lines } of scenarios(readFileSync(join(folder, file), "utf8"))) {
      test(name, () => {
        const bench = new Workbench();
        const seen = lines.map(({ step }) => ({ step, ...bench.take(step) }));
        expect(seen).toEqual(lines);
      });
    }
  });
}

test("there are scenarios", () => {
  expect(readdirSync(folder).length).toBeGreaterThan(0);
});

type Line = { readonly step: string; readonly outcome: string; readonly balances: string };

function scenarios(text: string): { name: string; lines: Line[] }[] {
  return text
    .split(/^== /m)
    .slice(1)
    .map((part) => {
      const [name = "", ...rows] = part.split("\n").filter((row) => row.trim() !== "");
      return {
        name,
        lines: rows.map((row) => {
          const match = /^(.*?)\s*->\s*(.*?)\s*\|\s*(.*?)\s*$/.exec(row);
          if (match === null) throw new Error(`a row is "step -> outcome | balances": ${row}`);
          const [, step = "", outcome = "", balances = ""] = match;
          return { step, outcome, balances };
        }),
      };
    });
}

/** One account, one market, and the watch list between them. */
class Workbench {
  readonly #market = new MarketStub(RULES);
  readonly #watchList = new WatchList();
  readonly #account: Account = openStrategy("scenario", "SPOT", 0).account;
  #at = 0;

  take(step: string): Omit<Line, "step"> {
    this.#at += 1;
    return { outcome: this.#outcomeOf(step), balances: this.#balances() };
  }

  #outcomeOf(step: string): string {
    const [verb = "", ...words] = step.split(/\s+/);
    const [first = "", second = "", third = "", fourth = ""] = words;
    switch (verb) {
      case "quote":
        return this.#quote(first, { bid: decimal<Price>(second), ask: decimal<Price>(third) });
      case "empty": {
        const { bid = null, ask = null } = this.#market.quote(first) ?? {};
        return this.#quote(first, second === "bid" ? { bid: null, ask } : { bid, ask: null });
      }
      case "silent":
        this.#market.setQuote(first, null);
        return "nothing";
      case "halt":
      case "resume":
        this.#market.setStatus(first, verb === "halt" ? "HALT" : "TRADING");
        return "nothing";
      case "close":
        return this.#carryOut({ type: "CloseStrategy" });
      case "cancel":
        return this.#carryOut(
          first === "all"
            ? { type: "CancelOpenOrders", symbol: second }
            : { type: "CancelOrder", orderId: Number.parseInt(first, 10) },
        );
      case "buy":
      case "sell": {
        const byQuote = first === "for";
        const [amount, symbol] = byQuote ? [second, third] : [first, second];
        const price = priceAfter("@", words);
        const stopPrice = priceAfter("stop", words);
        return this.#carryOut({
          type: "PlaceOrder",
          symbol,
          side: verb === "buy" ? "BUY" : "SELL",
          orderType: orderType(price, stopPrice),
          size: byQuote ? { quoteQuantity: decimal(amount) } : { quantity: decimal(amount) },
          price,
          stopPrice,
          clientOrderId: `step-${this.#at}`,
        });
      }
      case "trade":
        return this.#trade(first, decimal<Price>(second));
      case "average":
        this.#market.setAveragePrice(first, decimal<Price>(second));
        return "nothing";
      case "tick":
        this.#market.changeRules(first, {
          priceFilter: { minPrice: ZERO, maxPrice: ZERO, tickSize: decimal(second) },
        });
        return "nothing";
      case "lot":
        this.#market.changeRules(first, {
          lotSize: { minQuantity: decimal(second), maxQuantity: decimal(third), stepSize: decimal(fourth) },
        });
        return "nothing";
      default:
        throw new Error(`there is no step ${JSON.stringify(verb)}`);
    }
  }

  #quote(symbol: string, quote: { bid: Price | null; ask: Price | null }): string {
    this.#market.setQuote(symbol, quote);
    return this.#reached("FillRestingOrder", this.#watchList.takeAtQuote(symbol, quote));
  }

  #trade(symbol: string, price: Price): string {
    this.#market.setLastPrice(symbol, price);
    return this.#reached("TriggerStop", this.#watchList.takeAtTrade(symbol, price));
  }

  #reached(type: "FillRestingOrder" | "TriggerStop", reached: readonly Reached[]): string {
    const outcomes = reached.map(({ waiting: { orderId }, seen }) => {
      const outcome = this.#carryOut({ type, orderId, seen });
      const order = this.#account.openOrders.get(orderId);
      if (order !== undefined) this.#watchList.add(waitingOf("scenario", order));
      return outcome;
    });
    const told = outcomes.filter((outcome) => outcome !== "NOTHING_TO_FILL");
    return told.length === 0 ? "nothing" : told.join(", then ");
  }

  #carryOut(command: Command): string {
    const circumstances = { market: this.#market, profile: STANDARD_SPOT, at: this.#at };
    const decision = decide(this.#account, command, circumstances);
    if (isRefusal(decision)) {
      return decision.refusal === "FILTER_FAILED" ? `FILTER_FAILED ${decision.filter}` : decision.refusal;
    }
    for (const event of decision.events) {
      const order = apply(this.#account, event);
      if (order === null) continue;
      this.#watchList.remove(order.symbol, "scenario", order.orderId);
      if (isOpen(order)) this.#watchList.add(waitingOf("scenario", order));
    }
    return decision.events.length === 0 ? "nothing" : decision.events.map(inWords).join(", then ");
  }

  #balances(): string {
    return [...this.#account.balances]
      .filter(([, { free, locked }]) => free !== 0n || locked !== 0n)
      .map(([asset, { free, locked }]) => `${short(free)}+${short(locked)} ${asset}`)
      .join(", ");
  }
}

function inWords(event: DomainEvent): string {
  switch (event.type) {
    case "StrategyOpened":
      return "opened";
    case "OrderPlaced":
      return `placed ${event.order.orderId}`;
    case "OrderCanceled":
      return `canceled ${event.orderId}`;
    case "OrderTriggered":
      return `triggered ${event.orderId}`;
    case "OrderExpired":
      return `expired ${event.orderId} ${event.reason}`;
    case "StrategyClosing":
      return "closing";
    case "StrategyClosed":
      return "closed";
    case "OrderFilled": {
      const { orderId, quantity, price, fee, feeAsset, isMaker } = event.trade;
      const role = isMaker ? "maker" : "taker";
      return `filled ${orderId}: ${short(quantity)} @ ${short(price)} fee ${short(fee)} ${feeAsset} ${role}`;
    }
  }
}

function priceAfter(word: string, words: readonly string[]): Price | null {
  const at = words.indexOf(word);
  return at === -1 ? null : decimal<Price>(words[at + 1] ?? "");
}

function orderType(price: Price | null, stopPrice: Price | null): OrderType {
  if (stopPrice !== null) return price === null ? "STOP_LOSS" : "STOP_LOSS_LIMIT";
  return price === null ? "MARKET" : "LIMIT";
}

function short(value: bigint): string {
  return formatDecimal(value).replace(/\.?0+$/, "");
}
