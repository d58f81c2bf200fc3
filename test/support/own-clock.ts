// A gateway whose wall clock is the test's: real sockets, a real database and the simulated market, but time,
// and the half second after which budgets are logged, pass when the test says so. Several may stand on one
// database, as processes do.
import { randomBytes } from "node:crypto";
import { systemTimers } from "../../src/concurrency/time.ts";
import { ROUTES } from "../../src/http/server.ts";
import { addressOfRequest } from "../../src/http/transport-security.ts";
import { KeyChecks } from "../../src/keys/key-checks.ts";
import type { MarketFeed } from "../../src/market/client/feed.ts";
import { BudgetLog } from "../../src/rate-limits/budget-log.ts";
import { ConnectionBound, STREAMS_PER_ADDRESS_DEFAULT } from "../../src/rate-limits/connections.ts";
import { isWebSocketUpgrade, Sockets } from "../../src/sockets/server.ts";
import { createWsApi } from "../../src/sockets/ws-api.ts";
import { openOwnGateway } from "./servers/own-gateway.ts";

export type OwnClockGateway = Awaited<ReturnType<typeof openGateway>>;

/**
 * Opens a gateway on a data directory. The address of a client is what the request's X-Forwarded-For says.
 */
export async function openGateway(parts: {
  readonly dataDir: string;
  readonly databaseUrl?: string | null;
  readonly market: MarketFeed;
  readonly wallNow: () => number;
}) {
  const { dataDir, databaseUrl = null, market, wallNow } = parts;
  // What is traded is of no account here: one market serves both types.
  const own = await openOwnGateway({ SPOT: market, FUTURES: market }, wallNow, { dataDir, databaseUrl });
  const { budgets, store, desk } = own.gateway;
  const process = randomBytes(8).toString("hex");
  const { log } = own;
  const budgetLog = new BudgetLog({ budgets, store, process, wallNow, every: () => () => {}, log });
  await budgetLog.open();
  const { server, url } = await own.serve({ proxyHops: 1, isUpgrade: isWebSocketUpgrade });
  const keyChecks = new KeyChecks({ store, every: () => () => {}, log });
  const sockets = new Sockets({
    server: server.server,
    endpoints: createWsApi({
      ...{ gateway: own.gateway, routes: ROUTES, keyChecks, log },
      userStreams: { open: async () => null },
    }),
    perAddress: new ConnectionBound(STREAMS_PER_ADDRESS_DEFAULT),
    addressOf: (request) => addressOfRequest(request, 1),
    ...{ budgets, wallNow, timers: systemTimers, log },
  });
  let isOpen = true;
  const close = async (isInOrder: boolean) => {
    if (!isOpen) return;
    isOpen = false;
    await sockets.close();
    await server.close();
    if (isInOrder) await budgetLog.close();
    await own.close();
  };
  return {
    url,
    /** What its timer does twice a second: writes what was charged, reads what other gateways wrote. */
    turn: () => budgetLog.turn(),
    /** Refuses new commands, as an overloaded gateway does. */
    overload: () => desk.drain(),
    /** Ends in order. */
    stop: () => close(true),
    /** Ends at once: what is not on disk is lost. */
    kill: () => close(false),
  };
}
