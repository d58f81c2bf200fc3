/**
 * The reference exchange's public protocol on a loopback port, in front of any market (reference sections 5,
 * 9, 17). One port serves both types: REST by path, spot streams at `/ws` and `/stream`, futures streams at
 * `/public/…` and `/market/…`; below `/futures` the same, and unrouted as well, since unrouted alone would
 * mean spot. Times are market time, from the clock; with `manual` nothing is sent until `pump` is called, and
 * no timer runs.
 * Deliberately missing: streams that the sources cannot answer for (`forceOrder`, `rpiDepth`, indices,
 * contract information), weights and bans, the 24-hour lifetime of a connection, the limit of inbound
 * messages a second.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import type { StrategyType } from "../../domain/account.ts";
import { Connection, type StreamRoute } from "./connection.ts";
import { createFaults, type FaultTarget } from "./faults.ts";
import { createHub, type Hub } from "./hub.ts";
import { answerRest, type Markets } from "./rest.ts";

/** Market time in Unix ms. */
export type Clock = { now(): number };

export type ExchangeOptions = {
  readonly markets: Markets;
  readonly clock: Clock;
  /** 0, the default, takes any free port. */
  readonly port?: number | undefined;
  /** No timers: the caller pumps. */
  readonly manual?: boolean | undefined;
  /** How far back a late pump reaches, in ms of market time; what is older is not sent. */
  readonly catchUpMsMax?: number | undefined;
};

const pumpEveryMs = 50;
/** Source: reference section 17.1. */
const pingEveryMs = 20_000;
const catchUpMsMaxUsual = 5 * 60_000;
/** A clock that goes back by more than this has been set. */
const clockBackMsMax = 1_000;
// A late pump goes through its time in steps of this length, all symbols abreast.
const sliceMs = 1_000;
const connectionsMax = 512;
const inboundBytesMax = 64 * 1024;
const host = "127.0.0.1";

export type Exchange = Awaited<ReturnType<typeof openExchange>>;

