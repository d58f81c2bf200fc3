// What a demo begins with: a trader, and at the very first start a strategy of that person of each type that can trade.
import type { StrategyType } from "./domain/account.ts";
import type { Gateway } from "./http/pipeline.ts";
import { type SeededStrategy, seedStrategies } from "./identity/seed.ts";
import { provideDemoPerson } from "./people/demo.ts";

export type Demo = {
  /** Of the trader, shown this once; null if that person was there already. */
  readonly password: string | null;
  readonly strategies: readonly SeededStrategy[];
};

const NAMES: { readonly [T in StrategyType]: string } = { SPOT: "Demo spot", FUTURES: "Demo futures" };

/** Makes sure of a demo's trader, who owns what nobody else does. `marketNow` is market time, Unix ms. */
export async function openDemo(
  { store, master, wallNow }: Pick<Gateway, "store" | "master" | "wallNow">,
  marketNow: number,
  tradable: readonly StrategyType[],
): Promise<Demo> {
  const isFirstStart = (await store.countStrategies()) === 0;
  const { personId, password } = await provideDemoPerson(store.people, wallNow());
  const terms = { marketNow, ownerId: personId, names: tradable.map((type) => NAMES[type]) };
  const strategies = isFirstStart ? await seedStrategies(store, master, tradable, wallNow(), terms) : [];
  return { password, strategies };
}
