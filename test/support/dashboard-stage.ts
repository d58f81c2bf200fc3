// The dashboard's server in the test's own process: real sockets, a real database and the simulated market, while wall time is the
// test's: every request of a browser is sent a second after the one before, so that no budget is spent unless a test spends it.
import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { Writable } from "node:stream";
import pino from "pino";
import { systemTimers } from "../../src/concurrency/time.ts";
import { openDataDirectory } from "../../src/config/data-directory.ts";
import { openUpstream } from "../../src/config/upstream.ts";
import { openDashboard } from "../../src/dashboard-service.ts";
import { Desk } from "../../src/desk/desk.ts";
import { STANDARD } from "../../src/domain/fill-profile.ts";
import type { Person } from "../../src/domain/person.ts";
import type { Gateway } from "../../src/http/pipeline.ts";
import { createServer } from "../../src/http/server.ts";
import { createMarketFeed } from "../../src/market/client/feed.ts";
import type { Family } from "../../src/market/client/rest/hosts.ts";
import { createInspection, type Inspection } from "../../src/observability/inspection.ts";
import { makePerson } from "../../src/people/made-people.ts";
import { passwordFault } from "../../src/people/passwords.ts";
import { SESSION_IDLE_MS_DEFAULT } from "../../src/people/sessions.ts";
import { Budgets } from "../../src/rate-limits/budgets.ts";
import { botParts } from "./bot-parts.ts";
import { Browser } from "./dashboard-client.ts";
import { newDirectory } from "./gateway.ts";

export const PASSWORD = "seven lyrebirds sing at dusk";

export type DashboardStage = {
  readonly url: string;
  readonly gateway: Gateway;
  readonly inspection: Inspection;
  readonly dataDir: string;
  /** What copiers may connect accounts of: at first the stage's own server, since it speaks what venues speak. */
  readonly venues: string[];
  /** Everything that was logged. */
  logged(): string;
  wallNow(): number;
  pass(ms: number): void;
  /** A browser that nobody has signed in with. */
  browser(): Browser;
  /** The browser of somebody new who is signed in; with a second factor unless said. */
  somebody(made: Partial<Person> & { readonly hasSecondFactor?: boolean }): Promise<Browser>;
  close(): Promise<void>;
};

let numberOfPeople = 0;

/** Opens it on a new embedded database, or on the PostgreSQL database that is named. */
export async function openDashboardStage(databaseUrl: string | null = null): Promise<DashboardStage> {
  const dataDir = newDirectory();
  const { store, master } = await openDataDirectory(dataDir, null, databaseUrl);
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
  const feedOf = (family: Family) =>
    createMarketFeed({ family, ...upstream.hosts, clock: upstream.clock, log, ...upstream.feedOptions });
  const markets = { SPOT: feedOf("spot"), FUTURES: feedOf("futures") };
  await Promise.all(Object.values(markets).map((market) => market.start()));

  let wallTime = Date.UTC(2026, 0, 1);
  const wallNow = () => wallTime;
  const onStoreFailure = (error: unknown) => {
    throw error;
  };
  const desk = new Desk({ store, markets, onStoreFailure, log });
  const budgets = new Budgets();
  const inspection = createInspection({
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
  const gateway: Gateway = {
    store,
    desk,
    markets,
    master,
    budgets,
    profiles: STANDARD,
    ...botParts({ desk, store, market: markets.SPOT, wallNow }),
    observer: inspection,
    wallNow,
    newClientOrderId: randomUUID,
  };
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
  } as const;
  const dashboard = openDashboard(config, {
    gateway,
    inspection,
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
    inspection,
    dataDir,
    venues: copyVenues,
    logged: () => logText,
    wallNow,
    pass(ms) {
      wallTime += ms;
    },
    browser,
    async somebody({ hasSecondFactor = true, ...made }) {
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
    async close() {
      await server.close();
      await dashboard.close();
      await inspection.close();
      await desk.drain();
      await store.close();
      await Promise.all(Object.values(markets).map((market) => market.close()));
      await upstream.close();
    },
  };
}
