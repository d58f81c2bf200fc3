import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Standstills } from "./standstills.ts";

/** More than the system takes of a connection that nobody reads. */
const LARGE = Buffer.alloc(32 * 1_024 * 1_024, "x");

async function open(): Promise<{ standstills: Standstills; ask: () => Promise<Asked> }> {
  const server: Server = createServer((_request, response) => response.end(LARGE));
  const standstills = new Standstills(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    standstills,
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

test("a connection whose answer nobody reads is cut at the second look, one that is idle is not", async () => {
  const { standstills, ask } = await open();
  const { served } = await ask();
  const idle = await ask();
  const read = once(idle.client.resume(), "data");
  await read;
  while (idle.served.writableLength > 0) await once(idle.client, "data");
  standstills.look();
  expect(served.destroyed).toBe(false);
  standstills.look();
  expect([served.destroyed, idle.served.destroyed]).toEqual([true, false]);
});

test("one that owes nothing at a look begins anew", async () => {
  const { standstills, ask } = await open();
  const { client, served } = await ask();
  standstills.look();
  client.resume();
  while (served.writableLength > 0) await once(client, "data");
  standstills.look();
  standstills.look();
  expect(served.destroyed).toBe(false);
});
