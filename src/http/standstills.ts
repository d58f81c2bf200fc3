// Connections on which nothing moves although something is to be sent. Whoever asks and does not read makes the server hold
// the answers; so all are looked at from time to time, and those that have sent nothing since the last look are cut. A
// timeout of each socket would do the same, at a tenth of what a request costs.
import type { Server } from "node:http";
import { Server as TlsServer } from "node:https";
import type { Socket } from "node:net";

/** How often connections are looked at, ms: who takes nothing is cut after once or twice this. */
export const LOOK_INTERVAL_MS = 30_000;

export class Standstills {
  readonly #sockets = new Set<Socket>();
  /** How many bytes had left those sockets, at the last look, on which more were waiting. */
  #left = new WeakMap<Socket, number>();

  constructor(server: Server) {
    const event = server instanceof TlsServer ? "secureConnection" : "connection";
    server.on(event, (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
  }

  /** Cuts the connections on which bytes wait and none has left since the last look. */
  look(): void {
    const before = this.#left;
    this.#left = new WeakMap();
    for (const socket of this.#sockets) {
      const { bytesWritten, writableLength } = socket;
      if (writableLength === 0) continue;
      // Bytes written are those handed over, also if they wait.
      const left = bytesWritten - writableLength;
      if (before.get(socket) === left) socket.destroy();
      else this.#left.set(socket, left);
    }
  }
}
