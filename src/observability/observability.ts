// Observability of this process: the last requests of each key with the reason if they were refused, the
// traffic of each route, the last use of keys, and the service's health.
//
// The pipelines report every request through `received` and `answered`. Both are on the hot path: they write
// into preallocated places and leave expensive work, such as a diagnosis, for after the answer.
import type { Logger } from "pino";
import type { Timers } from "../concurrency/time.ts";
import type { StrategyType } from "../domain/account.ts";
import type { BoundKey } from "../domain/strategy.ts";
import { type MasterKey, MasterVersionMissing } from "../keys/master-key.ts";
import type { MarketFeed } from "../market/client/feed.ts";
import type { Budgets } from "../rate-limits/budgets.ts";
import { type Store, StoreFailure, StoreUnavailable } from "../store/store.ts";
import { unexamined } from "./diagnosis.ts";
import type { DiskSpace } from "./disk-space.ts";
import { EventLoop } from "./event-loop.ts";
import { Explanations } from "./explanations.ts";
import { Health } from "./health.ts";
import { KeyUses } from "./key-uses.ts";
import { type KeyMeters, metersOf } from "./meters.ts";
import { type DroppedCrossings, Metrics, type RefusedConnections, type SlotCounts } from "./metrics.ts";
import { RefusalLog, type RefusedHandshake } from "./refusal-log.ts";
import {
  type FailedCheck,
  headerOf,
  type MetricsAnswer,
  RequestContext,
  type RequestObserver,
  type SeenAnswer,
  type SeenRequest,
} from "./request-context.ts";
import { type NewRequest, RequestLog, shownPath } from "./request-log.ts";
import { Security } from "./security.ts";
import { NO_ROUTE, Traffic } from "./traffic.ts";

export type Observability = RequestObserver & {
  readonly requests: RequestLog;
  readonly traffic: Traffic;
  readonly keyUses: KeyUses;
  readonly health: Health;
  readonly security: Security;
  /** Called with every stream handshake that was refused. */
  handshakeRefused(refused: RefusedHandshake): void;
  /** How much of its budgets a key has used, and until when it is banned. `now` is wall time, Unix ms. */
  meters(apiKey: string, now: number): KeyMeters;
  /** Resolves when all requests refused so far have been diagnosed. */
  explained(): Promise<void>;
  /** Writes what is still in memory; called before the store is closed. */
  close(): Promise<void>;
};

export type ObservabilityDeps = {
  readonly store: Store;
  readonly storeKind: "SQLite" | "PostgreSQL";
  readonly master: MasterKey;
  readonly budgets: Budgets;
  readonly markets: { readonly [T in StrategyType]: Pick<MarketFeed, "status" | "rules"> };
  readonly desk: { isBehind(): boolean; waitingCount(): number };
  /** The disk space monitor; null if there is none. */
  readonly space?: Pick<DiskSpace, "figures" | "databaseBytes" | "isShort"> | null;
  /** Counts of connections refused because their address had too many; zero by default. */
  readonly perAddress?: RefusedConnections;
  /** Counts of the exchange's sockets; zero by default. */
  readonly sockets?: () => { readonly connections: number; readonly accounts: number };
  /** The slots of this server; null, the default, for one with a database of its own. */
  readonly slots?: SlotCounts | null;
  /** What the triggers of each type have dropped; nothing by default. */
  readonly triggers?: DroppedCrossings;
  /** The bearer token that allows reading the metrics from anywhere; null: only from this machine. */
  readonly metricsToken?: string | null;
  /** Host names of the server besides the loopback names, as written in a URL. */
  readonly hostNames?: readonly string[];
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  /** A monotonic clock, ms; the system's by default. */
  readonly monotonicNow?: () => number;
  readonly every: Timers["every"];
  readonly log: Pick<Logger, "warn">;
};

