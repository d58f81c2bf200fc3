// What an idle strategy costs in memory: a gateway with many of them against one with few.
//
// Idle is a strategy that exists, with its key, and has nothing under way. Each is measured twice: as the start finds it,
// and after it has placed an order and been read once since. The latter is what counts, since a gateway keeps something of
// whoever came by; its bounded caches (accounts, holders of budgets, the database's pages) are in it as far as they were
// filled. The gateway with few has carried as many requests as there are strategies in the smallest of the others, so that
// what any load leaves behind is not counted as theirs.
import { type MemoryUsed, memoryOf } from "./inspector.ts";
import type { Machine } from "./machine.ts";
import type { Options } from "./options.ts";
import { startGateway, startSender } from "./processes.ts";
import { type BenchStore, STORE_TITLES, type StoreName } from "./stores.ts";
import { prepareStrategies, readTrips } from "./strategies.ts";
import { Trial } from "./trial.ts";

export type IdleMemory = { readonly started: MemoryUsed; readonly visited: MemoryUsed };
export type MemoryMeasured = {
  readonly store: StoreName;
  readonly few: IdleMemory & { readonly strategies: number };
  readonly many: readonly (IdleMemory & { readonly strategies: number })[];
};

export async function measureMemory(
  store: BenchStore,
  { memory: { few, many }, warmSeconds }: Options,
  { pinning }: Machine,
  say: (text: string) => void,
): Promise<MemoryMeasured> {
  const visitsMin = Math.min(...many);
  const measure = async (strategies: number) => {
    say(`memory with ${strategies} strategies`);
    const place = await store.newPlace();
    const credentials = await prepareStrategies(place, strategies);
    const gateway = await startGateway(place, pinning?.server ?? null, { canBeInspected: true });
    const started = await memoryOf(gateway);
    const setup = { credentials, trips: await readTrips(gateway.url) };
    const sender = await startSender(setup, pinning?.sender ?? null);
    const name = `memory on ${STORE_TITLES[store.name]}`;
    const trial = new Trial({ name, target: "gateway", server: gateway, sender, warmSeconds });
    for (const kind of ["orders", "reads"] as const) {
      await trial.count(kind, Math.max(strategies, visitsMin));
    }
    sender.stop();
    const visited = await memoryOf(gateway);
    await gateway.stop();
    return { strategies, started, visited };
  };
  const base = await measure(few);
  const others: MemoryMeasured["few"][] = [];
  for (const strategies of many) others.push(await measure(strategies));
  return { store: store.name, few: base, many: others };
}
