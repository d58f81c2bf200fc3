// A lane's dealings with its account at the venue: each question is asked until it is answered, each order sent until its
// outcome is certain. Waits as the venue demands, and ends with MayNotRun as soon as the lane may not run any more.
//
// What can be done without an answer is asked for a moment only (`briefly`), and what belongs to a look by the rules of looks
// (`looking`): both end with NotAnswered. Orders and cancels are sent as surely by these as by any.
//
// A key that the venue rejects ends the turn (CredentialsRejected): whether something may have been executed goes along.
import { isDeepStrictEqual } from "node:util";
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
  FillsAsked,
  RestingSymbols,
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
import { CredentialsRejected, MayNotRun, NotAnswered, VenueRefused } from "./endings.ts";
import { isOfRules, UNKNOWN_SYMBOL_CODE } from "./refusals.ts";

/** A venue may list what an order has executed a moment after it was; it is asked again after each of these, ms. */
const FILLS_WAITS_MS = [100, 300, 900];

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

/** For how long a question is asked. */
type Patience = {
  /** Until then again and again, wall time, Unix ms. */
  readonly until: number;
  /** Nobody waits for an answer any more once this resolves. */
  readonly ended: Promise<unknown>;
};

type DealingsParts = {
  readonly venue: Venue;
  readonly client: VenueClient;
  /** The same account's, as looks ask it. */
  readonly looker?: VenueClient;
  /** Until when something may have been sent that is not recorded: wall time, Unix ms. */
  readonly sentBefore: () => number;
  readonly mayRun: () => boolean;
  readonly wallNow: () => number;
  readonly pause: (ms: number) => Promise<void>;
  /** Told why something stays unknown for long. */
  readonly onStuck?: (reason: string) => void;
};

export class Dealings {
  readonly #parts: DealingsParts;
  readonly #venue: Venue;
  readonly #deliverer: Omit<Deliverer, "mayStillSend">;
  /** Who asks. */
  readonly #asker: VenueClient;
  readonly #sentBefore: () => number;
  /** Null: until there is an answer. */
  readonly #patience: Patience | null;
  readonly #sent: { unrecorded: number };
  /** By symbol: what sizes are fitted to. */
  readonly #rulesUsed = new Map<string, SymbolRules | null>();

  constructor(
    parts: DealingsParts,
    how: { readonly patience: Patience; readonly asker: VenueClient; readonly of: Dealings } | null = null,
  ) {
    const { venue, client, sentBefore, mayRun, wallNow, pause, onStuck } = parts;
    this.#parts = parts;
    this.#venue = venue;
    this.#deliverer = { client, mayRun, wallNow, pause, ...(onStuck !== undefined && { onStuck }) };
    this.#sentBefore = sentBefore;
    this.#asker = how?.asker ?? client;
    this.#patience = how?.patience ?? null;
    this.#sent = how === null ? { unrecorded: 0 } : how.of.#sent;
  }

  /** The same, for what is better known but can be done without: questions are asked for so long, ms. */
  briefly(ms: number): Dealings {
    const { wallNow, pause } = this.#deliverer;
    return this.#asking(this.#asker, { until: wallNow() + ms, ended: pause(ms) });
  }

  /** The same, for a look: it uses what looks may of the venue's budgets. */
  looking(patience: Patience): Dealings {
    return this.#asking(this.#parts.looker ?? this.#parts.client, patience);
  }

  #asking(asker: VenueClient, patience: Patience): Dealings {
    return new Dealings(this.#parts, { asker, patience, of: this });
  }

  /** Lets time pass, ms. */
  pause(ms: number): Promise<void> {
    return this.#deliverer.pause(ms);
  }

  /** What was sent so far of which the venue has taken something, or may have: it grows. */
  get unrecorded(): number {
    return this.#sent.unrecorded;
  }

  /** Null if the venue does not list the symbol. */
  async rules(symbol: string): Promise<SymbolRules | null> {
    const rules = await this.#ask(() => this.#venue.rules(symbol));
    this.#rulesUsed.set(symbol, rules);
    return rules;
  }

  /**
   * Whether something was refused for rules of a symbol that are others by now than those it was fitted to: they are asked for
   * anew. If so, it may be fitted to these and sent once more under the same id, since a refusal is certain.
   */
  async haveRulesChanged(symbol: string, refusal: VenueRefusal): Promise<boolean> {
    const used = this.#rulesUsed.get(symbol);
    if (used === undefined || !isOfRules(refusal)) return false;
    this.#venue.doubtRules(symbol);
    return !isDeepStrictEqual(await this.rules(symbol), used);
  }

