// The one live connection of the signed-in person: Socket.IO over a websocket, opened by its first user.
// Subscriptions are counted, so that two parts of a page share one. After a reconnect the connection
// subscribes again and reloads all data, since messages may have been missed. It reloads once the server has
// acknowledged the subscription: data that was loaded earlier may be stale, and no message would correct it.

import type { Socket } from "socket.io-client";
import type { ClientMessages, ServerMessages, Topic } from "../../../src/dashboard-api/schemas.ts";
import { outdate, outdateInTurn, queryClient } from "../api/call.ts";
import { createListeners } from "../ui/listeners.ts";
import { toast } from "../ui/overlays/toast.tsx";
import { createRefusals } from "./refusals.ts";
import { createSilence } from "./silence.ts";

/** "refused": the server ended the connection or did not accept it, and is asked again. */
export type Connection = "off" | "connecting" | "live" | "reconnecting" | "refused";

/** What is acknowledged. */
type Watching = "watch" | "watchCopy";
type ServerEvents = { [Name in keyof ServerMessages]: (message: ServerMessages[Name]) => void };
type ClientEvents = {
  [Name in Exclude<keyof ClientMessages, Watching>]: (message: ClientMessages[Name]) => void;
} & { [Name in Watching]: (message: ClientMessages[Name], acknowledge: () => void) => void };
type Handlers = { [Name in keyof ServerMessages]: Set<(message: ServerMessages[Name]) => void> };

const NAMESPACE = "/dashboard";
/**
 * The server ended the connection or refused it, or the library itself could not be loaded: trying again is
 * left to us.
 */
const REFUSED_RETRY_MS = 5_000;
/** A server that does not acknowledge, such as one that was sent too much at once, is waited for so long. */
const ACKNOWLEDGED_MS_MAX = 10_000;

const handlers: Handlers = {
  changed: new Set(),
  candle: new Set(),
  book: new Set(),
  price: new Set(),
  stale: new Set(),
  refused: new Set(),
  copyChanged: new Set(),
  heartbeat: new Set(),
};
const sayRefused = createRefusals({ say: toast, now: () => performance.now() });
/** By kind and id, how often. */
const watched = { strategy: new Map<string, number>(), copy: new Map<string, number>() };
export type Watched = keyof typeof watched;
const followed = new Map<string, { readonly topic: Topic; readonly count: number }>();
const stateListeners = createListeners();
let state: Connection = "off";
let socket: Socket<ServerEvents, ClientEvents> | null = null;
let retryTimer: ReturnType<typeof setTimeout> | null = null;
/** Whether the server still sends. A refusal does not count: nothing follows it. */
export const silence = createSilence({
  monotonicNow: () => performance.now(),
  wallNow: () => Date.now(),
  reconnect() {
    if (socket?.connected) socket.io.engine.close();
  },
});
/**
 * Counts connections, so that one that was closed while its library was still loading is not opened after
 * all.
 */
let generation = 0;

export function connection(): Connection {
  return state;
}

export const onConnection = stateListeners.subscribe;

/** Until the returned function is called. */
export function listen<Name extends keyof ServerMessages>(
  name: Name,
  handler: (message: ServerMessages[Name]) => void,
): () => void {
  open();
  handlers[name].add(handler);
  return () => handlers[name].delete(handler);
}

/** Reloads the changed data of the strategy or copy, until the returned function is called. */
export function watch(kind: Watched, id: string): () => void {
  open();
  const counts = watched[kind];
  const count = counts.get(id) ?? 0;
  counts.set(id, count + 1);
  if (count === 0 && socket?.connected) void beginWatching(socket, kind, id).then(() => refresh(kind, id));
  return () => {
    const left = (counts.get(id) ?? 1) - 1;
    if (left > 0) return counts.set(id, left);
    counts.delete(id);
    if (!socket?.connected) return;
    if (kind === "copy") socket.emit("unwatchCopy", { copyId: id });
    else socket.emit("unwatch", { strategyId: id });
  };
}

/** Subscribes to the topic until the returned function is called. All listeners receive its messages. */
export function follow(topic: Topic): () => void {
  open();
  const name = JSON.stringify(topic);
  const count = followed.get(name)?.count ?? 0;
  followed.set(name, { topic, count: count + 1 });
  if (count === 0 && socket?.connected) socket.emit("follow", topic);
  return () => {
    const left = (followed.get(name)?.count ?? 1) - 1;
    if (left > 0) return followed.set(name, { topic, count: left });
    followed.delete(name);
    if (socket?.connected) socket.emit("unfollow", topic);
  };
}

