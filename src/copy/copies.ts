// The copies that this process works at, by strategy. The holder of the claims on strategies says which they are, hands over their
// actions, and reports what people changed.
//
// Copies run side by side, as many as there are; how many requests are in flight at a venue is the venue's to bound. What they have to
// record is written together, strategy by strategy.

import { PeriodicTask } from "../concurrency/periodic-task.ts";
import { waitAtMost } from "../concurrency/time.ts";
import type { Account } from "../domain/account.ts";
import type { Lead, LeadAction } from "../domain/copying.ts";
import { PollSchedule } from "./reconcile/poll.ts";
import { Switches } from "./session/gate.ts";
import type { CopiesParts } from "./strategy-copies.ts";
import { StrategyCopies } from "./strategy-copies.ts";

/** Between two rounds of the reconciler, ms. */
const TICK_MS = 1_000;
/** How long closing waits for work in flight, ms. */
const CLOSE_MS_MAX = 2_500;

/**
 * Rows of all copies of which something is still to be done: each takes about a kilobyte of the thread's
 * memory.
 */
const OPEN_ROWS_MAX = 500_000;

export class Copies {
  readonly #parts: CopiesParts;
  readonly #schedule: PollSchedule;
  readonly #switches: Switches;
  readonly #ticks: PeriodicTask;
  readonly #strategies = new Map<string, StrategyCopies>();
  /** Dropped copies that still have work in flight. */
  readonly #ending = new Set<Promise<void>>();

  constructor(parts: CopiesParts) {
    this.#parts = parts;
    this.#schedule = new PollSchedule({ wallNow: parts.wallNow, every: parts.timers.every });
    this.#switches = new Switches(parts.isAllowed);
    this.#ticks = new PeriodicTask({
      every: parts.timers.every,
      intervalMs: TICK_MS,
      task: async () => {
        for (const copies of [...this.#strategies.values()]) await copies.tick();
      },
      onError: (error) =>
        parts.log.error({ err: error }, "copies could not be reconciled; it is tried again"),
    });
  }

  /**
   * Begins to work at the copies of a strategy, from their cursors; what was not recorded may have been sent.
   */
  async take({ strategyId }: Pick<Lead, "strategyId" | "type">): Promise<void> {
    this.drop(strategyId);
    const copies = new StrategyCopies(strategyId, {
      ...this.#parts,
      schedule: this.#schedule,
      switches: this.#switches,
      demandRoom: () => this.#demandRoom(strategyId),
    });
    this.#strategies.set(strategyId, copies);
    try {
      await this.#readSwitches();
      await copies.open();
    } catch (error) {
      this.drop(strategyId);
      throw error;
    }
  }

  /** Actions were added, in order, and are durable; `account` is the strategy's as of the last one. */
  moved(strategyId: string, actions: readonly LeadAction[], account: Account | null): void {
    this.#strategies.get(strategyId)?.moved(actions, account);
  }

  /** Reads copies, settings, requests and switches again after a change in the dashboard. */
  async changed(strategyId: string): Promise<void> {
    await this.#readSwitches();
    await this.#strategies.get(strategyId)?.changed();
  }

  /** The claim has ended: nothing more is sent or written. */
  drop(strategyId: string): void {
    const copies = this.#strategies.get(strategyId);
    if (copies === undefined) return;
    this.#strategies.delete(strategyId);
    copies.end();
    const ending = copies.settled().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  /** Sends nothing more. Resolves when nothing is in flight, or when that takes too long. */
  async close(): Promise<void> {
    this.#schedule.close();
    void this.#ticks.close();
    for (const strategyId of [...this.#strategies.keys()]) this.drop(strategyId);
    if (this.#ending.size === 0) return;
    const ended = Promise.all(this.#ending).then(() => {});
    await waitAtMost(this.#parts.timers, CLOSE_MS_MAX, ended);
  }

  /** One strategy too many is left alone, rather than all of them ended for want of memory. */
  #demandRoom(strategyId: string): void {
    const { openRowsMax = OPEN_ROWS_MAX } = this.#parts;
    let rows = 0;
    for (const copies of this.#strategies.values()) rows += copies.openRows;
    if (rows <= openRowsMax) return;
    throw new Error(
      `the copies of strategy ${strategyId} are not worked at: more than ${openRowsMax} orders and legs rest at venues, which is as much as one copier holds in its memory`,
    );
  }

  async #readSwitches(): Promise<void> {
    this.#switches.replace(await this.#parts.store.copying.listSwitches());
  }
}
