// A process that broadcasts as fast as its sockets take the data: one of the broadcasters, named by its first
// argument; the second is a data directory for the one that needs it. It reports its port, then broadcasts
// for each requested time.
// The next snapshot is sent when the system has taken all earlier data: nothing is dropped or delayed for
// being late, and the measurement is of the sending.
import type { AddressInfo, Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import type { Credentials } from "../wire/requests.ts";
import {
  type Broadcaster,
  type BroadcasterName,
  bareRoom,
  bareSockets,
  bareTrades,
  type TradeBroadcasterName,
} from "./broadcasters.ts";
import { gatewayStreams, gatewayTrades } from "./fixture.ts";

export type StreamServerReady = {
  readonly port: number;
  readonly credentials: readonly Credentials[];
  readonly path?: string;
};
export type StreamServerTask = { readonly seconds: number };
export type Broadcasted = {
  readonly broadcasts: number;
  readonly seconds: number;
  /** Processor time of all threads of the process, s. */
  readonly processorSeconds: number;
};

const HOST = "127.0.0.1";
/** The system's buffers are full: the receivers need a moment. */
const BREATH_MS = 1;
const MICROSECONDS = 1_000_000;

const [name, dataDir = "", clients = ""] = process.argv.slice(2);
const make: {
  readonly [N in BroadcasterName | TradeBroadcasterName]: () => Broadcaster | Promise<Broadcaster>;
} = {
  ws: bareSockets,
  room: bareRoom,
  gateway: () => gatewayStreams(dataDir, Number(clients)),
  bareTrades,
  trades: gatewayTrades,
};
const { server, credentials, publish, path } = await make[name as keyof typeof make]();
const sockets = new Set<Socket>();
server.on("connection", (socket: Socket) => {
  sockets.add(socket);
  socket.once("close", () => sockets.delete(socket));
});
let number = 0;

process.on("message", async ({ seconds }: StreamServerTask) => {
  process.send?.(await broadcast(seconds));
});
process.once("disconnect", () => process.exit());
server.listen(0, HOST, () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ port, credentials, ...(path !== undefined && { path }) } satisfies StreamServerReady);
});

async function broadcast(seconds: number): Promise<Broadcasted> {
  const startedAt = performance.now();
  const usedBefore = process.cpuUsage();
  const until = startedAt + seconds * 1_000;
  let broadcasts = 0;
  while (performance.now() < until) {
    publish(number++);
    broadcasts += 1;
    await nextTurn();
    while (isBehind()) await wait(BREATH_MS);
  }
  const { user, system } = process.cpuUsage(usedBefore);
  return {
    broadcasts,
    seconds: (performance.now() - startedAt) / 1_000,
    processorSeconds: (user + system) / MICROSECONDS,
  };
}

function isBehind(): boolean {
  for (const socket of sockets) if (socket.writableLength > 0) return true;
  return false;
}