/** When the person has signed out. What is still watched or followed is so again at the next connection. */
export function disconnect(): void {
  generation += 1;
  if (retryTimer !== null) clearTimeout(retryTimer);
  retryTimer = null;
  socket?.disconnect();
  socket = null;
  silence.end();
  become("off");
}

function open(): void {
  if (state !== "off") return;
  become("connecting");
  silence.heard();
  void connect(generation);
}

async function connect(wanted: number): Promise<void> {
  const library = await import("socket.io-client").catch(() => null);
  if (wanted !== generation) return;
  if (library === null) {
    retryTimer = setTimeout(() => void connect(wanted), REFUSED_RETRY_MS);
    return;
  }
  const { io } = library;
  const opened: Socket<ServerEvents, ClientEvents> = io(NAMESPACE, { transports: ["websocket"] });
  socket = opened;
  let connects = 0;
  opened.on("connect", () => {
    connects += 1;
    const isFirst = connects === 1;
    become("live");
    const begun = (["strategy", "copy"] as const).flatMap((kind) =>
      [...watched[kind].keys()].map(async (id) => {
        await beginWatching(opened, kind, id);
        if (isFirst) refresh(kind, id);
      }),
    );
    for (const { topic } of followed.values()) opened.emit("follow", topic);
    if (!isFirst) void Promise.all(begun).then(() => queryClient.invalidateQueries());
  });
  opened.on("disconnect", (reason) => {
    if (opened !== socket) return;
    if (reason === "io server disconnect") retryLater(opened);
    else become("reconnecting");
  });
  opened.on("connect_error", () => {
    if (opened !== socket) return;
    if (opened.active) become("reconnecting");
    else retryLater(opened);
  });
  opened.onAny((name) => {
    if (opened === socket && name !== "refused") silence.heard();
  });
  opened.on("changed", (message) => {
    for (const part of message.what) {
      outdateInTurn(["strategy", message.strategyId, part]);
    }
    pass("changed", message);
  });
  opened.on("copyChanged", (message) => {
    outdateInTurn(["copy", message.copyId]);
    outdateInTurn(["copies"]);
    pass("copyChanged", message);
  });
  opened.on("candle", (message) => pass("candle", message));
  opened.on("book", (message) => pass("book", message));
  opened.on("price", (message) => pass("price", message));
  opened.on("heartbeat", (message) => pass("heartbeat", message));
  opened.on("stale", (message) => pass("stale", message));
  opened.on("refused", (message) => {
    sayRefused(message);
    pass("refused", message);
  });
}

/**
 * Resolves when the server tells of its changes, or has not said so in time; not if the connection is lost
 * before.
 */
function beginWatching(opened: Socket<ServerEvents, ClientEvents>, kind: Watched, id: string): Promise<void> {
  return new Promise((resolve) => {
    const acknowledged = () => {
      if (opened.connected) resolve();
    };
    const asked = opened.timeout(ACKNOWLEDGED_MS_MAX);
    if (kind === "copy") asked.emit("watchCopy", { copyId: id }, acknowledged);
    else asked.emit("watch", { strategyId: id }, acknowledged);
  });
}

/** Runs when a subscription begins: data that was loaded before it may be stale. */
function refresh(kind: Watched, id: string): void {
  for (const queryKey of kind === "copy" ? [[kind, id], ["copies"]] : [[kind, id]]) {
    void queryClient.invalidateQueries({ queryKey, predicate: (query) => query.state.data !== undefined });
  }
}

/** The session may have ended, which its query will say; the frame then disconnects. */
function retryLater(opened: Socket<ServerEvents, ClientEvents>): void {
  become("refused");
  outdate(["session"]);
  if (retryTimer !== null) clearTimeout(retryTimer);
  retryTimer = setTimeout(() => opened.connect(), REFUSED_RETRY_MS);
}

function pass<Name extends keyof ServerMessages>(name: Name, message: ServerMessages[Name]): void {
  for (const handler of handlers[name]) handler(message);
}

function become(next: Connection): void {
  state = next;
  stateListeners.notify();
}