export async function openExchange(options: ExchangeOptions) {
  const { markets, clock, manual = false, catchUpMsMax = catchUpMsMaxUsual } = options;
  const silences = createFaults();
  const refusals = createFaults();
  const spotHub = createHub(markets.SPOT, silences);
  const futuresHub = createHub(markets.FUTURES, silences);
  const hubs = [spotHub, futuresHub];
  const connections = new Set<Connection>();
  let isRefusingConnections = false;
  // The instant of opening itself is still to be sent.
  let sentUntil = Math.floor(clock.now()) - 1;

  const server = createServer((request, response) => {
    request.resume();
    respond(request, response);
  });
  const acceptor = new WebSocketServer({
    noServer: true,
    maxPayload: inboundBytesMax,
    perMessageDeflate: false,
  });
  server.on("upgrade", (request, socket, head) => upgrade(request, socket as Socket, head));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, host, resolve);
  });
  const timers = manual ? [] : [setInterval(pump, pumpEveryMs), setInterval(pingAll, pingEveryMs)];
  for (const timer of timers) timer.unref();
  const { port } = server.address() as AddressInfo;

  return {
    /** Origins; a client appends `/api/v3/…` and `/fapi/v1/…`. */
    spotRestUrl: `http://${host}:${port}`,
    futuresRestUrl: `http://${host}:${port}`,
    /** A client appends `/ws/…` or `/stream?streams=…`, for futures after `/public` or `/market`. */
    spotWsUrl: `ws://${host}:${port}`,
    futuresWsUrl: `ws://${host}:${port}/futures`,
    /** Sends everything that is due by now. */
    pump,
    /**
     * An outage of a symbol, a type or everything: streams are silent, and REST answers 503 to requests that
     * name it.
     */
    silence(target: FaultTarget = "all") {
      silences.strike(target);
      refusals.strike(target);
    },
    /**
     * Ends every kind of outage of the target; without one, all of them. Messages due during the outage are
     * not sent.
     */
    resume(target: FaultTarget = "all") {
      silences.lift(target);
      refusals.lift(target);
    },
    /** The same for streams alone; connections stay open and answer pings. */
    silenceStreams: (target: FaultTarget = "all") => silences.strike(target),
    resumeStreams: (target: FaultTarget = "all") => silences.lift(target),
    /** The same for REST alone. */
    refuseRest: (target: FaultTarget = "all") => refusals.strike(target),
    resumeRest: (target: FaultTarget = "all") => refusals.lift(target),
    /** Answers every attempt to open a stream with 503 while refusing; open ones stay. */
    refuseConnections(isRefusing: boolean) {
      isRefusingConnections = isRefusing;
    },
    /** Cuts every stream connection without a goodbye. */
    dropConnections,
    /** Announces to every stream connection that it is about to end. Source: reference section 17.1. */
    announceShutdown() {
      const payload = JSON.stringify({ e: "serverShutdown", E: Math.floor(clock.now()) });
      for (const connection of connections) connection.send("!serverShutdown", payload);
    },
    /**
     * Sends `data` (an object, or JSON as text) as the payload of a stream to its subscribers of a type,
     * spot by default: a crossed book, an old update id. Silences do not hold it back.
     */
    sendRaw(stream: string, data: unknown, type: StrategyType = "SPOT") {
      (type === "SPOT" ? spotHub : futuresHub).sendRaw(stream, data);
    },
    /** Stops everything and destroys what is open. */
    close(): Promise<void> {
      for (const timer of timers) clearInterval(timer);
      dropConnections();
      acceptor.close();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };

  function pump(): void {
    const now = Math.floor(clock.now());
    // The market continues from the earlier time, and its ids go back; clients that reconnect accept them at
    // once.
    if (now < sentUntil - clockBackMsMax) {
      sentUntil = now;
      dropConnections();
    }
    let from = Math.max(sentUntil, now - catchUpMsMax);
    while (from < now) {
      const until = Math.min(from + sliceMs, now);
      for (const hub of hubs) hub.send(from, until);
      from = until;
    }
    sentUntil = Math.max(sentUntil, now);
  }

  function pingAll(): void {
    for (const connection of connections) connection.ping();
  }

  function dropConnections(): void {
    for (const connection of connections) connection.terminate();
  }

  function respond(request: IncomingMessage, response: ServerResponse): void {
    const { status, body } = answerRest({
      markets,
      refusals,
      method: request.method ?? "GET",
      target: request.url ?? "/",
      at: Math.floor(clock.now()),
    });
    response.writeHead(status, {
      "content-type": "application/json;charset=UTF-8",
      "content-length": Buffer.byteLength(body),
    });
    response.end(body);
  }

  function upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.on("error", () => socket.destroy());
    const place = placeOf(request.url ?? "/");
    if (isRefusingConnections || connections.size >= connectionsMax) {
      turnAway(socket, "503 Service Unavailable");
    } else if (!place) {
      turnAway(socket, "404 Not Found");
    } else {
      const hub = place.type === "SPOT" ? spotHub : futuresHub;
      acceptor.handleUpgrade(request, socket, head, (webSocket) => connect(webSocket, hub, place));
    }
  }

  function connect(socket: WebSocket, hub: Hub, place: Place): void {
    const connection = new Connection(socket, { hub, route: place.route, isCombined: place.isCombined });
    connections.add(connection);
    socket.on("close", () => connections.delete(connection));
    const fault = connection.subscribe(place.streams);
    if (fault !== null) socket.close(1008, fault);
  }
}

type Place = {
  readonly type: StrategyType;
  readonly route: StreamRoute;
  readonly isCombined: boolean;
  readonly streams: readonly string[];
};

// `/ws/<a>/<b>` and `/stream?streams=<a>/<b>`, below `/futures`, `/futures/public` or `/futures/market` for
// futures.
function placeOf(target: string): Place | undefined {
  const [path = "", query] = target.split("?", 2);
  const match = /^(\/futures)?(?:\/(public|market))?\/(?:(stream)|ws)(?:\/(.*))?$/.exec(path);
  if (!match) return undefined;
  const [, prefix, branch, combined, names = ""] = match;
  const isFutures = prefix !== undefined || branch !== undefined;
  const listed = combined ? (new URLSearchParams(query).get("streams") ?? "") : names;
  return {
    type: isFutures ? "FUTURES" : "SPOT",
    route: branch === "public" || branch === "market" ? branch : "plain",
    isCombined: combined !== undefined,
    streams: listed.split("/").filter((name) => name !== ""),
  };
}

function turnAway(socket: Socket, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`, () => socket.destroy());
}
