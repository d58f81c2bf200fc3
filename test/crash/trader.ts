// One strategy under load, and all that it was told. What it heard before a crash must hold after it.
import type { Credentials } from "../support/gateway.ts";
import { signed, type WireAnswer } from "../support/signed-client.ts";
import { GatewayFault } from "./faults.ts";
import { patiently } from "./patience.ts";

export const SYMBOL = "DOGEUSDT";
/** The symbol's prices are counted in ticks of 0.00001. */
const TICKS_PER_UNIT = 100_000;

export type OrderBody = {
  readonly orderId: number;
  readonly clientOrderId: string;
  readonly side: "BUY" | "SELL";
  readonly type: string;
  readonly status: string;
  readonly price: string;
  readonly origQty: string;
  readonly executedQty: string;
  readonly cummulativeQuoteQty: string;
  readonly time: number;
  readonly updateTime: number;
};

/** Where a trader may place its orders, in ticks. */
export type Prices = {
  readonly bid: number;
  readonly ask: number;
  /** The cheap market's ask and the dear market's bid: a limit well between them is reached by changing the market. */
  readonly cheapAsk: number;
  readonly dearBid: number;
};

export type Placement = {
  readonly parameters: Readonly<Record<string, string>>;
  /** The order as last acknowledged; "refused" if the answer was that there is none, null if there was no answer. */
  heard: OrderBody | "refused" | null;
  /** Whether it was ever acknowledged as resting. */
  hasRested: boolean;
  /** Whether a cancellation of it may have been carried out. */
  mayBeCanceled: boolean;
};

/** What an act that was acknowledged did; null if it was refused, or if nobody knows. */
export type Acknowledged = "PLACED" | "CANCELED" | null;

type Draw = () => number;

/** The code of an answer that says nothing about the outcome. */
const OUTCOME_UNKNOWN = -1007;

/** Resting orders that a trader keeps, about; with more it cancels. */
const RESTING_MAX = 14;

export class Trader {
  /** Of a key of the cycle's own: budgets outlive the process, and are not what is tested. */
  credentials: Credentials;
  /** By client order id. */
  readonly placements = new Map<string, Placement>();
  readonly name: string;
  readonly #draw: Draw;

  constructor(name: string, credentials: Credentials, draw: Draw) {
    this.name = name;
    this.credentials = credentials;
    this.#draw = draw;
  }

