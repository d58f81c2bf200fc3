// One strategy under load, and all answers that it received. An answer from before a crash must hold after
// it.
import type { StrategyType } from "../../../src/domain/account.ts";
import type { FillProfileName } from "../../../src/domain/fill-profile.ts";
import type { SeededStrategy } from "../../../src/keys/seed.ts";
import { units } from "../../support/exact.ts";
import { seededRandom } from "../../support/random.ts";
import type { Credentials } from "../../support/servers/gateway.ts";
import { signed, type WireAnswer } from "../../support/signed-client.ts";
import { GatewayFault } from "../harness/faults.ts";
import type { AllPrices } from "../harness/markets.ts";
import { patiently } from "../harness/patience.ts";
import { LEG_PATHS, PATHS } from "../harness/routes.ts";
import { SYMBOL } from "../harness/ticks.ts";
import { isOpenBody, type OrderBody, orderOf } from "./bodies.ts";
import { actOnFutures } from "./futures-habits.ts";
import { actOnSpot } from "./spot-habits.ts";

export type Placement = {
  /** Where it is sent to. */
  readonly path: string;
  readonly parameters: Readonly<Record<string, string>>;
  /**
   * The order, or leg, as last acknowledged; "refused" if the answer was that there is none, null if there
   * was no answer.
   */
  heard: OrderBody | "refused" | null;
  /** Whether it was ever acknowledged as resting. */
  hasRested: boolean;
  /** Whether a cancellation of it may have been carried out. */
  mayBeCanceled: boolean;
  /** Whether that was acknowledged in words that do not show the order. */
  isCanceled: boolean;
};

/** What an act that was acknowledged did; null if it was refused, or if nobody knows. */
export type Acknowledged = "PLACED" | "CANCELED" | null;

type Draw = () => number;

/** The code of an answer that says nothing about the outcome. */
const OUTCOME_UNKNOWN = -1007;

const HABITS = { SPOT: actOnSpot, FUTURES: actOnFutures } as const;

export class Trader {
  /** Of a key of the cycle's own: budgets outlive the process, and are not what is tested. */
  credentials: Credentials;
  /** By client id, of orders and of legs. */
  readonly placements = new Map<string, Placement>();
  readonly name: string;
  readonly type: StrategyType;
  readonly profile: FillProfileName;
  readonly draw: Draw;
  /** Placements that were answered 503. */
  unavailable = 0;

  constructor(parts: {
    name: string;
    type: StrategyType;
    profile?: FillProfileName;
    credentials: Credentials;
    draw: Draw;
  }) {
    this.name = parts.name;
    this.type = parts.type;
    this.profile = parts.profile ?? "standard";
    this.credentials = parts.credentials;
    this.draw = parts.draw;
  }

  /**
   * Does one thing. Rejects with GatewayFault if the answer may never be given, with any other error if there
   * was none.
   */
  async act(url: string, prices: AllPrices): Promise<Acknowledged> {
    return await HABITS[this.type](this, url, prices[this.type]);
  }

