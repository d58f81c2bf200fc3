// The composition root: every part is made here, handed its neighbours, and closed here in the opposite
// order.
import { randomBytes, randomUUIDv7 } from "node:crypto";
import { statfs } from "node:fs/promises";
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { createPages } from "./api-docs/pages.ts";
import { systemClock, systemTimers } from "./concurrency/time.ts";
import { readCertificate } from "./config/certificate.ts";
import { type Config, ConfigError, type TlsFiles, warningOfPlainHttp } from "./config/config.ts";
import { databaseFile, lockDirectory, openDataDirectory, openDemo } from "./config/data-directory.ts";
import { checkUnlessClosed, markClosed } from "./config/database-check.ts";
import { warningOfClearText } from "./config/shared-database.ts";
import { openUpstream } from "./config/upstream.ts";
import { startServersCopier } from "./copier-service.ts";
import { openDashboard } from "./dashboard-service.ts";
import { Desk } from "./desk/desk.ts";
import type { StrategyType } from "./domain/account.ts";
import type { Gateway } from "./http/pipeline.ts";
import { createProbes } from "./http/probes.ts";
import { createServer, ROUTES } from "./http/server.ts";
import { renewCertificate } from "./http/tls.ts";
import { addressOfRequest, isReachedSecurely } from "./http/transport-security.ts";
import { KeyChecks } from "./keys/key-checks.ts";
import { createKeyWatch } from "./keys/key-watch.ts";
import { createMarketFeed } from "./market/client/feed.ts";
import { TradingPairs } from "./market/pairs.ts";
import { type DiskFigures, DiskSpace } from "./observability/disk-space.ts";
import { createObservability } from "./observability/observability.ts";
import { BudgetLog } from "./rate-limits/budget-log.ts";
import { Budgets } from "./rate-limits/budgets.ts";
import { ConnectionBound } from "./rate-limits/connections.ts";
import { createAccountClosing } from "./schedules/account-closing.ts";
import { createClosingSweep } from "./schedules/closing-sweep.ts";
import { FundingClock } from "./schedules/funding.ts";
import { Signals } from "./signals/signals.ts";
import { stoppingAtFailures } from "./signals/stopping-store.ts";
import { createSignalSweep } from "./signals/sweep.ts";
import { ListenKeys } from "./sockets/listen-keys.ts";
import { createMarketEndpoints } from "./sockets/market-streams.ts";
import { createPrivateEndpoint, listenKeyNames } from "./sockets/private-streams.ts";
import { isWebSocketUpgrade, Sockets } from "./sockets/server.ts";
import { UserStreams } from "./sockets/user-streams.ts";
import { createWsApi } from "./sockets/ws-api.ts";
import { createCandles } from "./streams/candles.ts";
import { createDepth } from "./streams/depth.ts";
import { createStreams } from "./streams/server.ts";
import { answerToPolling } from "./streams/upgrade-handler.ts";
import { Shadows } from "./triggers/shadows/shadows.ts";
import { SlotOwner } from "./triggers/slot-owner.ts";
import { Triggers } from "./triggers/triggers.ts";

const MS_PER_SECOND = 1_000;

/** Closes a part of the service, at its end. */
const close = (part: { close(): void | Promise<void> }) => part.close();

/** The service cannot start, or go on, for a reason that its operator can correct. */
export class ServiceError extends Error {}

export type Service = Awaited<ReturnType<typeof startService>>;

/**
 * Starts the whole service. `onFatal` is called when it must stop at once: its answers could not be relied
 * on.
 */
