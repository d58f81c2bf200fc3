// The dashboard's live connection: a Socket.IO namespace beside the bots' streams, for people who are signed
// in. It notifies them of committed changes of their own strategies and copies, and sends market data.
// A connection is admitted by its session cookie, and only from the dashboard's own origin. Messages sent
// before that are ignored. Messages are handled in order and acknowledged on request: after the
// acknowledgment no change of a watched strategy is missed. Sessions are checked periodically; a connection
// whose session has ended is refused and disconnected.

import type { IncomingMessage } from "node:http";
import type { Logger } from "pino";
import type { Socket } from "socket.io";
import { PeriodicTask } from "../../concurrency/periodic-task.ts";
import type { Desk } from "../../desk/desk.ts";
import type { StrategyType } from "../../domain/account.ts";
import type { Observability } from "../../observability/observability.ts";
import type { Accounts } from "../../people/accounts.ts";
import type { Signals } from "../../signals/signals.ts";
import { type Store, StoreUnavailable } from "../../store/store.ts";
import type { SharedNamespace } from "../../streams/server.ts";
import { isOwnOrigin } from "../origin.ts";
import { type ChangedPart, CLIENT_MESSAGES, type ServerMessages } from "../schemas/live.ts";
import { ALL_PARTS, Changes, partsOf } from "./changes.ts";
import { CopyTeller } from "./copies.ts";
import { HEARTBEAT_EVERY_MS, SESSIONS_CHECKED_EVERY_MS, VERSIONS_CHECKED_EVERY_MS } from "./limits.ts";
import { messageOf, NAMESPACE, reached, refusalOf } from "./messages.ts";
import { createSources, type SourcesParts } from "./sources.ts";
import { Topics } from "./topics.ts";
import { Versions } from "./versions.ts";
import type { Viewer } from "./viewers.ts";
import { Viewers } from "./viewers.ts";

export type LiveParts = Omit<SourcesParts, "markets" | "log"> & {
  readonly streams: { share(name: string): SharedNamespace };
  readonly store: Pick<Store, "people" | "copying" | "onCommittedElsewhere" | "watchStrategy" | "versionsOf">;
  readonly desk: Pick<Desk, "onCommitted">;
  readonly accounts: Pick<Accounts, "sessionOf" | "lastingSessions" | "onSessionsEnded">;
  readonly requests: Pick<Observability["requests"], "onNews">;
  readonly signals: Pick<Signals, "onNews">;
  readonly markets: {
    readonly [T in StrategyType]: SourcesParts["markets"][T] & {
      rules(symbol: string): object | null;
    };
  };
  /** The dashboard's own origins, once the server listens. */
  readonly origins: () => ReadonlySet<string>;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly log: Logger;
};

export type Live = {
  /** Notifies the viewers of a copy at once that a change of it is durable. */
  copyChanged(copyId: string): void;
  /** Ends all notifications. Call it before the streams are closed, which ends the connections. */
  close(): Promise<void>;
};

type Refused = ServerMessages["refused"];
const HEARTBEAT = messageOf("heartbeat", {});
type LetIn = { readonly personId: string; readonly sessionId: string };

