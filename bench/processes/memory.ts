// The memory of an idle strategy: a gateway with many of them against one with few. Idle is a strategy with
// its key and without requests in flight. Each gateway is measured after its start, and again after every
// strategy has placed an order and been read once. The latter counts; the bounded caches (accounts, holders
// of budgets, the database's pages) are in it as far as they were filled. The gateway with few has served as
// many requests as there are strategies in the smallest of the others, so that the cost of requests is not
// counted as theirs. Futures strategies also hold a position each, which the gateway watches.
import type { StrategyType } from "../../src/domain/account.ts";
import type { Options } from "../options.ts";
import { type BenchStore, STORE_TITLES, type StoreName } from "../stores.ts";
import { FUTURES, prepareStrategies, readTrips, SPOT } from "../strategies.ts";
import { Trial } from "../trial.ts";
import type { RequestKind } from "../wire/requests.ts";
import type { Machine } from "./machine.ts";
import { type MemoryUsed, memoryOf, startGateway, startSender } from "./processes.ts";

export type IdleMemory = { readonly started: MemoryUsed; readonly visited: MemoryUsed };
type Measured = IdleMemory & { readonly strategies: number };
export type MemoryMeasured = {
  readonly store: StoreName;
  readonly few: Measured;
  readonly many: readonly Measured[];
  /** With a position each. */
  readonly holding: { readonly few: Measured; readonly many: Measured };
};

/** How idle strategies are visited before it is measured what they take. */
const VISITS = { SPOT: ["orders", "reads"], FUTURES: ["futures"] } as const satisfies {
  readonly [F in StrategyType]: readonly RequestKind[];
};

export async function measureMemory(
  store: BenchStore,
  { memory: { few, many }, warmSeconds }: Options,
  { pinning }: Machine,
  say: (text: string) => void,
): Promise<MemoryMeasured> {
  const visitsMin = Math.min(...many);
  const measure = async (type: StrategyType, strategies: number, visits: number): Promise<Measured> => {
    say(`memory with ${strategies} strategies, ${type}`);
    const place = await store.newPlace();
    const prepared = await prepareStrategies(place, strategies, type === "SPOT" ? SPOT : FUTURES);
    const credentials = { SPOT: [], FUTURES: [], [type]: prepared };
    const gateway = await startGateway(place, pinning?.server ?? null, { canBeInspected: true });
    const started = await memoryOf(gateway);
    const setup = { credentials, trips: await readTrips(gateway.url) };
    const sender = await startSender(setup, pinning?.sender ?? null);
    const name = `memory on ${STORE_TITLES[store.name]}`;
    const trial = new Trial({ name, target: "gateway", server: gateway, sender, warmSeconds });
    for (const kind of VISITS[type]) await trial.count(kind, visits);
    sender.stop();
    const visited = await memoryOf(gateway);
    await gateway.stop();
    return { strategies, started, visited };
  };
  const base = await measure("SPOT", few, visitsMin);
  const others: Measured[] = [];
  for (const strategies of many) others.push(await measure("SPOT", strategies, strategies));
  const holding = {
    // Orders open and close alternately: after an odd number each strategy holds a position here, too.
    few: await measure("FUTURES", few, visitsMin + few),
    many: await measure("FUTURES", visitsMin, visitsMin),
  };
  return { store: store.name, few: base, many: others, holding };
}
