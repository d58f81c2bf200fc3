// What the market reached is carried out: a command through the desk, with the price that was seen. An errand is under way
// until the desk has answered. One that had no effect is set aside until it is known how its strategy stands: it is then
// dropped, or begun again, or is overdue until its market has a price to trade at.
import type { Logger } from "pino";
import type { Desk, Executed, ExecuteOptions } from "../desk/desk.ts";
import type { Command } from "../domain/command.ts";
import { fillKey, legTriggerKey, triggerKey } from "../domain/command.ts";
import { isRefusal, type Refusal } from "../domain/refusal.ts";
import { Unsettled } from "./unsettled.ts";
import { isSame, nameOf, type Reached, type Waiting } from "./waiting.ts";
import type { WatchedMarket } from "./watched-market.ts";

/** An errand that had no effect, and why; null if it failed. */
type SetAside = { readonly reached: Reached; readonly refusal: Refusal["refusal"] | null };

export class Errands {
  readonly #desk: Pick<Desk, "execute">;
  readonly #market: Pick<WatchedMarket, "now" | "rules">;
  readonly #isSilent: (symbol: string) => boolean;
  readonly #ask: (strategyId: string) => void;
  readonly #askLater: (strategyId: string) => void;
  readonly #done: (symbol: string) => void;
  readonly #log: Pick<Logger, "error">;
  /** How many are under way for one who waits, by name. */
  readonly #underWay = new Map<string, number>();
  /** By strategy. */
  readonly #setAside = new Map<string, SetAside[]>();
  /** By symbol. */
  readonly #overdue = new Map<string, Reached[]>();
  readonly #unsettled = new Unsettled();

  constructor(parts: {
    desk: Pick<Desk, "execute">;
    market: Pick<WatchedMarket, "now" | "rules">;
    /** Whether a symbol has no price to trade at. */
    isSilent: (symbol: string) => boolean;
    /** Asked to have it told how a strategy stands, at once or after a pause; `takeSetAside` follows. */
    ask: (strategyId: string) => void;
    askLater: (strategyId: string) => void;
    /** Told when one of a symbol had an effect. */
    done: (symbol: string) => void;
    log: Pick<Logger, "error">;
  }) {
    this.#desk = parts.desk;
    this.#market = parts.market;
    this.#isSilent = parts.isSilent;
    this.#ask = parts.ask;
    this.#askLater = parts.askLater;
    this.#done = parts.done;
    this.#log = parts.log;
  }

  /** Has the desk carry out what was reached, after what was given to it before; null if that could not be committed. */
  async carryOut(reached: Reached): Promise<Executed | Refusal | null> {
    const { waiting } = reached;
    const { strategyId, symbol } = waiting;
    const name = nameOf(waiting);
    this.#underWay.set(name, (this.#underWay.get(name) ?? 0) + 1);
    this.#unsettled.begin(waiting, this.#market.now());
    try {
      const outcome = await this.#desk.execute(strategyId, ...commandOf(reached));
      if (isRefusal(outcome)) {
        this.#putAside({ reached, refusal: outcome.refusal });
        this.#ask(strategyId);
      } else {
        this.#unsettled.end(waiting);
        // Replayed: another server was faster, and nothing was announced here.
        if (outcome.replayed) this.#ask(strategyId);
        this.#done(symbol);
      }
      return outcome;
    } catch (error) {
      // A failed commit has the process stopped; anything else may mend.
      this.#log.error({ err: error, strategyId, symbol }, "what the market reached could not be committed");
      this.#putAside({ reached, refusal: null });
      this.#askLater(strategyId);
      return null;
    } finally {
      const left = (this.#underWay.get(name) ?? 1) - 1;
      if (left > 0) this.#underWay.set(name, left);
      else this.#underWay.delete(name);
    }
  }

  isUnderWay(waiting: Waiting): boolean {
    return this.#underWay.has(nameOf(waiting));
  }

  /** What was set aside of a strategy; each is to be resumed or dropped. */
  takeSetAside(strategyId: string): readonly SetAside[] {
    const setAside = this.#setAside.get(strategyId) ?? [];
    this.#setAside.delete(strategyId);
    return setAside;
  }

  /** One who still waits as it did: it is tried again as soon as that may help, or waits on. */
  resume({ reached, refusal }: SetAside): void {
    const { waiting } = reached;
    const { symbol } = waiting;
    if (refusal === null) {
      void this.carryOut(reached);
      return;
    }
    // What has triggered says that the market is open, also while its rules still call it halted.
    if (refusal !== "MARKET_SILENT" && !(this.#isHalted(symbol) && waiting.kind !== "LIMIT")) {
      this.#unsettled.end(waiting);
      return;
    }
    const overdue = this.#overdue.get(symbol) ?? [];
    if (overdue.every((other) => !isSame(other.waiting, waiting))) {
      this.#overdue.set(symbol, [...overdue, reached]);
    }
    // The price it waits for may have come while the strategy was looked up.
    this.retryOverdue(symbol);
  }

  /** One that is over, or waits anew. */
  drop({ reached }: SetAside): void {
    if (!this.isUnderWay(reached.waiting)) this.#unsettled.end(reached.waiting);
  }

  /** Tries those of a symbol again that are overdue, if it trades and has a price. */
  retryOverdue(symbol: string): void {
    const overdue = this.#overdue.get(symbol);
    if (overdue === undefined || this.#isHalted(symbol) || this.#isSilent(symbol)) return;
    this.#overdue.delete(symbol);
    for (const each of overdue) void this.carryOut(each);
  }

  /** Nobody waits on a symbol any more. */
  forget(symbol: string): void {
    this.#overdue.delete(symbol);
  }

  /** The earliest market time at which one of a symbol was reached that is not settled; null if all are. */
  unsettledSince(symbol: string): number | null {
    return this.#unsettled.since(symbol);
  }

  #isHalted(symbol: string): boolean {
    return this.#market.rules(symbol)?.status !== "TRADING";
  }

  #putAside(errand: SetAside): void {
    const { strategyId } = errand.reached.waiting;
    const others = this.#setAside.get(strategyId);
    if (others === undefined) this.#setAside.set(strategyId, [errand]);
    else others.push(errand);
  }
}

/** The command that carries out what was reached, and its key. */
export function commandOf({ waiting, ...seen }: Reached): [Command, ExecuteOptions] {
  switch (waiting.kind) {
    case "LIMIT":
      return [{ type: "FillRestingOrder", orderId: waiting.id, ...seen }, { key: fillKey(waiting.id) }];
    case "STOP":
      return [{ type: "TriggerStop", orderId: waiting.id, ...seen }, { key: triggerKey(waiting.id) }];
    case "STOP_LEG":
    case "PROFIT_LEG":
      return [{ type: "TriggerLeg", legId: waiting.id, ...seen }, { key: legTriggerKey(waiting.id) }];
    case "LIQUIDATION":
      // Without a key: a second one finds no position, or a price that is not reached.
      return [{ type: "LiquidatePosition", symbol: waiting.symbol, ...seen }, {}];
  }
}
