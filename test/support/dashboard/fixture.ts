// The dashboard's server in the test's own process: real sockets, a real database and the simulated market,
// while wall time is the test's: every request of a browser is sent a second after the one before, so that no
// budget is spent unless a test spends it.
import type { AddressInfo } from "node:net";
import { Writable } from "node:stream";
import pino from "pino";
import { systemTimers } from "../../../src/concurrency/time.ts";
import { openUpstream } from "../../../src/config/upstream.ts";
import { openDashboard } from "../../../src/dashboard-service.ts";
import type { StrategyType } from "../../../src/domain/account.ts";
import type { Person } from "../../../src/domain/person.ts";
import { createServer } from "../../../src/http/server.ts";
import { createMarketFeed } from "../../../src/market/client/feed.ts";
import { createObservability } from "../../../src/observability/observability.ts";
import { makePerson } from "../../../src/people/made-people.ts";
import { passwordFault } from "../../../src/people/passwords.ts";
import { SESSION_IDLE_MS_DEFAULT } from "../../../src/people/sessions.ts";
import { openOwnGateway } from "../servers/own-gateway.ts";
import { Browser } from "./client.ts";

export const PASSWORD = "seven lyrebirds sing at dusk";

export type DashboardFixture = Awaited<ReturnType<typeof openDashboardFixture>>;

let numberOfPeople = 0;

/** Opens it on a new embedded database, or on the PostgreSQL database that is named. */
export async function openDashboardFixture(databaseUrl: string | null = null) {
  let logText = "";
  const log = pino(
    new Writable({
      write(chunk, _encoding, done) {
        logText += String(chunk);
        done();
      },
    }),
  );
  const upstream = await openUpstream({ market: { kind: "sim", seed: 1 }, leverageBrackets: null }, log);
  const feedOf = (type: StrategyType) =>
    createMarketFeed({ type, ...upstream.hosts, clock: upstream.clock, log, ...upstream.feedOptions });
  const markets = { SPOT: feedOf("SPOT"), FUTURES: feedOf("FUTURES") };
  await Promise.all(Object.values(markets).map((market) => market.start()));

  let wallTime = Date.UTC(2026, 0, 1);
  const wallNow = () => wallTime;
  const own = await openOwnGateway(markets, wallNow, { databaseUrl, log });
  const { store, master, budgets, desk } = own.gateway;
  const observability = createObservability({
    store,
    storeKind: databaseUrl === null ? "SQLite" : "PostgreSQL",
    master,
    budgets,
    markets,
    desk,
    wallNow,
    every: systemTimers.every,
    log,
  });
  const gateway = { ...own.gateway, observer: observability };
  let url = "";
  const listening = (): AddressInfo => server.server.address() as AddressInfo;
  const copyVenues: string[] = [];
  const config = {
    publicUrl: null,
    host: "127.0.0.1",
    tls: null,
    mail: null,
    sessionIdleMs: SESSION_IDLE_MS_DEFAULT,
    market: { kind: "sim", seed: 1 },
    copyVenues,
    feeTiers: null,
  } as const;
  const dashboard = openDashboard(config, {
    gateway,
    observability,
    isDemo: true,
    address: () => url,
    listening,
    log,
  });
  const server = createServer(gateway, {
    log,
    families: [dashboard.family],
    pages: (request) => dashboard.application(request),
  });
  url = await server.listen({ port: 0, host: "127.0.0.1" });
  copyVenues.push(url);

  const browser = () =>
    new Browser(url, {
      wallNow,
      pass: (ms) => {
        wallTime += ms;
      },
    });
  return {
    url,
    gateway,
    observability,
    dataDir: own.dataDir,
    /**
     * What copiers may connect accounts of: at first the fixture's own server, since it speaks what venues
     * speak.
     */
    venues: copyVenues,
    /** Everything that was logged. */
    logged: () => logText,
    wallNow,
    pass(ms: number): void {
      wallTime += ms;
    },
    /** A browser that nobody has signed in with. */
    browser,
    /** The browser of somebody new who is signed in; with a second factor unless said. */
    async somebody({
      hasSecondFactor = true,
      ...made
    }: Partial<Person> & { readonly hasSecondFactor?: boolean }): Promise<Browser> {
      numberOfPeople += 1;
      const { role = "PERSON", profile = "TRADER", kyc = "APPROVED" } = made;
      const email = made.email ?? `person-${numberOfPeople}@example.org`;
      const fault = await passwordFault(PASSWORD, { email, name: "" });
      if (fault !== null) throw new Error(`nobody could sign up with this password: ${fault}`);
      const personId = await makePerson(
        store.people,
        { email, name: made.name ?? `Person ${numberOfPeople}`, role, profile, kyc },
        { password: PASSWORD, who: { kind: "SERVICE" }, what: "SIGNED_UP", at: wallTime },
      );
      if (personId === null) throw new Error(`the address is taken: ${email}`);
      const own = browser();
      await own.signIn(email, PASSWORD);
      if (hasSecondFactor) await own.enableSecondFactor(PASSWORD);
      return own;
    },
    async close(): Promise<void> {
      await server.close();
      await dashboard.close();
      await observability.close();
      await own.close();
      await Promise.all(Object.values(markets).map((market) => market.close()));
      await upstream.close();
    },
  };
}
