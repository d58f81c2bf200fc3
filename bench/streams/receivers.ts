// The receiving process: many connections to one server, each subscribed to the same stream. Its parent gives
// it the address, the credentials and the number of connections, and later asks for what has arrived.
import { handshakeAuth, ORDER_BOOK } from "../../test/support/sockets/stream-client.ts";
import { SocketConnection } from "../sockets/wire.ts";
import type { Credentials } from "../wire/requests.ts";
import { TOPIC } from "./message.ts";
import { CONNECTIONS_PER_KEY, openStream, type Tally } from "./wire.ts";

/** Opens connections up to this number, or asks what has arrived. */
export type ReceiversTask =
  | {
      readonly name: "CONNECT";
      readonly port: number;
      readonly credentials: readonly Credentials[];
      readonly connections: number;
      /** Of the exchange's own socket that sends the stream; Socket.IO if there is none. */
      readonly path?: string;
    }
  | { readonly name: "COUNT" };

export type Received = Tally & {
  /** The share of its time since the last answer in which the process had something to do. */
  readonly busy: number;
  /** The failure, if there was one. */
  readonly failure: string | null;
};

/** Number opened at once, so that a server's queue of new connections holds them. */
const OPENING_MAX = 64;

const tally: Tally = { messages: 0, bytes: 0 };
let failure: string | null = null;
let connected = 0;
let loopBefore = performance.eventLoopUtilization();

process.on("message", async (task: ReceiversTask) => {
  try {
    if (task.name === "CONNECT") await connect(task);
  } catch (error) {
    failure ??= error instanceof Error ? error.message : String(error);
  }
  const loop = performance.eventLoopUtilization();
  const { utilization } = performance.eventLoopUtilization(loop, loopBefore);
  loopBefore = loop;
  process.send?.({ ...tally, busy: utilization, failure } satisfies Received);
});
process.once("disconnect", () => process.exit());

async function connect({
  port,
  credentials,
  connections,
  path,
}: ReceiversTask & { name: "CONNECT" }): Promise<void> {
  while (connected < connections) {
    const count = Math.min(OPENING_MAX, connections - connected);
    await Promise.all(
      Array.from({ length: count }, (_, index): Promise<unknown> => {
        const key = credentials[Math.floor((connected + index) / CONNECTIONS_PER_KEY)];
        const auth = () => (key === undefined ? {} : handshakeAuth(ORDER_BOOK, key));
        const onLost = (reason: string) => {
          failure ??= reason;
        };
        if (path !== undefined) return SocketConnection.open({ port, path }, { onMessage, onLost });
        return openStream(port, { namespace: ORDER_BOOK, auth, stream: TOPIC }, { tally, onLost });
      }),
    );
    connected += count;
  }
}

function onMessage({ length }: Buffer): void {
  tally.messages += 1;
  tally.bytes += length;
}