export function createObservability(parts: ObservabilityDeps): Observability {
  const { store, master, budgets, wallNow, monotonicNow = () => performance.now(), every, log } = parts;
  const startedAt = wallNow();
  const requests = new RequestLog(startedAt);
  const traffic = new Traffic(startedAt);
  const keyUses = new KeyUses({ store: store.people, every, log });
  const eventLoop = new EventLoop(every);
  const health = new Health({ ...parts, eventLoop });
  const metrics = new Metrics({
    ...parts,
    traffic,
    perAddress: parts.perAddress ?? { connections: { refusedCount: 0 }, streams: { refusedCount: 0 } },
    sockets: parts.sockets ?? (() => ({ connections: 0, accounts: 0 })),
    slots: parts.slots ?? null,
    triggers: parts.triggers ?? { SPOT: { droppedCrossings: 0 }, FUTURES: { droppedCrossings: 0 } },
    metricsToken: parts.metricsToken ?? null,
    space: parts.space ?? null,
    hostNames: parts.hostNames ?? [],
  });
  const explanations = new Explanations({ store, master, requests, log });
  const refusals = new RefusalLog({ every, log });

  function answered(context: RequestContext, request: SeenRequest, answer: SeenAnswer): void {
    const at = wallNow();
    const latencyMs = monotonicNow() - context.receivedAt;
    const { apiKey, key, failed, path } = context;
    traffic.count(request.method, path ?? NO_ROUTE, answer.status, latencyMs, at);
    refusals.answered(context, request, answer);
    if (apiKey === null) return;
    const seen = { context, request, answer, at, latencyMs };
    if (failed !== null) {
      // Of a flood from one address it is not examined why each request failed.
      if (answer.status !== 429 && answer.status !== 418) noteFailed(apiKey, failed, seen);
    } else if (key !== null) {
      requests.record(apiKey, recordOf(seen), key.strategy?.strategyId ?? null);
      if (path !== null) keyUses.note(key.key.keyId, at, request.address, request.method, path);
    } else if (requests.knows(apiKey)) {
      // A banned key, or an unknown path: the key was not looked up.
      requests.record(apiKey, recordOf(seen));
    }
  }

  function noteFailed(apiKey: string, check: FailedCheck, seen: Seen): void {
    const { context, request, at } = seen;
    const { scheme } = context;
    const record = (bound: BoundKey | null) => {
      const strategyId = bound === null ? undefined : (bound.strategy?.strategyId ?? null);
      const diagnosis = unexamined({ check, request, at });
      const requestId = requests.record(apiKey, { ...recordOf(seen), diagnosis }, strategyId);
      explanations.explain(apiKey, requestId, { check, scheme, key: bound?.key ?? null, request, at });
    };
    if (context.key !== null || requests.knows(apiKey)) record(context.key);
    else explanations.lookUp(apiKey, at, record);
  }

  return {
    requests,
    traffic,
    keyUses,
    health,
    security: new Security({ store, budgets, wallNow }),
    received: () => new RequestContext(monotonicNow()),
    answered,
    failed(context, request, error) {
      const isStore = error instanceof StoreUnavailable || error instanceof StoreFailure;
      const isKeyless = error instanceof MasterVersionMissing;
      const message = isKeyless
        ? "This server cannot check the key yet: its master key file lacks a version."
        : isStore
          ? "The database could not be reached."
          : "Something went wrong on our side.";
      answered(context, request, { status: isStore ? 503 : 500, refusal: { code: null, message } });
    },
    handshakeRefused: (refused) => refusals.handshake(refused),
    metrics: (request): Promise<MetricsAnswer> => metrics.answer(request),
    meters: (apiKey, now) => metersOf(budgets, apiKey, now),
    explained: () => explanations.all(),
    async close() {
      eventLoop.close();
      refusals.close();
      await explanations.all();
      await keyUses.close();
    },
  };
}

type Seen = {
  readonly context: RequestContext;
  readonly request: SeenRequest;
  readonly answer: SeenAnswer;
  readonly at: number;
  readonly latencyMs: number;
};

function recordOf({ context, request, answer, at, latencyMs }: Seen): NewRequest {
  return {
    at,
    method: request.method,
    path: context.path ?? shownPath(request.path),
    status: answer.status,
    code: answer.refusal?.code ?? null,
    isReplay: answer.isReplay === true,
    message: answer.refusal?.message ?? null,
    weight: context.weight,
    latencyMs,
    address: request.address,
    userAgent: headerOf(request, "user-agent"),
    diagnosis: null,
  };
}
