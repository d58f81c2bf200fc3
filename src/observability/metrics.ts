// Prometheus metrics at GET /metrics. Allowed with the token, or from this machine, without a proxy, at one
// of the server's own names. The metrics library is loaded with the first request.
//
// The host name is checked because of DNS rebinding: a site in a browser of this machine could otherwise read
// the metrics.

import { createHash, timingSafeEqual } from "node:crypto";
import { isIPv4 } from "node:net";
import type { Registry } from "prom-client";
import type { StrategyType } from "../domain/account.ts";
import type { MarketFeed } from "../market/client/feed.ts";
import type { Budgets } from "../rate-limits/budgets.ts";
import { addressHolder } from "../rate-limits/holder.ts";
import type { Store } from "../store/store.ts";
import { addCopierMetrics } from "./copier-metrics.ts";
import type { DiskSpace } from "./disk-space.ts";
import { feedsOf } from "./health.ts";
import type { MetricsAnswer } from "./request-context.ts";
import { headerOf, type SeenRequest } from "./request-context.ts";
import { LATENCY_BOUNDS_MS, type RouteCounts, type Traffic } from "./traffic.ts";

export const METRICS_PATH = "/metrics";

/** Connections refused since the start because their address had too many. */
export type RefusedConnections = {
  readonly connections: { readonly refusedCount: number };
  readonly streams: { readonly refusedCount: number };
};

/** How many slots a server owns, and how many of these are not loaded yet, so that their orders wait. */
export type SlotCounts = { counts(): { readonly own: number; readonly unloaded: number } };

/** Crossings of open orders under `strict` that were not sent since the start, since too many waited. */
export type DroppedCrossings = { readonly [T in StrategyType]: { readonly droppedCrossings: number } };

type MetricsParts = {
  readonly store: Pick<Store, "copying" | "waitsForStandby">;
  readonly traffic: Traffic;
  readonly budgets: Budgets;
  readonly markets: { readonly [T in StrategyType]: Pick<MarketFeed, "status"> };
  readonly desk: { isBehind(): boolean; waitingCount(): number };
  readonly space: Pick<DiskSpace, "figures" | "databaseBytes" | "isShort"> | null;
  readonly perAddress: RefusedConnections;
  /** The exchange's sockets: open connections, and the accounts whose user data somebody listens to. */
  readonly sockets: () => { readonly connections: number; readonly accounts: number };
  /** The slots of this server, of those that several share; null for a server with a database of its own. */
  readonly slots: SlotCounts | null;
  readonly triggers: DroppedCrossings;
  readonly metricsToken: string | null;
  /** Host names of the server besides the loopback names, as written in a URL. */
  readonly hostNames: readonly string[];
  readonly wallNow: () => number;
};

/** Headers by which a proxy forwards the client's address. */
const FORWARDING_HEADERS = ["x-forwarded-for", "x-real-ip", "forwarded"];
const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];
/** A name or an address, and a port. Source: RFC 9110, section 7.2. */
const HOST = /^(\[[^\]]+\]|[^:]+)(?::[0-9]*)?$/;
const TEXT = "text/plain; charset=utf-8";

export class Metrics {
  readonly #parts: MetricsParts;
  #registry: Promise<Registry> | null = null;

  constructor(parts: MetricsParts) {
    this.#parts = parts;
  }

  async answer(request: SeenRequest): Promise<MetricsAnswer> {
    const { metricsToken, budgets, wallNow } = this.#parts;
    const token = /^Bearer (\S+)$/i.exec(headerOf(request, "authorization"))?.[1] ?? null;
    if (token !== null && metricsToken !== null) {
      if (!isSame(token, metricsToken)) {
        const flood = budgets.chargeFailure(addressHolder(request.address), wallNow());
        if (flood === null)
          return refusal(401, "This is not METRICS_TOKEN.", { "www-authenticate": "Bearer" });
        return refusal(429, "Too many requests.", { "retry-after": String(flood.retryAfterSeconds) });
      }
    } else if (!isFromThisMachine(request)) {
      const how = metricsToken === null ? "Set METRICS_TOKEN" : "Send METRICS_TOKEN as bearer token";
      return refusal(403, `Metrics are for this machine alone. ${how} to ask from elsewhere.`);
    } else if (!this.#isAtOwnName(request)) {
      return refusal(
        403,
        "Metrics are not at this name. Ask at localhost, or at a name of the server's own.",
      );
    }
    this.#registry ??= registryOf(this.#parts);
    const registry = await this.#registry;
    return {
      status: 200,
      headers: { "cache-control": "no-store" },
      body: await registry.metrics(),
      contentType: registry.contentType,
    };
  }

  #isAtOwnName(request: SeenRequest): boolean {
    const name = HOST.exec(headerOf(request, "host"))?.[1]?.toLowerCase();
    return name !== undefined && [...LOOPBACK_NAMES, ...this.#parts.hostNames].includes(name);
  }
}

function refusal(
  status: number,
  says: string,
  headers: Readonly<Record<string, string>> = {},
): MetricsAnswer {
  return {
    status,
    headers: { "cache-control": "no-store", ...headers },
    body: `${says}\n`,
    contentType: TEXT,
  };
}

/**
 * Behind a proxy on this machine every request has a loopback address: a forwarded request is not from this
 * machine.
 */
function isFromThisMachine(request: SeenRequest): boolean {
  if (FORWARDING_HEADERS.some((name) => request.headers[name] !== undefined)) return false;
  const address = request.address.replace(/^::ffff:/i, "");
  return address === "::1" || (isIPv4(address) && address.startsWith("127."));
}

function isSame(one: string, other: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(one), hash(other));
}

