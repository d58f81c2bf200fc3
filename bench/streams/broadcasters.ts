// Three ways to send one snapshot to all subscribers: the gateway's own streams, and two references, which do
// nothing else. All of them send the same frames, so that the same receivers read the same bytes. Two more
// send one trade, raw: the gateway's sockets of the exchange, and `ws` alone.
import { createServer, type Server } from "node:http";
import { Server as SocketServer } from "socket.io";
import { type WebSocket, WebSocketServer } from "ws";
import { ORDER_BOOK } from "../../test/support/sockets/stream-client.ts";
import type { Credentials } from "../wire/requests.ts";
import { messageOf, snapshotOf, TRADED, tradeOf } from "./message.ts";

export const BROADCASTERS = ["ws", "room", "gateway"] as const;
export const TRADE_BROADCASTERS = ["bareTrades", "trades"] as const;
export type TradeBroadcasterName = (typeof TRADE_BROADCASTERS)[number];
export type BroadcasterName = (typeof BROADCASTERS)[number];

export type Broadcaster = {
  readonly server: Server;
  /** The accepted credentials; none if it does not check them. */
  readonly credentials: readonly Credentials[];
  /** Of the socket that subscribers connect to; streams over Socket.IO have none. */
  readonly path?: string;
  /** Sends the snapshot of this number to all subscribers. */
  publish(number: number): void;
};

/** An answer to whatever is requested of `bareTrades`. */
const ANSWER = '{"id":1,"status":200,"result":{"subscriptionId":0}}';
const EVENT = "orderBook";
const ROOM = "room";

/**
 * `ws` alone: the text is encoded once and sent to each. It answers a client's handshake, and checks nothing.
 */
export function bareSockets(): Broadcaster {
  const server = createServer();
  const acceptor = new WebSocketServer({ server, perMessageDeflate: false });
  const subscribers = new Set<WebSocket>();
  acceptor.on("connection", (socket) => {
    socket.on("close", () => subscribers.delete(socket));
    socket.on("error", () => socket.terminate());
    socket.on("message", (data) => {
      const text = String(data);
      if (text.startsWith("40")) socket.send(`40${ORDER_BOOK},{}`);
      else if (text.startsWith("42")) {
        subscribers.add(socket);
        socket.send(`42${ORDER_BOOK},["subscribed",{}]`);
      }
    });
    socket.send("0{}");
  });
  return {
    server,
    credentials: [],
    publish(number) {
      const text = `42${ORDER_BOOK},${JSON.stringify([EVENT, messageOf(snapshotOf(number))])}`;
      const bytes = Buffer.from(text);
      for (const socket of subscribers) socket.send(bytes, { binary: false });
    },
  };
}

/** Socket.IO as it comes: a namespace, a room, a broadcast to it. */
export function bareRoom(): Broadcaster {
  const server = createServer();
  const streams = new SocketServer(server, {
    transports: ["websocket"],
    serveClient: false,
    perMessageDeflate: false,
  });
  const namespace = streams.of(ORDER_BOOK);
  namespace.on("connection", (socket) => {
    socket.on("subscribe", (stream) => {
      socket.join(ROOM);
      socket.emit("subscribed", stream);
    });
  });
  return {
    server,
    credentials: [],
    publish(number) {
      namespace.to(ROOM).emit(EVENT, messageOf(snapshotOf(number)));
    },
  };
}

/** The text is encoded once and sent to each. Requests are answered, and nothing is checked. */
export function bareTrades(): Broadcaster {
  const server = createServer();
  const clients = new Set<WebSocket>();
  const acceptor = new WebSocketServer({ server, perMessageDeflate: false });
  acceptor.on("connection", (socket) => {
    clients.add(socket);
    socket.on("close", () => clients.delete(socket));
    socket.on("error", () => socket.terminate());
    socket.on("message", () => socket.send(ANSWER));
  });
  return {
    server,
    credentials: [],
    path: TRADED.path,
    publish(number) {
      const bytes = Buffer.from(JSON.stringify(tradeOf(number)));
      for (const client of clients) client.send(bytes, { binary: false });
    },
  };
}