  /** Whether the venue knows a symbol no more: it has refused something for that, and lists it no more either. */
  async isUnlisted(symbol: string, { code }: VenueRefusal): Promise<boolean> {
    if (code !== UNKNOWN_SYMBOL_CODE) return false;
    this.#venue.doubtRules(symbol);
    return (await this.rules(symbol)) === null;
  }

  prices(): Promise<VenuePrices> {
    return this.#ask(() => this.#venue.prices());
  }

  balances(): Promise<VenueBalances> {
    return this.#ask(() => this.#asker.balances());
  }

  openOrderIds(of: RestingSymbols): Promise<ReadonlySet<string>> {
    return this.#ask(() => this.#asker.openOrderIds(of));
  }

  /** Null if the venue does not list all of it, and not after a moment either; who is in a hurry waits for none. */
  async fills(of: FillsAsked): Promise<VenueFills | null> {
    const waits = this.#patience === null ? FILLS_WAITS_MS : [];
    for (const waitMs of waits) {
      const fills = await this.#ask(() => this.#asker.fills(of));
      if (fills !== null) return fills;
      await this.#deliverer.pause(waitMs);
    }
    return await this.#ask(() => this.#asker.fills(of));
  }

  trades(...of: Parameters<VenueClient["trades"]>): Promise<readonly VenueTrade[] | null> {
    return this.#ask(() => this.#asker.trades(...of));
  }

  clearance(...of: Parameters<VenueClient["clearance"]>): Promise<Amount> {
    return this.#ask(() => this.#asker.clearance(...of));
  }

  find(symbol: string, clientOrderId: string): Promise<VenueOrderState | null> {
    return this.#ask(() => this.#asker.find(symbol, clientOrderId));
  }

  findLeg(symbol: string, clientOrderId: string): Promise<VenueOrderState | null> {
    return this.#ask(() => this.#asker.findLeg(symbol, clientOrderId));
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
    this.#sent.unrecorded += 1;
    const delivered = await deliver({ ...this.#deliverer, what, mayStillSend, mayHaveBeenSentAt });
    const counts = countsOf(delivered);
    const isNothing =
      delivered.kind === "REFUSED" ||
      delivered.kind === "NOT_SENT" ||
      (delivered.kind === "REJECTED" && !delivered.mayHaveExecuted);
    if (isNothing) this.#sent.unrecorded -= 1;
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

  /** Asks until there is an answer, or patience has ended. Throws VenueRefused if the venue refuses to give one. */
  async #ask<Value>(question: () => Promise<VenueAnswer<Value>>): Promise<Value> {
    const { mayRun, wallNow, pause } = this.#deliverer;
    const stuck = new Stuck(this.#deliverer);
    for (let retryMs = RETRY_MS_MIN; mayRun(); retryMs = Math.min(RETRY_MS_MAX, retryMs * 2)) {
      const answer = await this.#inTime(question());
      stuck.note(answer);
      if (answer.kind === "OK") return answer.value;
      if (answer.kind === "REJECTED") throw new CredentialsRejected(answer, false);
      const saidUntil = answer.kind === "DELAYED" ? answer.until : 0;
      const until = Math.max(saidUntil, wallNow() + retryMs);
      this.#bearWith(answer, until);
      if (answer.kind === "REFUSED") throw new VenueRefused(answer);
      while (mayRun() && wallNow() < until) {
        await this.#inTime(pause(Math.min(until - wallNow(), RETRY_MS_MAX)));
      }
    }
    throw new MayNotRun();
  }

  /** Throws NotAnswered if nobody waits for it any more. */
  async #inTime<Value>(awaited: Promise<Value>): Promise<Value> {
    if (this.#patience === null) return await awaited;
    const ended = this.#patience.ended.then(() => ENDED);
    const first = await Promise.race([awaited, ended]);
    if (first === ENDED) throw new NotAnswered("something else comes first");
    return first as Value;
  }

  /** Throws NotAnswered unless it is worth asking again at a time. */
  #bearWith(answer: Exclude<VenueAnswer<unknown>, { kind: "OK" }>, until: number): void {
    if (this.#patience === null) return;
    if (answer.kind !== "REFUSED" && until < this.#patience.until) return;
    const words = "reason" in answer ? answer.reason : `${answer.code} ${answer.message}`;
    throw new NotAnswered(words, answer.kind === "DELAYED" ? answer.until : 0);
  }
}

const ENDED = Symbol("ended");

function placedOrNull(outcome: Outcome): Placed | null {
  return outcome.kind === "PLACED" ? outcome : null;
}

function countsOf({ sends, queries, sentAt, acknowledgedAt }: Counts): Counts {
  return { sends, queries, sentAt, acknowledgedAt };
}
