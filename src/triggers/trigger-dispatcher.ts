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
import { type Hit, nameOf, type Trigger } from "./trigger.ts";

/** A dispatch without effect, and its rejection; null if it failed. */
export type Retry = { readonly hit: Hit; readonly refusal: Refusal["refusal"] | null };

type Unfinished = {
  readonly symbol: string;
  /** Market time of the first hit, Unix ms. */
  readonly at: number;
  /** Whether the last answer was that the market is silent. */
  isSilent: boolean;
};

/**
 * The outcome of a dispatch, null if it had no effect; and whether the strategy's state must be loaded, at
 * once or after a pause: it is not what this process believes.
 */
export type Dispatched = { readonly executed: Executed | null; readonly reload: "NOW" | "LATER" | null };

export class TriggerDispatcher {
  readonly #desk: Pick<Desk, "execute">;
  readonly #market: Pick<LiveMarket, "now">;
  readonly #log: Pick<Logger, "error">;
  /** Number of commands in flight per trigger, by name. */
  readonly #inFlight = new Map<string, number>();
  /** Triggers with a command in flight or to be retried, by name. */
  readonly #unfinished = new Map<string, Unfinished>();
  /** By strategy. */
  readonly #retries = new Map<string, Retry[]>();
  /** By symbol. */
  readonly #deferred = new Map<string, Hit[]>();

  constructor(deps: {
    desk: Pick<Desk, "execute">;
    market: Pick<LiveMarket, "now">;
    log: Pick<Logger, "error">;
  }) {
    this.#desk = deps.desk;
    this.#market = deps.market;
    this.#log = deps.log;
  }

  /** Executes the command of a trigger, behind the strategy's earlier commands. */
  async dispatch(hit: Hit): Promise<Dispatched> {
    const { strategyId, symbol } = hit.trigger;
    const name = nameOf(hit.trigger);
    this.#inFlight.set(name, (this.#inFlight.get(name) ?? 0) + 1);
    const unfinished = this.#unfinished.get(name) ?? { symbol, at: this.#market.now(), isSilent: false };
    this.#unfinished.set(name, unfinished);
    try {
      const outcome = await this.#desk.execute(strategyId, ...commandOf(hit));
      if (isRefusal(outcome)) {
        this.#queueRetry({ hit, refusal: outcome.refusal });
        // A market with prices may refuse it again and again, as one without buyers or with an unknown book.
        const isSilent = outcome.refusal === "MARKET_SILENT";
        const reload = isSilent && unfinished.isSilent ? "LATER" : "NOW";
        unfinished.isSilent = isSilent;
        return { executed: null, reload };
      }
      this.#unfinished.delete(name);
      // Replayed: another server was faster, and nothing was announced here.
      return { executed: outcome, reload: outcome.replayed ? "NOW" : null };
    } catch (error) {
      // A failed commit stops the process; any other error may be transient.
      this.#log.error({ err: error, strategyId, symbol }, "a triggered command could not be committed");
      this.#queueRetry({ hit, refusal: null });
      return { executed: null, reload: "LATER" };
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

  /**
   * The trigger of a retry is still the same. Returns the hit if it is to be executed at once; else it is
   * deferred, or the trigger stays in the index.
   */
  resume({ hit, refusal }: Retry, { isHalted }: { readonly isHalted: boolean }): Hit | null {
    const { trigger } = hit;
    const { symbol } = trigger;
    if (refusal === null) return hit;
    // A trigger that was hit shows that the market is open, even while its rules still call it halted.
    if (refusal !== "MARKET_SILENT" && !(isHalted && trigger.kind !== "LIMIT")) {
      this.#unfinished.delete(nameOf(trigger));
      return null;
    }
    const deferred = this.#deferred.get(symbol) ?? [];
    if (deferred.every((other) => nameOf(other.trigger) !== nameOf(trigger))) {
      this.#deferred.set(symbol, [...deferred, hit]);
    }
    return null;
  }

  /** The trigger of a retry or of a deferred hit is gone, or has changed. */
  drop({ hit }: Pick<Retry, "hit">): void {
    if (!this.isInFlight(hit.trigger)) this.#unfinished.delete(nameOf(hit.trigger));
  }

  hasDeferred(symbol: string): boolean {
    return this.#deferred.has(symbol);
  }

  /** Takes the deferred hits of a symbol, to execute or to drop them. */
  takeDeferred(symbol: string): readonly Hit[] {
    const deferred = this.#deferred.get(symbol) ?? [];
    this.#deferred.delete(symbol);
    return deferred;
  }

  /** The earliest market time of an unfinished dispatch on a symbol; null if there is none. */
  unfinishedSince(symbol: string): number | null {
    let earliest: number | null = null;
    for (const unfinished of this.#unfinished.values()) {
      if (unfinished.symbol === symbol) earliest = Math.min(unfinished.at, earliest ?? unfinished.at);
    }
    return earliest;
  }

  #queueRetry(retry: Retry): void {
    const { strategyId } = retry.hit.trigger;
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
      return [{ type: "LiquidatePosition", symbol: trigger.symbol, openedAt: trigger.openedAt, ...seen }, {}];
  }
}