export async function startService(
  config: Config,
  parts: { readonly log: Logger; readonly onFatal: (error: unknown) => void },
) {
  const { log, onFatal } = parts;
  const wallNow = () => Date.now();
  const certificate = config.tls === null ? null : readCertificate(config.tls);
  // Opened resources, closed in the opposite order, also when the start fails half-way.
  const opened = new AsyncDisposableStack();
  try {
    const lock = lockDirectory(config.dataDir);
    if (lock === null) {
      throw new ServiceError(
        `another server is running on ${config.dataDir}: stop it, or give this one its own with --data`,
      );
    }
    opened.defer(() => lock.release());
    for (const warning of [warningOfPlainHttp(config), warningOfClearText(config.databaseUrl)])
      if (warning !== null) log.warn(warning);
    const { after, every } = systemTimers;
    const file = config.databaseUrl === null ? databaseFile(config.dataDir) : null;
    if (file !== null) await checkUnlessClosed(file, { every, log });
    const { store, master, isDemo } = await openDataDirectory(
      config.dataDir,
      config.masterKeyFile,
      config.databaseUrl,
    );
    opened.defer(async () => {
      await store.close();
      if (file !== null) markClosed(file);
    });
    if (isDemo) log.warn("the master key lies in the data directory: for demo use only");

    const upstream = opened.adopt(await openUpstream(config, log), close);
    const feedOf = (type: StrategyType) =>
      createMarketFeed({
        type,
        ...upstream.hosts,
        clock: upstream.clock,
        untradable: () => upstream.untradable(type),
        log,
        ...upstream.feedOptions,
      });
    const markets = { SPOT: feedOf("SPOT"), FUTURES: feedOf("FUTURES") };
    for (const market of Object.values(markets)) opened.defer(() => market.close());
    await Promise.all(Object.values(markets).map((market) => market.start()));

    const space = new DiskSpace({
      disk: file === null ? null : () => diskOf(config.dataDir),
      databaseBytes: () => store.sizeBytes(),
      freePercentMin: config.diskFreePercentMin,
      every,
      log,
    });
    opened.defer(() => space.close());
    await space.open();
    const marketSpeed = config.market.kind === "tape" ? config.market.speed : 1;
    const desk = new Desk({
      store,
      markets,
      onStoreFailure: onFatal,
      isShortOfSpace: () => space.isShort(),
      aheadOf(strategyId, orderId) {
        const ahead = triggers.SPOT.aheadOf(strategyId, orderId);
        return ahead === undefined ? triggers.FUTURES.aheadOf(strategyId, orderId) : ahead;
      },
      onSent: (account, command, sentAt) => shadows[account.type].sent(account, command, sentAt),
      marketSpeed,
      log,
    });
    // Declared before the triggers, to be closed after them, and after the last commit: when the slots are
    // given back, their new owners must find all of it.
    let slotOwner: SlotOwner | null = null;
    opened.defer(() => slotOwner?.close());
    opened.defer(() => desk.drain());
    const triggersOf = (type: StrategyType) => {
      const market = markets[type];
      const triggers = new Triggers({ type, desk, store, market, timers: systemTimers, log });
      return opened.adopt(triggers, close);
    };
    const triggers = { SPOT: triggersOf("SPOT"), FUTURES: triggersOf("FUTURES") };
    const shadowsOf = (type: StrategyType) => {
      const market = markets[type];
      return opened.adopt(
        new Shadows({ type, desk, store, market, timers: systemTimers, marketSpeed, log }),
        close,
      );
    };
    const shadows = { SPOT: shadowsOf("SPOT"), FUTURES: shadowsOf("FUTURES") };
    opened.adopt(createKeyWatch({ master, store, every, log }), close);
    const funding = new FundingClock({
      market: markets.FUTURES,
      holders: triggers.FUTURES,
      store,
      every,
      log,
    });
    opened.defer(() => funding.close());
    if (store.slots !== null) {
      slotOwner = new SlotOwner({
        store: store.slots,
        triggers: Object.values(triggers),
        onTaken: () => funding.rebuild(),
        wallNow,
        every,
        log,
      });
    }
    for (const each of Object.values(triggers)) await each.open();
    for (const each of Object.values(shadows)) await each.open();
    await slotOwner?.renew();
    await funding.rebuild();
    const triggerCounts = Object.values(triggers).map((each) => each.counts());
    const owns = slotOwner?.owns ?? (() => true);
    const closingSweep = opened.adopt(createClosingSweep({ desk, store, owns, every, log }), close);
    // Strategies that a former process left closing.
    void closingSweep.run();
    opened.adopt(createAccountClosing({ desk, store, owns, wallNow, every, log }), close);
    const signalStore = stoppingAtFailures(store, onFatal);
    // Ids ascend with the time, so that the index of signals by their ids is appended to.
    const signals = new Signals({ desk, store: signalStore, wallNow, newSignalId: randomUUIDv7, log });
    opened.adopt(
      createSignalSweep({
        signals,
        store: signalStore,
        slots: slotOwner?.ownSlots,
        wallNow,
        every,
        after,
        log,
      }),
      close,
    );

    const budgets = new Budgets();
    const budgetLog = new BudgetLog({
      budgets,
      store,
      process: randomBytes(8).toString("hex"),
      wallNow,
      every,
      log,
    });
    await budgetLog.open();
    opened.defer(() => budgetLog.close());

    const perAddress = {
      connections: new ConnectionBound(config.connectionsPerAddress),
      streams: new ConnectionBound(config.streamsPerAddress),
    };
    const observability = createObservability({
      store,
      storeKind: config.databaseUrl === null ? "SQLite" : "PostgreSQL",
      master,
      budgets,
      markets,
      desk,
      space,
      perAddress,
      sockets: () => ({ connections: sockets.count, accounts: userStreams.size }),
      slots: slotOwner,
      triggers,
      metricsToken: config.metricsToken,
      hostNames: hostNamesOf(config),
      wallNow,
      every,
      log,
    });
    opened.defer(() => observability.close());

    const pairs = new TradingPairs({ market: markets.SPOT, wallNow });
    const gateway: Gateway = {
      store,
      desk,
      signals,
      pairs,
      counterfactuals: {
        isRunning: (...order) => Object.values(shadows).some((each) => each.isRunning(...order)),
      },
      markets,
      master,
      budgets,
      observer: observability,
      wallNow,
      newClientOrderId: () => randomBytes(11).toString("hex"),
    };
    const listening = () => server.server.address() as AddressInfo;
    const address = () => config.publicUrl ?? originOf(config, listening().port);
    const dashboard = openDashboard(config, { gateway, observability, isDemo, address, listening, log });
    opened.defer(() => dashboard.close());
    void dashboard.parts.people.mailer.check();
    const documents = createPages(address);
    const probes = createProbes(observability.health);
    const server = createServer(gateway, {
      log,
      certificate,
      proxyHops: config.trustedProxyHops,
      perAddress: perAddress.connections,
      families: [probes, dashboard.family],
      isSecure: isReachedSecurely(config),
      pages: (request) =>
        documents(request) ?? answerToPolling(request.path) ?? dashboard.application(request),
      isUpgrade: isWebSocketUpgrade,
    });
    opened.defer(() => server.close());
    const sourceParts = { market: markets.SPOT, wallClock: systemClock, timers: systemTimers, log };
    const addressOf = (request: IncomingMessage) => addressOfRequest(request, config.trustedProxyHops);
    const streams = createStreams({
      server: server.server,
      store,
      master,
      pairs,
      sources: {
        candles: (audience) => createCandles({ ...sourceParts, ...upstream.feedOptions, audience }),
        depth: (audience) => createDepth({ ...sourceParts, ...upstream.feedOptions, audience }),
      },
      addressOf,
      onKeyUsed(keyId, namespace, request) {
        const address = addressOf(request);
        observability.keyUses.note(keyId, wallNow(), address, "stream", namespace);
      },
      onRefused: (refused) => observability.handshakeRefused(refused),
      perAddress: perAddress.streams,
      wallNow,
      timers: systemTimers,
      log,
    });
    opened.defer(() => streams.close());
    const keyChecks = opened.adopt(new KeyChecks({ store, every, log }), close);
    const userStreams = new UserStreams({
      store,
      desk,
      markets,
      isShared: config.databaseUrl !== null,
      timers: systemTimers,
      wallNow,
      log,
    });
    opened.defer(() => userStreams.close());
    const listenKeys = opened.adopt(
      new ListenKeys({ store, userStreams, keyChecks, every, wallNow, log }),
      close,
    );
    const privateParts = { listenKeys, timers: systemTimers, log };
    const sockets = new Sockets({
      server: server.server,
      endpoints: [
        createPrivateEndpoint(privateParts),
        ...createMarketEndpoints({
          markets,
          listenKeysOf: (query) => listenKeyNames(query, privateParts),
        }),
        ...createWsApi({ gateway, routes: ROUTES, userStreams, keyChecks, log }),
      ],
      addressOf,
      perAddress: perAddress.streams,
      attemptsPerAddress: config.streamAttemptsPerAddress,
      budgets,
      wallNow,
      timers: systemTimers,
      log,
    });
    opened.defer(() => sockets.close());
    const live = await dashboard.openLive(streams, upstream.feedOptions);
    opened.defer(() => live.close());
    const copier = startServersCopier(config, {
      store,
      notices: dashboard.parts.people.notices,
      copyChanged: (copyId) => live.copyChanged(copyId),
      onFatal,
      log,
    });
    if (copier !== null) {
      opened.defer(() => copier.close());
      opened.defer(desk.onCommitted((announcement) => copier.committed(announcement)));
    }
    // Called first at the end.
    opened.defer(() => {
      probes.beginClosing();
      // The server's close waits for all answers.
      desk.endArrivals();
    });
    await listen(server, config);
    // Only now, since secrets are shown once: a start that fails must not use them up.
    const demo = isDemo ? await openDemo(gateway, upstream.clock.now(), upstream.tradable) : null;
    const { tls } = config;
    return {
      /** Where it listens: an origin such as `http://127.0.0.1:8080`. */
      url: address(),
      /** Created and shown once, at the first start of a demo data directory. */
      firstStrategies: demo?.strategies ?? [],
      /** The demo's trader, shown once, when that person was made; null otherwise. */
      demoPassword: demo?.password ?? null,
      /** Triggers found at the start, per type. */
      triggerCounts,
      /** The contents of the recording that serves as the market, in sentences; none for another market. */
      marketContents: upstream.contents,
      /** Reads the certificate's files again, for new connections; null for a service without one. */
      renewCertificate: tls === null ? null : () => renew(server.server, tls, log),
      /** Goes on serving, not ready, for as long as `drainSeconds` says. */
      async drain(): Promise<void> {
        probes.beginClosing();
        await pause(config.drainSeconds * MS_PER_SECOND);
      },
      /** Answers what has been accepted, then closes everything. */
      close: (): Promise<void> => opened.disposeAsync(),
    };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

function originOf({ tls, host }: Config, port: number): string {
  return `${tls === null ? "http" : "https"}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The service's known host names: that of PUBLIC_URL and that of HOST. */
function hostNamesOf(config: Config): readonly string[] {
  const own = [originOf(config, config.port), ...(config.publicUrl === null ? [] : [config.publicUrl])];
  return own.map((origin) => new URL(origin).hostname);
}

/** A pair of files that cannot be used leaves the service with the certificate that it has. */
function renew(server: Server, files: TlsFiles, log: Logger): void {
  try {
    renewCertificate(server, readCertificate(files));
    log.info("the certificate was read again");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.error({ reason }, "the certificate was read again and cannot be used; the old one stays");
  }
}

async function diskOf(directory: string): Promise<DiskFigures> {
  const { bavail, blocks, bsize } = await statfs(directory);
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

async function listen(
  server: { listen(options: { host: string; port: number }): Promise<unknown> },
  { host, port }: Config,
): Promise<void> {
  try {
    // By its name a second server would be opened for the other version of IP, without our handlers of
    // garbage.
    await server.listen({ host: host === "localhost" ? "127.0.0.1" : host, port });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code === "EADDRINUSE") throw new ServiceError(`port ${port} is taken: choose another with --port`);
    if (code === "EACCES")
      throw new ServiceError(`port ${port} may not be used: choose one above 1023 with --port`);
    if (code === "ENOTFOUND" || code === "EADDRNOTAVAIL") {
      throw new ConfigError(`HOST ${host} is no address of this machine: choose another with --host`);
    }
    throw error;
  }
}
