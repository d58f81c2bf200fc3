// The endpoint of futures user data, `/private`: a listen key in the path, in the query, or subscribed to.
// Connections of the older, unrouted addresses use the same names through `listenKeyNames`.
// Source: reference sockets, sections 1 and 7.2.
import type { Logger } from "pino";
import { type Timers, waitAtMost } from "../concurrency/time.ts";
import { StoreUnavailable } from "../store/store.ts";
import { FUTURES_PING, STREAMS_OPENING_MS_MAX } from "./limits.ts";
import { type EndOfStream, endedStream, type ListenKeys, type OpenStream } from "./listen-keys.ts";
import type { Endpoint } from "./server.ts";
import { type OwnNames, type OwnStream, serveStreams } from "./stream-session.ts";

export type PrivateStreamsParts = {
  readonly listenKeys: Pick<ListenKeys, "open">;
  readonly timers: Timers;
  readonly log: Pick<Logger, "warn" | "error">;
};

/** Names of listen keys on a connection: those that its query names, and the streams of all. */
export type ListenKeyNames = { readonly asked: readonly string[]; readonly ownNames: OwnNames };

const PATH = /^\/private\/(?:ws(?:\/(?<names>.*))?|(?<combined>stream)\/?)$/;
/** What may be a listen key among names of streams; every other name is accepted in silence. */
const LISTEN_KEY = /^[A-Za-z0-9]{20,100}$/;

/** Close code and reason by how a stream ends. */
const CLOSES: { readonly [Reason in EndOfStream]: readonly [code: number, reason: string] } = {
  UNKNOWN: [1_008, "This listenKey does not exist."],
  NOT_OPENED: [1_011, "the listenKey could not be looked up: connect again"],
  TOO_MANY: [1_008, "this API key has too many user data streams"],
  CLOSED: [1_000, "the listenKey was closed"],
  KEY_ENDED: [1_008, "the API key or its strategy has ended"],
  EVENTS_LOST: [1_011, "events were lost: connect again"],
};

export function createPrivateEndpoint(parts: PrivateStreamsParts): Endpoint {
  return {
    ping: FUTURES_PING,
    takes: (path) => PATH.test(path),
    open({ path, query, address }) {
      const { names = "", combined } = PATH.exec(path)?.groups ?? {};
      const { asked, ownNames } = listenKeyNames(query, parts);
      const streams = new URLSearchParams(query).get("streams") ?? "";
      const inAddress = `${decoded(names)}/${streams}`.split("/").filter((name) => name !== "");
      const isCombined = combined !== undefined;
      return serveStreams([...asked, ...inAddress], { address, isCombined, market: null, ownNames });
    },
  };
}

/** The listen keys of a connection; `events` in its query says which events it gets. */
export function listenKeyNames(
  query: string,
  { listenKeys, timers, log }: PrivateStreamsParts,
): ListenKeyNames {
  const parameters = new URLSearchParams(query);
  const asked = parameters.getAll("listenKey").filter((listenKey) => listenKey !== "");
  const wants = filterOf(parameters.getAll("events"));
  const open = async (listenKey: string): Promise<OpenStream> => {
    if (!LISTEN_KEY.test(listenKey)) return endedStream("UNKNOWN");
    let stream: OpenStream = (user) => {
      log.warn({ waitedMs: STREAMS_OPENING_MS_MAX }, "a user data stream was not opened in time");
      return endedStream("NOT_OPENED")(user);
    };
    const opening = listenKeys.open(listenKey).then(
      (opened) => {
        stream = opened;
      },
      (error: unknown) => {
        if (error instanceof StoreUnavailable)
          log.warn({ reason: error.message }, "a listen key could not be looked up");
        else log.error({ err: error }, "a user data stream could not be opened");
        stream = endedStream("NOT_OPENED");
      },
    );
    await waitAtMost(timers, STREAMS_OPENING_MS_MAX, opening);
    return stream;
  };
  const streamOf = async (listenKey: string): Promise<OwnStream> => {
    const stream = await open(listenKey);
    return ({ send, close }) =>
      stream({
        onEvent: ({ name, text }) => {
          if (wants(name)) send(text);
        },
        onExpired: (at) => send(JSON.stringify({ e: "listenKeyExpired", E: at, listenKey })),
        onEnd: (reason) => close(...CLOSES[reason]),
      });
  };
  return {
    asked,
    ownNames: (name) => (LISTEN_KEY.test(name) || asked.includes(name) ? streamOf(name) : null),
  };
}

/** Which events a list such as `ORDER_TRADE_UPDATE/ALGO_UPDATE` lets through; without one, all. */
function filterOf(lists: readonly string[]): (name: string) => boolean {
  const names = lists.flatMap((list) => list.split(/[/,]/)).filter((name) => name !== "");
  if (names.length === 0) return () => true;
  const wanted = new Set(names.map((name) => (name === "ALGO_ORDER_UPDATE" ? "ALGO_UPDATE" : name)));
  return (name) => wanted.has(name);
}

/** A percent-encoded text; as it is if it is none. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