  /** Does one thing. Rejects with GatewayFault if the answer may never be given, with any other error if there was none. */
  async act(url: string, prices: Prices): Promise<Acknowledged> {
    if (this.placements.size === 0)
      return await this.#place(url, { side: "BUY", type: "MARKET", quantity: "900" });
    const resting = this.#resting();
    const kind = this.#draw();
    if (resting.length > RESTING_MAX || kind > 0.9) {
      const chosen = resting[Math.floor(this.#draw() * resting.length)];
      if (chosen !== undefined && this.#draw() < 0.9) return await this.#cancel(url, chosen);
      return await this.#cancelAll(url);
    }
    const quantity = String(40 + Math.floor(this.#draw() * 40));
    const side = this.#draw() < 0.5 ? "BUY" : "SELL";
    if (kind < 0.3) return await this.#place(url, { side, type: "MARKET", quantity });
    const limit =
      kind < 0.6 ? this.#between(prices) : kind < 0.8 ? this.#near(side, prices) : this.#far(side, prices);
    return await this.#place(url, {
      type: "LIMIT",
      timeInForce: "GTC",
      quantity,
      side: limit.side,
      price: (limit.ticks / TICKS_PER_UNIT).toFixed(5),
    });
  }

  /** Sends a placement once more, as it was, until it is told what has become of it. */
  async resend(url: string, clientOrderId: string): Promise<WireAnswer> {
    const placement = this.placements.get(clientOrderId);
    if (placement === undefined) throw new Error(`only what was sent is sent again: ${clientOrderId}`);
    const answer = await patiently(() =>
      signed(url, this.credentials, "POST", "/api/v3/order", placement.parameters),
    );
    this.#take(placement, answer);
    return answer;
  }

  /** Client ids of the placements that were never answered, or not with their outcome. */
  unknown(): string[] {
    return [...this.placements]
      .filter(([, { heard }]) => heard === null)
      .map(([clientOrderId]) => clientOrderId);
  }

  /** Takes note of an order that was found in the books. */
  learn(order: OrderBody): void {
    this.#hear(order);
  }

  #resting(): string[] {
    return [...this.placements]
      .filter(([, { heard, mayBeCanceled }]) => isBody(heard) && heard.status === "NEW" && !mayBeCanceled)
      .map(([clientOrderId]) => clientOrderId);
  }

  /** A limit that this market leaves alone and the other one goes through. */
  #between({ ask, cheapAsk, dearBid }: Prices): { side: "BUY" | "SELL"; ticks: number } {
    const side = ask > (cheapAsk + dearBid) / 2 ? "BUY" : "SELL";
    return { side, ticks: Math.round(cheapAsk + (dearBid - cheapAsk) * (0.3 + 0.4 * this.#draw())) };
  }

  /** A limit that the moving market reaches within seconds, or at once. */
  #near(side: "BUY" | "SELL", { bid, ask }: Prices): { side: "BUY" | "SELL"; ticks: number } {
    const distance = Math.floor(this.#draw() * 4);
    return { side, ticks: side === "BUY" ? bid - distance : ask + distance };
  }

  /** A limit that neither market reaches. */
  #far(side: "BUY" | "SELL", { cheapAsk, dearBid }: Prices): { side: "BUY" | "SELL"; ticks: number } {
    return { side, ticks: Math.round(side === "BUY" ? cheapAsk * 0.6 : dearBid * 1.5) };
  }

  async #place(url: string, terms: Readonly<Record<string, string>>): Promise<Acknowledged> {
    const clientOrderId = `${this.name}-${this.placements.size + 1}`;
    const parameters = { symbol: SYMBOL, newClientOrderId: clientOrderId, ...terms };
    const placement: Placement = { parameters, heard: null, hasRested: false, mayBeCanceled: false };
    this.placements.set(clientOrderId, placement);
    const answer = await signed(url, this.credentials, "POST", "/api/v3/order", parameters);
    this.#take(placement, answer);
    return answer.status === 200 ? "PLACED" : null;
  }

  async #cancel(url: string, clientOrderId: string): Promise<Acknowledged> {
    const placement = this.placements.get(clientOrderId);
    if (placement !== undefined) placement.mayBeCanceled = true;
    const parameters = { symbol: SYMBOL, origClientOrderId: clientOrderId };
    const answer = await signed(url, this.credentials, "DELETE", "/api/v3/order", parameters);
    judge(answer);
    if (answer.status !== 200) return null;
    this.#hear(answer.body);
    return "CANCELED";
  }

  async #cancelAll(url: string): Promise<Acknowledged> {
    try {
      const parameters = { symbol: SYMBOL };
      const answer = await signed(url, this.credentials, "DELETE", "/api/v3/openOrders", parameters);
      judge(answer);
      if (answer.status !== 200) return null;
      for (const canceled of answer.body) this.#hear(canceled);
      return "CANCELED";
    } finally {
      // It also concerns orders that were sent after it and overtook it.
      for (const placement of this.placements.values()) placement.mayBeCanceled = true;
    }
  }

  #take(placement: Placement, answer: WireAnswer): void {
    judge(answer);
    const { status, body } = answer;
    if (status === 200) this.#hear(body);
    // Any other refusal, a 503 too, says that the order was certainly not executed.
    else if (body.code !== OUTCOME_UNKNOWN) placement.heard ??= "refused";
  }

  #hear(body: OrderBody & { readonly origClientOrderId?: string }): void {
    const clientOrderId = body.origClientOrderId ?? body.clientOrderId;
    const placement = this.placements.get(clientOrderId);
    if (placement === undefined)
      throw new GatewayFault(`answered with an order that was never sent: ${clientOrderId}`);
    if (body.status === "NEW") placement.hasRested = true;
    // Of two answers that cross on their way the final one holds.
    if (!isBody(placement.heard) || placement.heard.status === "NEW") {
      placement.heard = { ...body, clientOrderId };
    }
  }
}

/** Throws if this may never be answered, whatever was killed: a valid key is valid, and only who is gone for now says 5xx. */
function judge({ status, headers, body }: WireAnswer): void {
  const isFault = status === 401 || (status >= 500 && status !== 503);
  const lacksHint = status === 503 && !headers.has("retry-after");
  if (isFault || lacksHint) {
    throw new GatewayFault(
      `answered ${status} ${JSON.stringify(body)}${lacksHint ? " without Retry-After" : ""}`,
    );
  }
}

export function isBody(heard: Placement["heard"]): heard is OrderBody {
  return heard !== null && heard !== "refused";
}

export function ticksOf(price: string): number {
  return Math.round(Number(price) * TICKS_PER_UNIT);
}
