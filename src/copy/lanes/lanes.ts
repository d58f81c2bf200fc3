// Copies at work: what strategies do is carried out on copiers' accounts, a lane each. Whoever has the claims on strategies says
// which are to be worked at, hands over their actions, and tells what people changed.
//
// Lanes of different copies run side by side, as many as there are; how many requests are under way at a venue is the venue's
// to bound. What lanes have to record goes together, strategy by strategy.
import type { Logger } from "pino";
import type { Copy, CopyReason, LeadAction } from "../../domain/copying.ts";
import type { MasterKey } from "../../identity/master-key.ts";
import type { Lead } from "../../store/copy-store.ts";
import type { Store } from "../../store/store.ts";
import type { Venues } from "../venue/venues.ts";
import { Looks } from "./looks.ts";
import { StrategyLanes } from "./strategy-lanes.ts";
import { Switches } from "./switches.ts";

/** What is under way when lanes are closed is waited for no longer than this, ms. */
const CLOSE_MS_MAX = 2_500;

/** Orders and legs of all copies that rest when their strategies are taken: each takes about a kilobyte of the thread's memory. */
const RESTING_LINES_MAX = 500_000;

export type LanesParts = {
  readonly store: Pick<Store, "copying">;
  readonly venues: Pick<Venues, "venue">;
  readonly master: MasterKey;
  /** Whose claims they are. */
  readonly holder: string;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly timers: {
    readonly after: (delayMs: number, callback: () => void) => () => void;
    readonly every: (intervalMs: number, callback: () => void) => () => void;
  };
  /** Whether the claims are fresh enough to send. */
  readonly mayRun: () => boolean;
  /** Whether the operator allows a venue; one that is not allowed is halted. */
  readonly isAllowed: (origin: string) => boolean;
  /** A copy was paused or is being closed, and not by its owner: they are to be told. */
  readonly tell: (copy: Copy, reason: CopyReason) => void;
  readonly log: Pick<Logger, "error" | "warn">;
  /** Instead of `RESTING_LINES_MAX`. */
  readonly restingMax?: number;
};

export class Lanes {
  readonly #parts: LanesParts;
  readonly #looks: Looks;
  readonly #switches: Switches;
  readonly #strategies = new Map<string, StrategyLanes>();
  /** Those that were dropped, while something of them is under way. */
  readonly #ending = new Set<Promise<void>>();

  constructor(parts: LanesParts) {
    this.#parts = parts;
    this.#looks = new Looks({ wallNow: parts.wallNow, every: parts.timers.every });
    this.#switches = new Switches(parts.isAllowed);
  }

  /** Begins to work at the copies of a strategy, from their cursors; what was not recorded may have been sent. */
  async take({ strategyId }: Pick<Lead, "strategyId" | "type">): Promise<void> {
    this.drop(strategyId);
    const lanes = new StrategyLanes(strategyId, {
      ...this.#parts,
      looks: this.#looks,
      switches: this.#switches,
      demandRoom: () => this.#demandRoom(strategyId),
    });
    this.#strategies.set(strategyId, lanes);
    try {
      await this.#readSwitches();
      await lanes.open();
    } catch (error) {
      this.drop(strategyId);
      throw error;
    }
  }

  /** Actions were added, in order; they are durable. */
  moved(strategyId: string, actions: readonly LeadAction[]): void {
    this.#strategies.get(strategyId)?.moved(actions);
  }

  /** People changed copies, settings, requests or switches: looks at them anew. */
  async changed(strategyId: string): Promise<void> {
    await this.#readSwitches();
    await this.#strategies.get(strategyId)?.changed();
  }

  /** The claim is over: nothing more is sent or written. */
  drop(strategyId: string): void {
    const lanes = this.#strategies.get(strategyId);
    if (lanes === undefined) return;
    this.#strategies.delete(strategyId);
    lanes.end();
    const ending = lanes.settled().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  /** Nothing more is sent; resolves when what is under way is over, or does not come to an end soon. */
  async close(): Promise<void> {
    this.#looks.close();
    for (const strategyId of [...this.#strategies.keys()]) this.drop(strategyId);
    if (this.#ending.size === 0) return;
    let cancel = () => {};
    const late = new Promise<void>((resolve) => {
      cancel = this.#parts.timers.after(CLOSE_MS_MAX, resolve);
    });
    await Promise.race([Promise.all(this.#ending), late]);
    cancel();
  }

  /** One strategy too many is left alone, rather than all of them ended for want of memory. */
  #demandRoom(strategyId: string): void {
    const { restingMax = RESTING_LINES_MAX } = this.#parts;
    let lines = 0;
    for (const lanes of this.#strategies.values()) lines += lanes.resting;
    if (lines <= restingMax) return;
    throw new Error(
      `the copies of strategy ${strategyId} are not worked at: more than ${restingMax} orders and legs rest at venues, which is as much as one copier holds in its memory`,
    );
  }

  async #readSwitches(): Promise<void> {
    this.#switches.replace(await this.#parts.store.copying.listSwitches());
  }
}