async function registryOf(parts: MetricsParts): Promise<Registry> {
  const { store, traffic, markets, desk, space, perAddress, sockets, slots, triggers, wallNow } = parts;
  const { collectDefaultMetrics, Counter, Gauge, Registry } = await import("prom-client");
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  const feedGauge = (
    name: string,
    help: string,
    /** Null for a type without a present value: its series is absent. */
    read: (feed: ReturnType<typeof feedsOf>[number]) => number | null,
  ) =>
    new Gauge({
      name,
      help,
      registers,
      labelNames: ["family"],
      collect() {
        for (const feed of feedsOf(markets)) {
          const reading = read(feed);
          if (reading === null) this.remove({ family: feed.family });
          else this.set({ family: feed.family }, reading);
        }
      },
    });
  gauge("lyrebird_desk_commands_waiting", "Commands that wait for their turn or are under way.", () =>
    desk.waitingCount(),
  );
  gauge(
    "lyrebird_desk_is_behind",
    "1 while commands of clients are refused, since commits wait too long.",
    () => (desk.isBehind() ? 1 : 0),
  );
  new Gauge({
    name: "lyrebird_database_waits_for_standby",
    help: "1 if commits wait for a standby (synchronous_standby_names); absent for the embedded database, or if unknown.",
    registers,
    async collect() {
      const waits = await store.waitsForStandby().catch(() => null);
      if (waits === null) this.remove({});
      else this.set(waits ? 1 : 0);
    },
  });
  if (space !== null) {
    gauge("lyrebird_database_size_bytes", "The database on its disk.", () => space.databaseBytes ?? 0);
    gauge("lyrebird_disk_is_short", "1 while what is new is refused, since the disk is nearly full.", () =>
      space.isShort() ? 1 : 0,
    );
    const { figures } = space;
    if (figures !== null) {
      const now = () => space.figures ?? figures;
      gauge("lyrebird_disk_free_bytes", "Free on the data directory's disk.", () => now().freeBytes);
      gauge("lyrebird_disk_size_bytes", "The data directory's disk.", () => now().totalBytes);
    }
  }
  feedGauge(
    "lyrebird_feed_connected",
    "1 while every stream of the market is open and what it sends comes in time.",
    (feed) => (feed.isConnected && !feed.isLate ? 1 : 0),
  );
  feedGauge(
    "lyrebird_feed_age_seconds",
    "How old the newest market data is, by the exchange's own time; absent while nobody uses its market.",
    (feed) => (feed.dataAgeMs === null ? null : feed.dataAgeMs / 1_000),
  );
  feedGauge(
    "lyrebird_feed_untradable",
    "1 while no order can be taken, since the recording that serves as the market has ended or has no mark prices.",
    (feed) => (feed.untradable === null ? 0 : 1),
  );
  feedGauge(
    "lyrebird_feed_stale_symbols",
    "Symbols in use without a price.",
    (feed) => feed.staleSymbols.length,
  );
  if (slots !== null) {
    gauge("lyrebird_slots_own", "Slots of strategies that this server owns.", () => slots.counts().own);
    gauge(
      "lyrebird_slots_unloaded",
      "Of them those whose open orders and positions are not loaded yet: nothing triggers them.",
      () => slots.counts().unloaded,
    );
  }
  gauge("lyrebird_sockets", "Open connections of the exchange's own sockets.", () => sockets().connections);
  gauge(
    "lyrebird_user_stream_accounts",
    "Accounts whose user data is listened to over sockets.",
    () => sockets().accounts,
  );
  new Counter({
    name: "lyrebird_connections_refused_total",
    help: "Connections that were refused since their address had too many open: of any kind, or WebSockets.",
    registers,
    labelNames: ["kind"],
    collect() {
      this.reset();
      this.inc({ kind: "any" }, perAddress.connections.refusedCount);
      this.inc({ kind: "stream" }, perAddress.streams.refusedCount);
    },
  });
  new Counter({
    name: "lyrebird_crossings_dropped_total",
    help: "Changes of a book that crossed an open order under strict and were not sent, since too many waited.",
    registers,
    labelNames: ["family"],
    collect() {
      this.reset();
      for (const type of ["SPOT", "FUTURES"] as const) {
        this.inc({ family: type }, triggers[type].droppedCrossings);
      }
    },
  });
  addCopierMetrics(registry, Gauge, { store, wallNow });
  // The library accepts any object with `get` as a metric; its types do not say so.
  registry.registerMetric(requestDurations(traffic) as unknown as Parameters<Registry["registerMetric"]>[0]);
  return registry;
}

/** The traffic counters as a histogram. */
function requestDurations(traffic: Traffic) {
  const name = "lyrebird_http_request_duration_seconds";
  return {
    name,
    async get() {
      return {
        name,
        help: "How long requests took from their receipt to their answer.",
        type: "histogram",
        aggregator: "sum",
        values: traffic.routes().flatMap((route) => valuesOf(name, route)),
      };
    },
  };
}

function valuesOf(name: string, { method, path, classes }: RouteCounts) {
  return classes.flatMap(({ name: status, buckets, count, sumMs }) => {
    const labels = { method, route: path, status };
    let upTo = 0;
    const rows = LATENCY_BOUNDS_MS.map((boundMs, bucket) => {
      upTo += buckets[bucket] ?? 0;
      return {
        metricName: `${name}_bucket`,
        labels: { le: String(boundMs / 1_000), ...labels },
        value: upTo,
      };
    });
    return [
      ...rows,
      { metricName: `${name}_bucket`, labels: { le: "+Inf", ...labels }, value: count },
      { metricName: `${name}_sum`, labels, value: sumMs / 1_000 },
      { metricName: `${name}_count`, labels, value: count },
    ];
  });
}
