// Randomly traded strategies, through the desk and a real database, on a market that remembers its prices:
// the input of reports and of their recomputation.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { pino } from "pino";
import { Desk } from "../../src/desk/desk.ts";
import type { StrategyType } from "../../src/domain/account.ts";
import type { Command } from "../../src/domain/command.ts";
import { firstCommit } from "../../src/keys/seed.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { Floor, ROUND_MS } from "../campaigns/walk/floor.ts";
import { SETUPS } from "../campaigns/walk/setups.ts";
import { seededRandom } from "../support/random.ts";
import { RememberedPrices } from "./remembered-prices.ts";

/** A Wednesday at noon. */
export const OPENED_AT = 1_700_049_600_000;
const STRATEGIES = 4;
const KEPT_FROM_CLOSING = 2;

export type Walked = Awaited<ReturnType<typeof walk>>;

/**
 * Has strategies of a type trade for so many rounds of six minutes; half of them are closed near the end.
 */
export async function walk(type: StrategyType, seed: number, rounds: number) {
  const random = seededRandom(seed);
  const directory = mkdtempSync(join(tmpdir(), "lyrebird-performance-"));
  const store = await openSqliteStore(join(directory, "walked.sqlite"));
  let now = OPENED_AT;
  const floor = new Floor(SETUPS[type], random, () => now);
  const prices = new RememberedPrices(floor.market, random);
  const desk = new Desk({
    store,
    markets: { SPOT: floor.market, FUTURES: floor.market },
    onStoreFailure: () => {},
    log: pino({ level: "silent" }),
  });
  const strategyIds = Array.from({ length: STRATEGIES }, (_, index) => `walked-${index}`);
  await store.createStrategies(
    strategyIds.map((id) => ({ ...createdOf(id, type), ownerId: null, name: id })),
  );
  const load = async (strategyId: string) => {
    const loaded = await store.loadAccount(strategyId);
    if (loaded === null) throw new Error("a strategy that was made is there");
    return loaded.account;
  };
  const execute = (strategyId: string, command: Command, key: string | null = null) =>
    desk.execute(strategyId, command, key === null ? {} : { key });
  const closing = new Set<string>();

  for (let round = 1; round <= rounds; round += 1) {
    now += ROUND_MS;
    const drawn = await Promise.all(
      strategyIds.map(async (strategyId) => {
        const commands = floor.draw(await load(strategyId), `walk-${round}`);
        return commands.map((command) => ({ strategyId, command }));
      }),
    );
    await Promise.all(drawn.flat().map(({ strategyId, command }) => execute(strategyId, command)));
    for (const settlement of floor.settlementsHeard()) {
      await Promise.all(strategyIds.map((id) => execute(id, { type: "SettleFunding", settlement })));
    }
    if (round > rounds - 20) {
      for (const id of strategyIds.slice(KEPT_FROM_CLOSING)) closing.add(id);
      if (round === rounds - 10) floor.market.recover();
      await Promise.all([...closing].map((id) => execute(id, { type: "CloseStrategy" })));
    }
    for (const id of strategyIds) floor.follow(await load(id));
    floor.move();
    floor.seeMarks();
    prices.remember(now);
    const reached = floor.takeHits();
    await Promise.all(reached.map(({ strategyId, command, key }) => execute(strategyId, command, key)));
    await setImmediate();
  }
  await desk.drain();
  const query = (path: string, search: URLSearchParams | string) => prices.query(path, search);
  return {
    store,
    type,
    strategyIds,
    prices,
    /** The market time of the end. */
    now,
    /** As reports need it. */
    market: Object.assign(floor.market, { query }),
    async dispose(): Promise<void> {
      await store.close();
      rmSync(directory, { recursive: true });
    },
  };
}

function createdOf(strategyId: string, type: StrategyType) {
  return {
    first: firstCommit(strategyId, type, OPENED_AT),
    key: {
      keyId: strategyId,
      apiKey: `key-${strategyId}`,
      salt: "",
      masterVersion: 1,
      label: "",
      ownerId: null,
      strategyId,
      createdAt: OPENED_AT,
      revokedAt: null,
    },
  };
}
