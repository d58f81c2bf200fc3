// The way from a client to a stream, in two makes: the stock Socket.IO client, and the same frames on a bare
// WebSocket, which costs so little that one process can be hundreds of clients.
import { io } from "socket.io-client";
import { WebSocket } from "ws";
import { handshakeAuth, type StreamCredentials } from "../../support/sockets/stream-client.ts";

export type LinkMake = "stock" | "bare";

export type LinkHandlers = {
  /** The namespace is joined; a handshake that is refused says so now. */
  readonly onJoined: () => void;
  readonly onEvent: (name: string, payload: unknown) => void;
  /** Called once, whichever side ended it. */
  readonly onEnded: (reason: string) => void;
};

export type Link = {
  send(name: string, payload: object): void;
  /** Says goodbye. */
  close(): void;
  /** As a network that is gone. */
  cut(): void;
};

export function openLink(
  make: LinkMake,
  target: { readonly url: string; readonly namespace: string; readonly credentials: StreamCredentials },
  handlers: LinkHandlers,
): Link {
  return make === "stock" ? stockLink(target, handlers) : bareLink(target, handlers);
}

type Target = Parameters<typeof openLink>[1];

function stockLink({ url, namespace, credentials }: Target, handlers: LinkHandlers): Link {
  const socket = io(url + namespace, {
    transports: ["websocket"],
    forceNew: true,
    // The soak decides which client reconnects, and when.
    reconnection: false,
    auth: (give) => give(handshakeAuth(namespace, credentials)),
  });
  const end = once(handlers.onEnded);
  socket.on("connect", handlers.onJoined);
  socket.onAny(handlers.onEvent);
  socket.on("disconnect", end);
  socket.on("connect_error", (error) => end(error.message));
  return {
    send: (name, payload) => void socket.emit(name, payload),
    close: () => void socket.close(),
    cut: () => void socket.io.engine.close(),
  };
}

/** Packets of Engine.IO, and of Socket.IO within its messages. */
const OPEN = "0";
const PING = "2";
const PONG = "3";
const JOIN = "40";
const LEAVE = "41";
const EVENT = "42";

function bareLink({ url, namespace, credentials }: Target, handlers: LinkHandlers): Link {
  const socket = new WebSocket(`${url.replace("http", "ws")}/socket.io/?EIO=4&transport=websocket`, {
    perMessageDeflate: false,
  });
  const end = once(handlers.onEnded);
  const heed = (text: string) => {
    if (text.startsWith(`${EVENT}${namespace},`)) {
      const [name, payload] = JSON.parse(text.slice(EVENT.length + namespace.length + 1));
      handlers.onEvent(name, payload);
    } else if (text === PING) socket.send(PONG);
    else if (text.startsWith(OPEN)) {
      socket.send(`${JOIN}${namespace},${JSON.stringify(handshakeAuth(namespace, credentials))}`);
    } else if (text.startsWith(`${JOIN}${namespace},`)) handlers.onJoined();
    else if (text.startsWith(LEAVE)) end("disconnected by the server");
    else end(`not of the protocol: ${text}`);
  };
  socket.on("message", (data) => heed(String(data)));
  socket.on("error", (error) => end(error.message));
  socket.on("close", () => end("connection lost"));
  return {
    send: (name, payload) => socket.send(`${EVENT}${namespace},${JSON.stringify([name, payload])}`),
    close() {
      if (socket.readyState === WebSocket.OPEN) socket.send(`${LEAVE}${namespace},`);
      socket.close();
    },
    cut: () => socket.terminate(),
  };
}

function once(call: (reason: string) => void): (reason: string) => void {
  let isDone = false;
  return (reason) => {
    if (isDone) return;
    isDone = true;
    call(reason);
  };
}