/** Opens the namespace. */
export async function openLive(parts: LiveParts): Promise<Live> {
  const { store, desk, accounts, requests, signals, markets, origins, timers, wallNow, log } = parts;
  const shared = parts.streams.share(NAMESPACE);
  const viewers = new Viewers(store.watchStrategy);
  const sources = createSources(parts, () => topics);
  const topics = new Topics({ wallClock: parts.wallClock, follow: (topic) => sources.follow(topic) });
  const changes = new Changes({
    timers,
    tell(strategyId, what) {
      const message = messageOf("changed", { strategyId, what });
      // A slow viewer gets equal changes only once.
      const name = `changed ${strategyId} ${what.join()}`;
      for (const { line } of viewers.strategies.watchersOf(strategyId)) line.sendNewest(name, message);
    },
  });
  const versions = new Versions({
    store,
    isWatched: (strategyId) => viewers.strategies.isWatched(strategyId),
    onMoved: (strategyId) => changes.note(strategyId, ALL_PARTS),
    onFault: (error) => logFault(error, "the versions of strategies could not be looked up"),
  });
  const copies = new CopyTeller({
    store,
    timers,
    onFault: (error) => logFault(error, "the revisions of copies could not be looked up"),
  });

  async function letIn({ handshake, conn }: Socket): Promise<LetIn | Refused> {
    const cookie = takeCookie(conn.request);
    const { origin, "user-agent": userAgent = "" } = handshake.headers;
    if (!isOwnOrigin(origin, origins())) return refusalOf("ORIGIN_REFUSED");
    try {
      const caller = { address: handshake.address, userAgent, cookies: cookie };
      const session = await accounts.sessionOf(caller, wallNow(), { isUse: false });
      if (session === null) return refusalOf("NOT_SIGNED_IN");
      return { personId: session.person.personId, sessionId: session.sessionId };
    } catch (error) {
      if (conn.readyState === "open") logFault(error, "a live connection could not be checked");
      return refusalOf("BUSY");
    }
  }

  function logFault(error: unknown, what: string): void {
    if (error instanceof StoreUnavailable) log.warn({ reason: error.message }, what);
    else log.error({ err: error }, what);
  }

  async function handle(viewer: Viewer, name: string, payload: unknown): Promise<Refused | null> {
    if (name === "watch" || name === "unwatch") {
      const read = CLIENT_MESSAGES.watch.safeParse(payload);
      if (!read.success) return refusalOf("BODY_UNFIT");
      const { strategyId } = read.data;
      if (name === "watch") return await watch(viewer, strategyId);
      viewers.strategies.unwatch(viewer, strategyId);
      return null;
    }
    if (name === "watchCopy" || name === "unwatchCopy") {
      const read = CLIENT_MESSAGES.watchCopy.safeParse(payload);
      if (!read.success) return refusalOf("BODY_UNFIT");
      if (name === "watchCopy") return await copies.watch(viewer, read.data.copyId);
      copies.unwatch(viewer, read.data.copyId);
      return null;
    }
    if (name !== "follow" && name !== "unfollow")
      return refusalOf("BODY_UNFIT", `There is no message ${JSON.stringify(name.slice(0, 40))}.`);
    const read = CLIENT_MESSAGES.follow.safeParse(payload);
    if (!read.success) return refusalOf("BODY_UNFIT");
    const topic = read.data;
    if (name === "unfollow") {
      topics.unfollow(viewer, topic);
      return null;
    }
    if (markets[topic.family].rules(topic.symbol) === null) return refusalOf("NOT_FOUND");
    const bound = topics.follow(viewer, topic);
    return bound === null ? null : reached(bound);
  }

  async function handled(viewer: Viewer, name: string, payload: unknown): Promise<Refused | null> {
    try {
      return await handle(viewer, name, payload);
    } catch (error) {
      logFault(error, "a live message could not be handled");
      return refusalOf(error instanceof StoreUnavailable ? "BUSY" : "FAULT");
    }
  }

  async function watch(viewer: Viewer, strategyId: string): Promise<Refused | null> {
    const strategy = await store.people.findStrategy(strategyId);
    if (strategy === null || strategy.ownerId !== viewer.personId) return refusalOf("NOT_FOUND");
    await versions.begin(strategyId);
    if (!viewer.isConnected) return null;
    return viewers.strategies.watch(viewer, strategyId) ? null : reached("WATCHES_MAX");
  }

  function take(socket: Socket, who: LetIn): void {
    const viewer = viewers.open(socket, who);
    if (typeof viewer === "string") return void refuse(socket, reached(viewer));
    shared.joined(socket);
    beat(viewer);
    /** The message before; messages are handled in the order of arrival. */
    let before = Promise.resolve();
    socket.onAny((name: string, payload: unknown, acknowledge: unknown) => {
      if (!viewer.admits(wallNow())) return void viewer.refuse(refusalOf("TOO_MANY_REQUESTS"));
      before = before.then(async () => {
        if (!socket.connected) return;
        const refusal = await handled(viewer, name, payload);
        if (refusal !== null) viewer.refuse(refusal);
        if (typeof acknowledge === "function") acknowledge(refusal);
      });
    });
    socket.on("disconnect", () => {
      topics.drop(viewer);
      copies.drop(viewer);
      viewers.close(viewer);
      shared.left(socket);
    });
  }

  shared.namespace.use((socket, next) => {
    void letIn(socket).then((handshake) => {
      socket.data = handshake;
      next();
    });
  });
  shared.namespace.on("connection", (socket: Socket) => {
    const handshake: LetIn | Refused = socket.data;
    if ("code" in handshake) refuse(socket, handshake);
    else take(socket, handshake);
  });

  const sessionChecks = new PeriodicTask({
    every: timers.every,
    intervalMs: SESSIONS_CHECKED_EVERY_MS,
    async task() {
      const ended = await endedSessions(viewers.all(), accounts, wallNow());
      for (const viewer of ended) viewer.end(refusalOf("NOT_SIGNED_IN"));
    },
    onError: (error) => logFault(error, "the sessions of live connections could not be looked up"),
  });

  const note = (strategyId: string, what: readonly ChangedPart[]) => {
    if (viewers.strategies.isWatched(strategyId)) changes.note(strategyId, what);
  };
  const lookAtAll = () => versions.look(viewers.strategies.watched());
  const releases = [
    timers.every(VERSIONS_CHECKED_EVERY_MS, lookAtAll),
    timers.every(HEARTBEAT_EVERY_MS, () => viewers.all().forEach(beat)),
    accounts.onSessionsEnded(() => void sessionChecks.run()),
    desk.onCommitted(({ strategyId, version, events }) => {
      // This runs for every order, and most strategies have no viewers.
      if (viewers.strategies.isWatched(strategyId)) changes.note(strategyId, partsOf(events));
      versions.told(strategyId, version);
    }),
    requests.onNews((strategyId) => note(strategyId, ["requests"])),
    signals.onNews((strategyId) => note(strategyId, ["signals"])),
  ];
  // The version makes sure that viewers are notified once of another server's commit, whether a notification
  // or a poll finds it.
  const stopListening = await store.onCommittedElsewhere({
    committed(strategies) {
      const ids = strategies.map(({ strategyId }) => strategyId);
      versions.look(ids.filter((strategyId) => viewers.strategies.isWatched(strategyId)));
    },
    lost() {},
    resumed: lookAtAll,
  });
  return {
    copyChanged: (copyId) => copies.changed(copyId),
    async close() {
      for (const release of releases) release();
      const checked = sessionChecks.close();
      await stopListening();
      await versions.close();
      await copies.close();
      changes.close();
      sources.close();
      await checked;
    },
  };
}

