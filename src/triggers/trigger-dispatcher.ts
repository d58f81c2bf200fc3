// Dispatches triggered orders, legs and positions: each becomes a command through the desk, with the price
// that was seen, and is in flight until the desk has answered. A command without effect waits in the retry
// queue until its strategy's state is loaded; it is then dropped, executed again, or deferred until its
// market has a price to trade at.
import type { Logger } from "pino";
import type { Desk, Executed, ExecuteOptions } from "../desk/desk.ts";
import type { Command } from "../domain/command.ts";
import { fillKey, legTriggerKey, triggerKey } from "../domain/command.ts";
import { isRefusal, type Refusal } from "../domain/refusal.ts";
import type { LiveMarket } from "../market/feed.ts";
import { type Hit, isSame, nameOf, type Trigger } from "./trigger.ts";
import { UnfinishedDispatches } from "./unfinished.ts";

/** A dispatch without effect, and its rejection; null if it failed. */
type Retry = { readonly reached: Hit; readonly refusal: Refusal["refusal"] | null };

export class TriggerDispatcher {
  readonly #desk: Pick<Desk, "execute">;
  readonly #market: Pick<LiveMarket, "now" | "rules">;
  readonly #isSilent: (symbol: string) => boolean;
  readonly #load: (strategyId: string) => void;
  readonly #loadLater: (strategyId: string) => void;
  readonly #done: (symbol: string) => void;
  readonly #log: Pick<Logger, "error">;
  /** Number of commands in flight per trigger, by name. */
  readonly #inFlight = new Map<string, number>();
  /** By strategy. */
  readonly #retries = new Map<string, Retry[]>();
  /** By symbol. */
  readonly #deferred = new Map<string, Hit[]>();
  readonly #unfinished = new UnfinishedDispatches();

  constructor(parts: {
    desk: Pick<Desk, "execute">;
    market: Pick<LiveMarket, "now" | "rules">;
    /** Whether a symbol has no price to trade at. */
    isSilent: (symbol: string) => boolean;
    /** Load a strategy's state, at once or after a pause; `takeRetries` follows. */
    load: (strategyId: string) => void;
    loadLater: (strategyId: string) => void;
    /** Called when a command on a symbol had an effect. */
    done: (symbol: string) => void;
    log: Pick<Logger, "error">;
  }) {
    this.#desk = parts.desk;
    this.#market = parts.market;
    this.#isSilent = parts.isSilent;
    this.#load = parts.load;
    this.#loadLater = parts.loadLater;
    this.#done = parts.done;
    this.#log = parts.log;
  }

  /**
   * Executes the command of a trigger, behind the strategy's earlier commands; null if it could not be
   * committed.
   */
  async dispatch(reached: Hit): Promise<Executed | Refusal | null> {
    const { trigger } = reached;
    const { strategyId, symbol } = trigger;
    const name = nameOf(trigger);
    this.#inFlight.set(name, (this.#inFlight.get(name) ?? 0) + 1);
    this.#unfinished.begin(trigger, this.#market.now());
    try {
      const outcome = await this.#desk.execute(strategyId, ...commandOf(reached));
      if (isRefusal(outcome)) {
        this.#queueRetry({ reached, refusal: outcome.refusal });
        this.#load(strategyId);
      } else {
        this.#unfinished.end(trigger);
        // Replayed: another server was faster, and nothing was announced here.
        if (outcome.replayed) this.#load(strategyId);
        this.#done(symbol);
      }
      return outcome;
    } catch (error) {
      // A failed commit stops the process; any other error may be transient.
      this.#log.error({ err: error, strategyId, symbol }, "what the market reached could not be committed");
      this.#queueRetry({ reached, refusal: null });
      this.#loadLater(strategyId);
      return null;
    } finally {
      const left = (this.#inFlight.get(name) ?? 1) - 1;
      if (left > 0) this.#inFlight.set(name, left);
      else this.#inFlight.delete(name);
    }
  }

  isInFlight(trigger: Trigger): boolean {
    return this.#inFlight.has(nameOf(trigger));
  }

  /** Takes the retry queue of a strategy; the caller resumes or drops each entry. */
  takeRetries(strategyId: string): readonly Retry[] {
    const retries = this.#retries.get(strategyId) ?? [];
    this.#retries.delete(strategyId);
    return retries;
  }

  /** The trigger is still the same: executes it again as soon as that may help, or leaves it in the index. */
  resume({ reached, refusal }: Retry): void {
    const { trigger } = reached;
    const { symbol } = trigger;
    if (refusal === null) {
      void this.dispatch(reached);
      return;
    }
    // A trigger that fired shows that the market is open, even while its rules still call it halted.
    if (refusal !== "MARKET_SILENT" && !(this.#isHalted(symbol) && trigger.kind !== "LIMIT")) {
      this.#unfinished.end(trigger);
      return;
    }
    const deferred = this.#deferred.get(symbol) ?? [];
    if (deferred.every((other) => !isSame(other.trigger, trigger))) {
      this.#deferred.set(symbol, [...deferred, reached]);
    }
    // The price may have come while the strategy was loaded.
    this.retryDeferred(symbol);
  }

  /** The trigger is gone, or has changed. */
  drop({ reached }: Retry): void {
    if (!this.isInFlight(reached.trigger)) this.#unfinished.end(reached.trigger);
  }

  /** Executes the deferred triggers of a symbol, if it trades and has a price. */
  retryDeferred(symbol: string): void {
    const deferred = this.#deferred.get(symbol);
    if (deferred === undefined || this.#isHalted(symbol) || this.#isSilent(symbol)) return;
    this.#deferred.delete(symbol);
    for (const each of deferred) void this.dispatch(each);
  }

  /** The symbol has no triggers any more. */
  forget(symbol: string): void {
    this.#deferred.delete(symbol);
  }

  /** The earliest market time of an unfinished dispatch on a symbol; null if there is none. */
  unfinishedSince(symbol: string): number | null {
    return this.#unfinished.since(symbol);
  }

  #isHalted(symbol: string): boolean {
    return this.#market.rules(symbol)?.status !== "TRADING";
  }

  #queueRetry(retry: Retry): void {
    const { strategyId } = retry.reached.trigger;
    const others = this.#retries.get(strategyId);
    if (others === undefined) this.#retries.set(strategyId, [retry]);
    else others.push(retry);
  }
}

/** The command that executes a trigger, and its key. */
export function commandOf({ trigger, ...seen }: Hit): [Command, ExecuteOptions] {
  switch (trigger.kind) {
    case "LIMIT":
      return [{ type: "FillRestingOrder", orderId: trigger.id, ...seen }, { key: fillKey(trigger.id) }];
    case "STOP":
      return [{ type: "TriggerStop", orderId: trigger.id, ...seen }, { key: triggerKey(trigger.id) }];
    case "STOP_LEG":
    case "PROFIT_LEG":
      return [{ type: "TriggerLeg", legId: trigger.id, ...seen }, { key: legTriggerKey(trigger.id) }];
    case "LIQUIDATION":
      // Without a key: a second one finds no position, or a price that does not trigger it.
      return [{ type: "LiquidatePosition", symbol: trigger.symbol, ...seen }, {}];
  }
}
