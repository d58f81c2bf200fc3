// A server whose every word is the test's: both stream namespaces, on real sockets.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Server, type Socket } from "socket.io";

export type ScriptedServer = {
  readonly url: string;
  /** The next connection that joins a namespace. */
  nextConnection(): Promise<ScriptedConnection>;
  close(): Promise<void>;
};

export type ScriptedConnection = {
  readonly namespace: string;
  /** The client's handshake. */
  readonly auth: Readonly<Record<string, string>>;
  /** The client's next message: its name and payload. */
  next(): Promise<readonly [name: string, payload: unknown]>;
  /** The next `subscribe` is confirmed; what it was for. */
  confirm(): Promise<object>;
  say(name: string, payload: object): void;
  /** Sends an error and disconnects, as the server refuses a handshake. */
  refuse(code: string, retryAfterMs?: number): void;
  /** From now on nothing is read that the client sends. */
  standStill(): void;
  /** The connection breaks. */
  cut(): void;
  /** Resolves when the client has gone. */
  readonly gone: Promise<void>;
};

export async function openScriptedServer(): Promise<ScriptedServer> {
  const http = createServer();
  const io = new Server(http, { transports: ["websocket"], serveClient: false });
  const connections = new Handed<ScriptedConnection>();
  for (const namespace of ["/bot/v1/market", "/bot/v1/orderbook"]) {
    io.of(namespace).on("connection", (socket: Socket) => connections.put(connectionOf(namespace, socket)));
  }
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    nextConnection: () => connections.next(),
    close: () => io.close(),
  };
}

function connectionOf(namespace: string, socket: Socket): ScriptedConnection {
  const messages = new Handed<readonly [string, unknown]>();
  socket.onAny((name: string, payload: unknown) => messages.put([name, payload]));
  return {
    namespace,
    auth: socket.handshake.auth,
    gone: new Promise((resolve) => socket.on("disconnect", () => resolve())),
    next: () => messages.next(),
    async confirm() {
      const [name, topic] = await messages.next();
      if (name !== "subscribe") throw new Error(`${name} came where a subscription was expected`);
      socket.emit("subscribed", topic);
      return topic as object;
    },
    say: (name, payload) => void socket.emit(name, payload),
    refuse(code, retryAfterMs) {
      socket.emit("error", { status: false, code, message: `no: ${code}`, retryAfterMs });
      socket.disconnect();
    },
    standStill: () => void socket.conn.request.socket.pause(),
    cut: () => socket.conn.request.socket.destroy(),
  };
}

/** A queue: hands out items in order; a reader waits for the next one. */
export class Handed<Thing> {
  readonly #things: Thing[] = [];
  readonly #waiting: ((thing: Thing) => void)[] = [];

  put(thing: Thing): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#things.push(thing);
    else waiting(thing);
  }

  next(): Promise<Thing> {
    const thing = this.#things.shift();
    return thing === undefined
      ? new Promise((resolve) => this.#waiting.push(resolve))
      : Promise.resolve(thing);
  }
}
