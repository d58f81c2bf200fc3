// A gateway whose wall clock is the test's: real sockets, a real database and the simulated market, but time, and the second
// after which budgets are logged, pass when the test says so. Several may stand on one database, as processes do.
import { randomBytes, randomUUID } from "node:crypto";
import pino from "pino";
import { openDataDirectory } from "../../src/config/data-directory.ts";
import { Desk } from "../../src/desk/desk.ts";
import { STANDARD } from "../../src/domain/fill-profile.ts";
import { createServer } from "../../src/http/server.ts";
import type { MarketFeed } from "../../src/market/client/feed.ts";
import { BudgetLog } from "../../src/rate-limits/budget-log.ts";
import { Budgets } from "../../src/rate-limits/budgets.ts";
import { botParts } from "./bot-parts.ts";

export type OwnClockGateway = {
  readonly url: string;
  /** What a second of time does: writes what was charged, reads what other gateways wrote. */
  turn(): Promise<void>;
  /** Refuses new commands, as an overloaded gateway does. */
  overload(): Promise<void>;
  /** Ends in order. */
  stop(): Promise<void>;
  /** Ends at once: what is not on disk is lost. */
  kill(): Promise<void>;
};

/** Opens a gateway on a data directory. The address of a client is what the request's X-Forwarded-For says. */
export async function openGateway(parts: {
  readonly dataDir: string;
  readonly market: MarketFeed;
  readonly wallNow: () => number;
}): Promise<OwnClockGateway> {
  const { dataDir, market, wallNow } = parts;
  const { store, master } = await openDataDirectory(dataDir, null);
  const log = pino({ level: "silent" });
  const onStoreFailure = (error: unknown) => {
    throw error;
  };
  // What is traded is of no account here: one market serves both families.
  const parties = { store, markets: { SPOT: market, FUTURES: market }, profiles: STANDARD };
  const desk = new Desk({ ...parties, onStoreFailure, log });
  const budgets = new Budgets();
  const process = randomBytes(8).toString("hex");
  const budgetLog = new BudgetLog({ budgets, store, process, wallNow, every: () => () => {}, log });
  await budgetLog.open();
  const server = createServer(
    {
      ...parties,
      desk,
      master,
      budgets,
      ...botParts({ desk, store, market, wallNow }),
      wallNow,
      newClientOrderId: () => randomUUID(),
    },
    { log, proxyHops: 1 },
  );
  const url = await server.listen({ port: 0, host: "127.0.0.1" });
  let isOpen = true;
  const close = async (isInOrder: boolean) => {
    if (!isOpen) return;
    isOpen = false;
    await server.close();
    if (isInOrder) await budgetLog.close();
    await desk.drain();
    await store.close();
  };
  return {
    url,
    turn: () => budgetLog.turn(),
    overload: () => desk.drain(),
    stop: () => close(true),
    kill: () => close(false),
  };
}
