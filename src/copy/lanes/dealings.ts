// A lane's dealings with its account at the venue: each question is asked until it is answered, each order sent until its
// outcome is certain. Waits as the venue demands, and ends with MayNotRun as soon as the lane may not run any more.
//
// A key that the venue rejects ends the turn (CredentialsRejected): whether something may have been executed goes along.
import type { Skip } from "../../domain/copying.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import { type Amount, ZERO } from "../../money/decimal.ts";
import type { VenuePrices } from "../scaling/equity.ts";
import { skipOf } from "../scaling/skip.ts";
import {
  type Counts,
  cancelSurely,
  type Deliverer,
  deliver,
  RETRY_MS_MAX,
  RETRY_MS_MIN,
} from "../venue/delivery.ts";
import { Stuck } from "../venue/stuck.ts";
import type {
  Venue,
  VenueAnswer,
  VenueBalances,
  VenueClient,
  VenueFills,
  VenueLeg,
  VenueOrder,
  VenueOrderState,
  VenueRefusal,
  VenueTrade,
} from "../venue/venue.ts";
import { CredentialsRejected, MayNotRun, VenueRefused } from "./endings.ts";

/** An order or a leg that the venue has. */
export type Placed = {
  readonly kind: "PLACED";
  readonly state: VenueOrderState;
  /** How often it was sent and asked after, and when: wall time, Unix ms. */
  readonly counts: Counts;
};
export type Refused = {
  readonly kind: "REFUSED";
  readonly refusal: VenueRefusal;
  readonly counts: Counts;
};
/** Nothing of it executes: it was not sent, or not taken, for this reason. */
export type Unsent = { readonly kind: "UNSENT"; readonly skip: Skip };
export type Outcome = Placed | Refused | Unsent;

type What = Parameters<typeof deliver>[0]["what"];
/** Stands for what is only looked for: it is never sent. */
const LOOKED_FOR: Omit<VenueOrder, "symbol" | "clientOrderId"> = {
  side: "BUY",
  type: "MARKET",
  quantity: ZERO,
  price: ZERO,
  stopPrice: ZERO,
  reduceOnly: false,
};
const ONLY_LOOKING: Skip = skipOf("OVERTAKEN");

export class Dealings {
  readonly #venue: Venue;
  readonly #deliverer: Omit<Deliverer, "mayStillSend">;
  readonly #sentBefore: () => number;
  #unrecorded = 0;

  constructor(parts: {
    venue: Venue;
    client: VenueClient;
    /** Until when something may have been sent that is not recorded: wall time, Unix ms. */
    sentBefore: () => number;
    mayRun: () => boolean;
    wallNow: () => number;
    pause: (ms: number) => Promise<void>;
    /** Told why something stays unknown for long. */
    onStuck?: (reason: string) => void;
  }) {
    const { venue, client, sentBefore, mayRun, wallNow, pause, onStuck } = parts;
    this.#venue = venue;
    this.#deliverer = { client, mayRun, wallNow, pause, ...(onStuck !== undefined && { onStuck }) };
    this.#sentBefore = sentBefore;
  }

  /** What was sent so far of which the venue has taken something, or may have: it grows. */
  get unrecorded(): number {
    return this.#unrecorded;
  }

  /** Null if the venue does not list the symbol. */
  rules(symbol: string): Promise<SymbolRules | null> {
    return this.#ask(() => this.#venue.rules(symbol));
  }

  prices(): Promise<VenuePrices> {
    return this.#ask(() => this.#venue.prices());
  }

  balances(): Promise<VenueBalances> {
    return this.#ask(() => this.#deliverer.client.balances());
  }

  openOrderIds(): Promise<ReadonlySet<string>> {
    return this.#ask(() => this.#deliverer.client.openOrderIds());
  }

  fills(symbol: string, venueOrderId: string): Promise<VenueFills> {
    return this.#ask(() => this.#deliverer.client.fills(symbol, venueOrderId));
  }

  trades(...of: Parameters<VenueClient["trades"]>): Promise<readonly VenueTrade[] | null> {
    return this.#ask(() => this.#deliverer.client.trades(...of));
  }

  clearance(...of: Parameters<VenueClient["clearance"]>): Promise<Amount> {
    return this.#ask(() => this.#deliverer.client.clearance(...of));
  }

  find(symbol: string, clientOrderId: string): Promise<VenueOrderState | null> {
    return this.#ask(() => this.#deliverer.client.find(symbol, clientOrderId));
  }

  findLeg(symbol: string, clientOrderId: string): Promise<VenueOrderState | null> {
    return this.#ask(() => this.#deliverer.client.findLeg(symbol, clientOrderId));
  }

