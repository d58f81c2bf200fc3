// Leads on a real store, under manual time, with followers that only record their calls.
import { setImmediate } from "node:timers/promises";
import { pino } from "pino";
import { onTestFinished } from "vitest";
import { createManualTime } from "../../../concurrency/testing/manual-time.ts";
import type { LeadAction } from "../../../domain/copying.ts";
import type { CopyStore, Store, StoreFailure } from "../../../store/store.ts";
import { type Followers, Leads, LOOK_MS } from "../leads.ts";

/** Iterations of the event loop without a store call, after which none is expected. */
const QUIET_TURNS = 10;

/** Store calls in flight. */
let asked = 0;

/** The same store, whose questions are counted. */
function counted(copying: CopyStore): CopyStore {
  return Object.fromEntries(
    Object.entries(copying).map(([name, ask]: [string, (...given: never[]) => Promise<unknown>]) => [
      name,
      async (...given: never[]) => {
        asked += 1;
        try {
          return await ask(...given);
        } finally {
          asked -= 1;
        }
      },
    ]),
  ) as CopyStore;
}

/** Resolves when all that was begun has ended; nothing of it waits for a clock. */
export async function settled(): Promise<void> {
  for (let quiet = 0; quiet < QUIET_TURNS; quiet = asked === 0 ? quiet + 1 : 0) await setImmediate();
}

/** A manual clock that can also jump while the process sleeps: no timer fires then. */
export class OwnTime {
  readonly manual = createManualTime(1_000_000);
  #sleptMs = 0;

  readonly now = () => this.manual.now() + this.#sleptMs;

  sleep(ms: number): void {
    this.#sleptMs += ms;
  }

  /** Advances in steps, so that the work of one timer ends before the next one fires. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= LOOK_MS) {
      this.manual.advance(Math.min(left, LOOK_MS));
      await settled();
    }
  }
}

/** Followers that only record their calls. */
class Listeners implements Followers {
  readonly told: string[] = [];
  readonly actions = new Map<string, LeadAction[]>();
  /** Called when a follower is to take a lead, or to read changes. */
  before: (what: string) => Promise<void> = () => Promise.resolve();

  async take(strategyId: string): Promise<void> {
    this.told.push(`take ${strategyId}`);
    await this.before("take");
  }

  moved(strategyId: string, actions: readonly LeadAction[]): void {
    this.told.push(`moved ${strategyId} ${actions[0]?.seq}-${actions.at(-1)?.seq}`);
    this.actions.set(strategyId, [...(this.actions.get(strategyId) ?? []), ...actions]);
  }

  async changed(strategyId: string): Promise<void> {
    this.told.push(`changed ${strategyId}`);
    await this.before("changed");
  }

  drop(strategyId: string): void {
    this.told.push(`drop ${strategyId}`);
  }

  /** The calls since the last time. */
  news(): string[] {
    return this.told.splice(0);
  }
}

type Options = {
  readonly holder?: string;
  readonly isAlone?: boolean;
  readonly changed?: (store: Store["copying"]) => Partial<Store["copying"]>;
};

/** Leads on a store, with followers that only record, and everything that they received. */
export function leadsOn(store: Store, time: OwnTime, options: Options = {}) {
  const copying = counted(store.copying);
  const followers = new Listeners();
  const claimed: string[] = [];
  const failures: StoreFailure[] = [];
  const lines: string[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void lines.push(JSON.parse(line).msg) });
  const leads = new Leads({
    store: { ...copying, ...options.changed?.(copying) },
    followers,
    holder: options.holder ?? "me",
    isAlone: options.isAlone ?? false,
    wallNow: () => time.now(),
    every: time.manual.every,
    onClaimed: (ids) => void claimed.push(ids.join()),
    onFailure: (failure) => void failures.push(failure),
    log,
  });
  onTestFinished(() => leads.stop());
  const pass = (ms: number) => time.pass(ms);
  return { leads, followers, claimed, failures, lines, pass };
}
