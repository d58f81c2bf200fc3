// Composes the service behind the dashboard: people, performance of strategies, observed requests, and the
// answers to browsers. Made here of its parts, and closed here.
import type { AddressInfo } from "node:net";
import type { Logger } from "pino";
import { createPerformanceReports } from "./analytics/reports.ts";
import { systemClock, systemTimers } from "./concurrency/time.ts";
import { type Config, VERSION } from "./config/config.ts";
import { feeTiersOf } from "./config/strict-terms.ts";
import { createVenues } from "./copy/venue/venues.ts";
import { FiguresOfCopies } from "./dashboard-api/copying/copy-figures.ts";
import { CopyOffers } from "./dashboard-api/copying/copy-offers.ts";
import { Copying } from "./dashboard-api/copying/copying.ts";
import { createApplication } from "./dashboard-api/files.ts";
import { testKey } from "./dashboard-api/key-test.ts";
import { LastPrices } from "./dashboard-api/last-prices.ts";
import { type Live, openLive } from "./dashboard-api/live/live.ts";
import { ownOrigins } from "./dashboard-api/origin.ts";
import type { DashboardParts } from "./dashboard-api/parts.ts";
import { createDashboard } from "./dashboard-api/pipeline.ts";
import { ReportQueue } from "./dashboard-api/report-queue.ts";
import type { Gateway } from "./http/pipeline.ts";
import { issueApiKey } from "./keys/api-keys.ts";
import type { Observability } from "./observability/observability.ts";
import { createPeople } from "./people/people.ts";
import type { Streams } from "./streams/server.ts";

/** `address` is the service's public address, and `listening` its port, once it listens. */
export function openDashboard(
  config: Pick<
    Config,
    "publicUrl" | "host" | "tls" | "mail" | "sessionIdleMs" | "market" | "copyVenues" | "feeTiers"
  >,
  around: {
    readonly gateway: Gateway;
    readonly observability: Observability;
    readonly isDemo: boolean;
    readonly address: () => string;
    readonly listening: () => AddressInfo;
    readonly log: Logger;
  },
) {
  const { gateway, observability, isDemo, address, listening, log } = around;
  const { store, master, markets, wallNow } = gateway;
  const people = createPeople({
    store,
    master,
    wallNow,
    publicUrl: address,
    mail: config.mail,
    sessionIdleMs: config.sessionIdleMs,
    after: systemTimers.after,
    log,
  });
  const { after } = systemTimers;
  const reports = createPerformanceReports({ store, markets, wallNow });
  const reportQueue = new ReportQueue();
  const copying = new Copying({
    allowed: config.copyVenues,
    venues: createVenues({ wallNow, after, log }),
    ...{ master, wallNow, after },
  });
  const parts: DashboardParts = {
    gateway,
    testKey: (key, now) => testKey({ gateway, observability, server: parts.server }, key, now),
    issueKey: (terms) => issueApiKey(master, terms),
    people,
    observability,
    reports,
    reportQueue,
    prices: new LastPrices(markets),
    copying,
    feeTiers: feeTiersOf(config.feeTiers),
    copyOffers: new CopyOffers({ store, reports, reportQueue, markets, wallNow, after }),
    copyFigures: new FiguresOfCopies({ store, wallNow }),
    origins: () => ownOrigins(config, listening().port),
    server: {
      version: VERSION,
      market: config.market.kind,
      get publicUrl() {
        return address();
      },
      sendsMail: config.mail !== null,
      isDemo,
    },
    startedAt: wallNow(),
  };
  return {
    parts,
    /** The routes under `/dashboard/api`. */
    family: createDashboard(parts, gateway),
    /** The web application. */
    application: createApplication(),
    /** Opens the live connection beside the bots' streams; it is closed before them. */
    openLive: (
      streams: Streams,
      {
        isMetered,
        asksAboutQuietSymbols,
      }: { readonly isMetered: boolean; readonly asksAboutQuietSymbols: boolean },
    ): Promise<Live> =>
      openLive({
        streams,
        store,
        desk: gateway.desk,
        accounts: people.accounts,
        requests: observability.requests,
        signals: gateway.signals,
        markets,
        isMetered,
        asksAboutQuietSymbols,
        origins: parts.origins,
        wallNow,
        wallClock: systemClock,
        timers: systemTimers,
        log,
      }),
    /** To be called while the store is open. */
    async close(): Promise<void> {
      await copying.close();
      await people.close();
    },
  };
}
