import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { StalledConnections } from "./connections.ts";

/** More than the system buffers for a connection that is not read. */
const LARGE = Buffer.alloc(32 * 1_024 * 1_024, "x");

async function open(): Promise<{ stalled: StalledConnections; ask: () => Promise<Asked> }> {
  const server: Server = createServer((_request, response) => response.end(LARGE));
  const stalled = new StalledConnections(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    stalled,
    async ask() {
      const client = connect(port, "127.0.0.1");
      client.on("error", () => {});
      const [[, response]] = await Promise.all([
        once(server, "request"),
        once(client, "connect").then(() => client.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n")),
      ]);
      onTestFinished(() => void client.destroy());
      return { client, served: response.req.socket };
    },
  };
}

type Asked = { readonly client: Socket; readonly served: Socket };

test("a connection whose answer is not read is cut at the second check, an idle one is not", async () => {
  const { stalled, ask } = await open();
  const { served } = await ask();
  const idle = await ask();
  const read = once(idle.client.resume(), "data");
  await read;
  while (idle.served.writableLength > 0) await once(idle.client, "data");
  stalled.check();
  expect(served.destroyed).toBe(false);
  stalled.check();
  expect([served.destroyed, idle.served.destroyed]).toEqual([true, false]);
});

test("a connection that has sent everything at one check is not cut at the next", async () => {
  const { stalled, ask } = await open();
  const { client, served } = await ask();
  stalled.check();
  client.resume();
  while (served.writableLength > 0) await once(client, "data");
  stalled.check();
  stalled.check();
  expect(served.destroyed).toBe(false);
});
