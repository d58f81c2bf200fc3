// Connections on a real server, behind a way that may swallow what is sent.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { hasPostgres, openPostgres, postgresTitle } from "../../../test/support/servers/postgres.ts";
import { StoreUnavailable } from "../store.ts";
import { Connections } from "./connections.ts";

const OPEN = 5;

test.skipIf(!hasPostgres)(
  postgresTitle("of a server that does not answer any more no unused connection is waited for"),
  async () => {
    const server = await openPostgres();
    if (server === null) throw new Error("there are programs, so there is a server");
    onTestFinished(() => server.stop());
    const way = await openWay(await server.newDatabase());
    onTestFinished(() => way.close());
    const connections = new Connections(way.url, { connectionsMax: OPEN, statementMsMax: 1_000 });
    onTestFinished(() => connections.close());
    const ask = () => connections.query({ text: "SELECT 1 AS one" });
    const held = await Promise.all(Array.from({ length: OPEN }, () => connections.take()));
    for (const client of held) client.release();
    expect(way.opened()).toBe(OPEN);

    way.swallow();
    await expect(ask()).rejects.toThrow(StoreUnavailable);
    expect(await ask()).toEqual([{ one: 1 }]);
    expect(way.opened()).toBe(OPEN + 1);
  },
);

/** A way to a database through which nothing more passes once it swallows, but over new connections. */
async function openWay(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const pairs: [Socket, Socket][] = [];
  const listener = createServer((inbound) => {
    const outbound = connect(Number(target.port || 5_432), target.hostname);
    for (const socket of [inbound, outbound]) socket.on("error", () => {});
    inbound.pipe(outbound).pipe(inbound);
    pairs.push([inbound, outbound]);
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const url = new URL(databaseUrl);
  url.hostname = "127.0.0.1";
  url.port = String((listener.address() as AddressInfo).port);
  return {
    url: url.href,
    opened: () => pairs.length,
    swallow() {
      for (const [inbound, outbound] of pairs) {
        inbound.unpipe(outbound);
        inbound.resume();
      }
    },
    close() {
      listener.close();
      for (const socket of pairs.flat()) socket.destroy();
    },
  };
}