  /** Null once the venue has it so; its refusal otherwise. */
  async setLeverage(symbol: string, leverage: number): Promise<VenueRefusal | null> {
    try {
      return await this.#ask(() => this.#deliverer.client.setLeverage(symbol, leverage));
    } catch (error) {
      if (error instanceof VenueRefused) return error.refusal;
      throw error;
    }
  }

  /** Sends an order until its outcome is certain. `mayStillSend` is asked before each attempt: null, or why not any more. */
  send(order: VenueOrder, mayStillSend: () => Skip | null): Promise<Outcome> {
    return this.#deliver({ kind: "ORDER", order }, mayStillSend, null);
  }

  /** Likewise a leg. */
  sendLeg(leg: VenueLeg, mayStillSend: () => Skip | null): Promise<Outcome> {
    return this.#deliver({ kind: "LEG", leg }, mayStillSend, null);
  }

  /** An order that may have been sent before this process had the lane: null once it is certain that it was not. */
  async recover(of: Pick<VenueOrder, "symbol" | "clientOrderId">): Promise<Placed | null> {
    const what: What = { kind: "ORDER", order: { ...LOOKED_FOR, ...of } };
    return placedOrNull(await this.#deliver(what, () => ONLY_LOOKING, this.#sentBefore()));
  }

  /** Likewise a leg. */
  async recoverLeg(leg: VenueLeg): Promise<Placed | null> {
    return placedOrNull(await this.#deliver({ kind: "LEG", leg }, () => ONLY_LOOKING, this.#sentBefore()));
  }

  /** How an order or a leg ended that was taken back; UNSENT: it may still be open. */
  async cancel(
    kind: "ORDER" | "LEG",
    symbol: string,
    clientOrderId: string,
    mayStillSend: () => Skip | null,
  ): Promise<
    | { readonly kind: "OVER"; readonly state: VenueOrderState | null; readonly counts: Counts }
    | Refused
    | Unsent
  > {
    const canceled = await cancelSurely({ ...this.#deliverer, kind, symbol, clientOrderId, mayStillSend });
    const counts = countsOf(canceled);
    switch (canceled.kind) {
      case "OVER":
        return { kind: "OVER", state: canceled.state, counts };
      case "REFUSED":
        return { kind: "REFUSED", refusal: canceled, counts };
      case "NOT_SENT":
        return { kind: "UNSENT", skip: canceled.skip };
      case "REJECTED":
        throw new CredentialsRejected(canceled, canceled.mayHaveExecuted);
      case "NOT_DECIDED":
        throw new MayNotRun();
    }
  }

  async #deliver(
    what: What,
    mayStillSend: () => Skip | null,
    mayHaveBeenSentAt: number | null,
  ): Promise<Outcome> {
    this.#unrecorded += 1;
    const delivered = await deliver({ ...this.#deliverer, what, mayStillSend, mayHaveBeenSentAt });
    const counts = countsOf(delivered);
    const isNothing =
      delivered.kind === "REFUSED" ||
      delivered.kind === "NOT_SENT" ||
      (delivered.kind === "REJECTED" && !delivered.mayHaveExecuted);
    if (isNothing) this.#unrecorded -= 1;
    switch (delivered.kind) {
      case "PLACED":
        return { kind: "PLACED", state: delivered.state, counts };
      case "REFUSED":
        return { kind: "REFUSED", refusal: delivered, counts };
      case "NOT_SENT":
        return { kind: "UNSENT", skip: delivered.skip };
      case "REJECTED":
        throw new CredentialsRejected(delivered, delivered.mayHaveExecuted);
      case "NOT_DECIDED":
        throw new MayNotRun();
    }
  }

  /** Asks until there is an answer. Throws VenueRefused if the venue refuses to give one. */
  async #ask<Value>(question: () => Promise<VenueAnswer<Value>>): Promise<Value> {
    const { mayRun, wallNow, pause } = this.#deliverer;
    const stuck = new Stuck(this.#deliverer);
    for (let retryMs = RETRY_MS_MIN; mayRun(); retryMs = Math.min(RETRY_MS_MAX, retryMs * 2)) {
      const answer = await question();
      stuck.note(answer);
      if (answer.kind === "OK") return answer.value;
      if (answer.kind === "REFUSED") throw new VenueRefused(answer);
      if (answer.kind === "REJECTED") throw new CredentialsRejected(answer, false);
      const saidMs = answer.kind === "DELAYED" ? answer.until - wallNow() : 0;
      const until = wallNow() + Math.max(saidMs, retryMs);
      while (mayRun() && wallNow() < until) await pause(Math.min(until - wallNow(), RETRY_MS_MAX));
    }
    throw new MayNotRun();
  }
}

function placedOrNull(outcome: Outcome): Placed | null {
  return outcome.kind === "PLACED" ? outcome : null;
}

function countsOf({ sends, queries, sentAt, acknowledgedAt }: Counts): Counts {
  return { sends, queries, sentAt, acknowledgedAt };
}
