// Trades a copied strategy: orders of every kind, cancels, legs and leverages, drawn from the seed. A request
// without an answer is retried under the same client id, so that the strategy goes on after any crash.
import type { StrategyType } from "../../../src/domain/account.ts";
import type { Lead } from "../../copy/actors.ts";
import { signed, type WireAnswer } from "../../support/signed-client.ts";
import { LEG_PATHS, PATHS } from "../harness/routes.ts";
import type { SteeredMarket } from "../harness/steered-market.ts";

/** Pairs and contracts whose least order is worth five dollars, by how fine their prices and sizes are. */
export const SYMBOLS = [
  { symbol: "DOGEUSDT", priceDigits: 5, quantityDigits: 0 },
  { symbol: "ADAUSDT", priceDigits: 4, quantityDigits: 0 },
] as const;
type Traded = (typeof SYMBOLS)[number];

/** What an order is worth, dollars: a few of the smallest are too small once they are scaled. */
const WORTH: { readonly [T in StrategyType]: { readonly least: number; readonly most: number } } = {
  SPOT: { least: 6, most: 18 },
  FUTURES: { least: 8, most: 50 },
};
const RESTING_MAX = 8;
const LEGS_MAX = 4;
const LEVERAGES = [2, 3, 5];
/** How far from the market a limit or a trigger is, at most. */
const NEAR = 0.01;
const FAR = 0.06;
/** Answers that say nothing about the outcome: what was asked is asked again. */
const UNCERTAIN_STATUSES = [429, 500, 502, 503, 504];
/** A minute's budget that is spent is there again by then. */
const ATTEMPTS_MAX = 2_000;
const AGAIN_MS = 50;

type Parameters = Readonly<Record<string, string | number>>;
type Waiting = { readonly kind: "ORDER" | "LEG"; readonly symbol: string; readonly clientId: string };

export class LeadTrader {
  readonly lead: Lead;
  /** Orders that the gateway took. */
  placed = 0;
  canceled = 0;
  refused = 0;
  readonly #draw: () => number;
  readonly #market: SteeredMarket;
  /** Where the gateway is at present: waits for it. */
  readonly #url: () => Promise<string>;
  #number = 0;
  #waiting: Waiting[] = [];

  constructor(parts: {
    readonly lead: Lead;
    readonly draw: () => number;
    readonly market: SteeredMarket;
    readonly url: () => Promise<string>;
  }) {
    this.lead = parts.lead;
    this.#draw = parts.draw;
    this.#market = parts.market;
    this.#url = parts.url;
  }

  /**
   * Chooses a leverage at which nothing is liquidated here: what a venue does to an account by itself is not
   * what is tested.
   */
  async begin(): Promise<void> {
    if (this.lead.type === "SPOT") return;
    for (const { symbol } of SYMBOLS) await this.#chooseLeverage(symbol);
  }

  /** Does one thing. */
  async act(): Promise<void> {
    const drawn = this.#draw();
    const orders = this.#waiting.filter(({ kind }) => kind === "ORDER");
    const legs = this.#waiting.filter(({ kind }) => kind === "LEG");
    if (orders.length > RESTING_MAX || (drawn < 0.18 && orders.length > 0)) return await this.#cancel(orders);
    if (legs.length > LEGS_MAX || (drawn < 0.22 && legs.length > 0)) return await this.#cancel(legs);
    const traded = this.#pick(SYMBOLS);
    if (this.lead.type === "SPOT") await this.#actOnSpot(traded);
    else await this.#actOnFutures(traded);
  }

  /** Cancels all that waits. */
  async cancelAll(): Promise<void> {
    for (const { symbol } of SYMBOLS) {
      await this.#send("DELETE", PATHS[this.lead.type].cancelAll, { symbol });
      if (this.lead.type === "FUTURES") await this.#send("DELETE", "/fapi/v1/algoOpenOrders", { symbol });
    }
    this.#waiting = [];
  }

  /** Closes the strategy, for its copiers too. */
  async close(): Promise<void> {
    const base = this.lead.type === "SPOT" ? "/api/v3" : "/fapi/v1";
    await this.#send("POST", `${base}/platform/strategy/close`, {});
  }

