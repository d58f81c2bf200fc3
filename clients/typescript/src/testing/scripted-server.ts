// A server whose every word is the test's: both stream namespaces, on real sockets.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Server, type Socket } from "socket.io";

export type ScriptedConnection = ReturnType<typeof connectionOf>;

export async function openScriptedServer() {
  const http = createServer();
  const io = new Server(http, { transports: ["websocket"], serveClient: false });
  const connections = new Handed<ScriptedConnection>();
  for (const namespace of ["/bot/v1/market", "/bot/v1/orderbook"]) {
    io.of(namespace).on("connection", (socket: Socket) => connections.put(connectionOf(namespace, socket)));
  }
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    /** The next connection that joins a namespace. */
    nextConnection: () => connections.next(),
    close: () => io.close(),
  };
}

function connectionOf(namespace: string, socket: Socket) {
  const messages = new Handed<readonly [string, unknown]>();
  socket.onAny((name: string, payload: unknown) => messages.put([name, payload]));
  return {
    namespace,
    /** The client's handshake. */
    auth: socket.handshake.auth as Readonly<Record<string, string>>,
    /** Resolves when the client has gone. */
    gone: new Promise<void>((resolve) => socket.on("disconnect", () => resolve())),
    /** The client's next message: its name and payload. */
    next: () => messages.next(),
    /** The next `subscribe` is confirmed; what it was for. */
    async confirm(): Promise<object> {
      const [name, topic] = await messages.next();
      if (name !== "subscribe") throw new Error(`${name} came where a subscription was expected`);
      socket.emit("subscribed", topic);
      return topic as object;
    },
    say: (name: string, payload: object) => void socket.emit(name, payload),
    /** Sends an error and disconnects, as the server refuses a handshake. */
    refuse(code: string, retryAfterMs?: number): void {
      socket.emit("error", { status: false, code, message: `no: ${code}`, retryAfterMs });
      socket.disconnect();
    },
    /** From now on nothing is read that the client sends. */
    standStill: () => void socket.conn.request.socket.pause(),
    /** The connection breaks. */
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