  /** Places an order. */
  async place(url: string, terms: Readonly<Record<string, string>>): Promise<Acknowledged> {
    const clientOrderId = this.#newId();
    return await this.#send(url, clientOrderId, PATHS[this.type].order, {
      symbol: SYMBOL,
      newClientOrderId: clientOrderId,
      ...terms,
    });
  }

  /** Places a leg on whatever is held. */
  async placeLeg(url: string, terms: Readonly<Record<string, string>>): Promise<Acknowledged> {
    const clientAlgoId = this.#newId();
    const parameters = { symbol: SYMBOL, closePosition: "true", clientAlgoId, ...terms };
    return await this.#send(url, clientAlgoId, LEG_PATHS.order, parameters);
  }

  /** Cancels an order or a leg. */
  async cancel(url: string, clientOrderId: string): Promise<Acknowledged> {
    const placement = this.placements.get(clientOrderId);
    if (placement === undefined) throw new Error(`only what was sent is cancelled: ${clientOrderId}`);
    placement.mayBeCanceled = true;
    const isOfLeg = placement.path === LEG_PATHS.order;
    const named = isOfLeg ? { clientAlgoId: clientOrderId } : { origClientOrderId: clientOrderId };
    const parameters = { symbol: SYMBOL, ...named };
    const answer = await signed(url, this.credentials, "DELETE", placement.path, parameters);
    judge(answer);
    if (answer.status !== 200) return null;
    if (isOfLeg) placement.isCanceled = true;
    else this.learn(orderOf(answer.body));
    return "CANCELED";
  }

  /** Cancels all orders; legs stay. */
  async cancelAll(url: string): Promise<Acknowledged> {
    try {
      const { cancelAll } = PATHS[this.type];
      const answer = await signed(url, this.credentials, "DELETE", cancelAll, { symbol: SYMBOL });
      judge(answer);
      if (answer.status !== 200) return null;
      // On futures it says that it is done and no more.
      if (Array.isArray(answer.body)) for (const canceled of answer.body) this.learn(orderOf(canceled));
      return "CANCELED";
    } finally {
      // It also concerns orders that were sent after it and overtook it.
      for (const placement of this.placements.values()) {
        if (placement.path !== LEG_PATHS.order) placement.mayBeCanceled = true;
      }
    }
  }

  /** Sends a placement once more, unchanged, and retries until the answer says its outcome. */
  async resend(url: string, clientOrderId: string): Promise<WireAnswer> {
    const placement = this.placements.get(clientOrderId);
    if (placement === undefined) throw new Error(`only what was sent is sent again: ${clientOrderId}`);
    const { path, parameters } = placement;
    const answer = await patiently(() => signed(url, this.credentials, "POST", path, parameters));
    this.#take(placement, answer);
    return answer;
  }

  /** Client ids of the placements that were never answered, or not with their outcome. */
  unknown(): string[] {
    return [...this.placements]
      .filter(([, { heard }]) => heard === null)
      .map(([clientOrderId]) => clientOrderId);
  }

  /** Client ids of what is known to rest, or to wait, and may not be canceled. */
  resting(): string[] {
    return [...this.placements]
      .filter(([, { heard, mayBeCanceled }]) => isBody(heard) && isOpenBody(heard) && !mayBeCanceled)
      .map(([clientOrderId]) => clientOrderId);
  }

  /** Takes note of an order as it was found. */
  learn(order: OrderBody): void {
    const placement = this.placements.get(order.clientOrderId);
    if (placement === undefined)
      throw new GatewayFault(`answered with an order that was never sent: ${order.clientOrderId}`);
    if (order.status === "NEW") placement.hasRested = true;
    const { heard } = placement;
    // Of two answers that cross on their way the final one holds, of two open states the one with more
    // executed.
    if (!isBody(heard) || (isOpenBody(heard) && units(order.executedQty) >= units(heard.executedQty)))
      placement.heard = order;
  }

  #newId(): string {
    return `${this.name}-${this.placements.size + 1}`;
  }

  async #send(
    url: string,
    clientOrderId: string,
    path: string,
    parameters: Readonly<Record<string, string>>,
  ): Promise<Acknowledged> {
    const placement: Placement = {
      path,
      parameters,
      heard: null,
      hasRested: false,
      mayBeCanceled: false,
      isCanceled: false,
    };
    this.placements.set(clientOrderId, placement);
    const answer = await signed(url, this.credentials, "POST", path, parameters);
    this.#take(placement, answer);
    return answer.status === 200 ? "PLACED" : null;
  }

  #take(placement: Placement, answer: WireAnswer): void {
    judge(answer);
    const { status, body } = answer;
    if (status === 503) this.unavailable += 1;
    if (status === 200) this.learn(orderOf(body));
    // Any other refusal, a 503 too, says that the order was certainly not executed.
    else if (body.code !== OUTCOME_UNKNOWN) placement.heard ??= "refused";
  }
}

/** A trader on each strategy, with draws of its own; under `standard` unless a profile is said. */
export function tradersOn(
  strategies: readonly (SeededStrategy & { readonly profile?: FillProfileName })[],
  seed: number,
): Trader[] {
  return strategies.map(({ profile = "standard", ...credentials }, index) => {
    const draw = seededRandom(seed * 1_000 + index);
    return new Trader({ name: `t${index}`, type: credentials.type, profile, credentials, draw });
  });
}

/**
 * Throws if the answer is never allowed: a valid key is always valid, and 503 with Retry-After is the only
 * 5xx.
 */
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
