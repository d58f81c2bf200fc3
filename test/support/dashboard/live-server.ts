// The server's side of the dashboard's live connection as far as the browser's side needs one: it is asked to
// watch, and acknowledges when the test says so.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Server } from "socket.io";

/** The id of a strategy or of a copy. */
export type AskedToWatch = { readonly id: string; readonly acknowledge: () => void };
type Acknowledge = (refusal: null) => void;

export async function openLiveServer() {
  const server = createServer();
  const io = new Server(server, { transports: ["websocket"] });
  const namespace = io.of("/dashboard");
  const asked: AskedToWatch[] = [];
  namespace.on("connection", (socket) => {
    const ask = (id: string, acknowledge: Acknowledge) => {
      asked.push({ id, acknowledge: () => acknowledge(null) });
    };
    socket.on("watch", ({ strategyId }: { strategyId: string }, acknowledge: Acknowledge) =>
      ask(strategyId, acknowledge),
    );
    socket.on("watchCopy", ({ copyId }: { copyId: string }, acknowledge: Acknowledge) =>
      ask(copyId, acknowledge),
    );
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    /** Host and port. */
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** What was asked and not taken out yet, in its order. */
    asked,
    /** Sends a message to everybody who is connected. */
    say: (name: string, payload: object) => void namespace.emit(name, payload),
    /** Cuts every connection, as a network does. */
    cut(): void {
      for (const socket of namespace.sockets.values()) socket.conn.request.socket.destroy();
    },
    close: () => io.close(),
  };
}