function beat({ line }: Viewer): void {
  line.sendNewest("heartbeat", HEARTBEAT);
}

/**
 * Sends the refusal and disconnects. After BUSY and FAULT only the transport is closed, as in a network
 * failure, so that the client connects again.
 */
function refuse(socket: Socket, refusal: Refused): void {
  socket.emit("refused", refusal);
  if (refusal.code === "BUSY" || refusal.code === "FAULT") socket.conn.close();
  else socket.disconnect();
}

// The cookie of the request that opens a live connection. Socket.IO holds that request as long as the
// connection lasts, so the session cookie is removed from it when it is read.

/**
 * Removes the cookies from a request and answers them. Null if there are none, as when a client leaves the
 * namespace and joins again over the same connection; a browser opens a new connection.
 */
export function takeCookie(request: Pick<IncomingMessage, "headers" | "rawHeaders">): string | null {
  const { cookie = null } = request.headers;
  delete request.headers.cookie;
  // Names and values alternate.
  request.rawHeaders = request.rawHeaders.filter((_, index, all) => !isCookie(all[index - (index % 2)]));
  return cookie;
}

function isCookie(name: string | undefined): boolean {
  return name?.toLowerCase() === "cookie";
}

// Sessions that end while their browser is connected. One query checks those of all connections.

/** The viewers whose session has ended by `now`, wall time in Unix ms. */
export async function endedSessions(
  viewers: readonly Viewer[],
  accounts: Pick<Accounts, "lastingSessions">,
  now: number,
): Promise<readonly Viewer[]> {
  if (viewers.length === 0) return [];
  const lasting = await accounts.lastingSessions(
    [...new Set(viewers.map(({ sessionId }) => sessionId))],
    now,
  );
  return viewers.filter(({ sessionId }) => !lasting.has(sessionId));
}