  async #actOnSpot(traded: Traded): Promise<void> {
    const drawn = this.#draw();
    const side = this.#draw() < 0.55 ? "BUY" : "SELL";
    if (drawn < 0.5) return await this.#atMarket(traded, side);
    if (drawn < 0.85) return await this.#limit(traded, side);
    const stop = this.#priceAway(traded, side === "BUY" ? 1 : -1, FAR);
    if (drawn < 0.93) return await this.#place(traded, { side, type: "STOP_LOSS", stopPrice: stop });
    await this.#place(traded, {
      ...{ side, type: "STOP_LOSS_LIMIT", timeInForce: "GTC", stopPrice: stop, price: stop },
    });
  }

  async #actOnFutures(traded: Traded): Promise<void> {
    const { symbol } = traded;
    const drawn = this.#draw();
    const side = this.#draw() < 0.5 ? "BUY" : "SELL";
    if (drawn < 0.3) return await this.#atMarket(traded, side);
    if (drawn < 0.4) return await this.#place(traded, { side, type: "MARKET", reduceOnly: "true" });
    if (drawn < 0.5)
      return await this.#place(traded, { side, type: "MARKET", ...this.#attached(traded, side) });
    if (drawn < 0.8) return await this.#limit(traded, side);
    if (drawn < 0.92) return await this.#placeLeg(traded, side);
    await this.#chooseLeverage(symbol);
  }

  async #chooseLeverage(symbol: string): Promise<void> {
    await this.#send("POST", "/fapi/v1/leverage", { symbol, leverage: this.#pick(LEVERAGES) });
  }

  async #atMarket(traded: Traded, side: string): Promise<void> {
    await this.#place(traded, { side, type: "MARKET" });
  }

  async #limit(traded: Traded, side: string): Promise<void> {
    const price = this.#priceAway(traded, side === "BUY" ? -1 : 1, NEAR);
    await this.#place(traded, { side, type: "LIMIT", timeInForce: "GTC", price });
  }

  #attached(traded: Traded, side: string): Parameters {
    const [above, below] = [this.#priceAway(traded, 1, FAR), this.#priceAway(traded, -1, FAR)];
    return side === "BUY"
      ? { takeProfitPrice: above, stopLossPrice: below }
      : { takeProfitPrice: below, stopLossPrice: above };
  }

  async #place(traded: Traded, terms: Parameters): Promise<void> {
    const { symbol } = traded;
    const clientId = this.#newId();
    const quantity = this.#quantity(traded);
    const order = { symbol, quantity, newClientOrderId: clientId, ...terms };
    const { status, body } = await this.#send("POST", PATHS[this.lead.type].order, order);
    if (!this.#counts(status)) return;
    if (body.status === "NEW") this.#waiting.push({ kind: "ORDER", symbol, clientId });
  }

  async #placeLeg(traded: Traded, side: "BUY" | "SELL"): Promise<void> {
    const { symbol } = traded;
    const clientAlgoId = this.#newId();
    const isStop = this.#draw() < 0.5;
    const away = (side === "BUY") === isStop ? 1 : -1;
    const leg = {
      ...{ symbol, side, algoType: "CONDITIONAL", closePosition: "true", clientAlgoId },
      type: isStop ? "STOP_MARKET" : "TAKE_PROFIT_MARKET",
      triggerPrice: this.#priceAway(traded, away, FAR),
    };
    const { status } = await this.#send("POST", LEG_PATHS.order, leg);
    if (this.#counts(status)) this.#waiting.push({ kind: "LEG", symbol, clientId: clientAlgoId });
  }

  async #cancel(all: readonly Waiting[]): Promise<void> {
    const { kind, symbol, clientId } = this.#pick(all);
    this.#waiting = this.#waiting.filter((waiting) => waiting.clientId !== clientId);
    const isLeg = kind === "LEG";
    const path = isLeg ? LEG_PATHS.order : PATHS[this.lead.type].order;
    const named: Parameters = isLeg ? { clientAlgoId: clientId } : { origClientOrderId: clientId };
    const { status } = await this.#send("DELETE", path, { symbol, ...named });
    if (status === 200) this.canceled += 1;
  }

  #counts(status: number): boolean {
    if (status === 200) this.placed += 1;
    else this.refused += 1;
    return status === 200;
  }

  /** Asks until there is an answer that says what has become of it. */
  async #send(method: string, path: string, parameters: Parameters): Promise<WireAnswer> {
    for (let attempts = 0; attempts < ATTEMPTS_MAX; attempts += 1) {
      const url = await this.#url();
      try {
        const answer = await signed(url, this.lead, method, path, parameters);
        if (!UNCERTAIN_STATUSES.includes(answer.status)) return answer;
        const seconds = Number(answer.headers.get("retry-after") ?? 0);
        await pause(Math.max(AGAIN_MS, seconds * 1_000));
      } catch {
        // The gateway was killed: the next attempt goes to its successor.
        await pause(AGAIN_MS);
      }
    }
    throw new Error(`${method} ${path} has no answer`);
  }

  #quantity({ symbol, quantityDigits }: Traded): string {
    const { least, most } = WORTH[this.lead.type];
    const worth = least + this.#draw() * (most - least);
    return (worth / Number(this.#market.price(symbol).ask)).toFixed(quantityDigits);
  }

  #priceAway({ symbol, priceDigits }: Traded, direction: 1 | -1, share: number): string {
    const { bid } = this.#market.price(symbol);
    return (Number(bid) * (1 + direction * (0.001 + this.#draw() * share))).toFixed(priceDigits);
  }

  #pick<Each>(all: readonly Each[]): Each {
    const found = all[Math.floor(this.#draw() * all.length)];
    if (found === undefined) throw new Error("there is one to be drawn");
    return found;
  }

  #newId(): string {
    this.#number += 1;
    return `lead-${this.#number}`;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
