import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { newCertificate } from "../../test/support/servers/certificate.ts";
import { STALL_BYTES_MIN, StalledConnections } from "./connections.ts";
import { createTlsServer } from "./tls.ts";

/** More than the system buffers for a connection that is not read. */
const LARGE = Buffer.alloc(32 * 1_024 * 1_024, "x");

type Scheme = "HTTP" | "HTTPS";

async function open(
  scheme: Scheme = "HTTP",
): Promise<{ stalled: StalledConnections; ask: () => Promise<Asked> }> {
  const isTls = scheme === "HTTPS";
  const { cert, key } = newCertificate();
  const answer: RequestListener = (_request, response) => response.end(LARGE);
  const server = isTls
    ? createTlsServer({ cert: Buffer.from(cert), key: Buffer.from(key) }, {}, answer)
    : createServer(answer);
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
      const at = { port, host: "127.0.0.1" };
      const client = isTls ? connectTls({ ...at, ca: cert }) : connect(at);
      client.on("error", () => {});
      const [[, response]] = await Promise.all([
        once(server, "request"),
        once(client, isTls ? "secureConnect" : "connect").then(() =>
          client.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n"),
        ),
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

test.each<Scheme>(["HTTP", "HTTPS"])(
  "a client of %s that reads one large answer slowly is cut only when it reads no more",
  async (scheme) => {
    const { stalled, ask } = await open(scheme);
    const { client, served } = await ask();
    let readBytes = 0;
    client.on("data", (data: Buffer) => {
      readBytes += data.length;
    });
    client.pause();
    stalled.check();
    for (let check = 0; check < 4; check += 1) {
      const until = readBytes + 4 * STALL_BYTES_MIN;
      client.resume();
      while (readBytes < until) await once(client, "data");
      client.pause();
      await nextTurn();
      stalled.check();
      expect(served.destroyed).toBe(false);
      expect(served.writableLength).toBeGreaterThan(0);
    }
    // What the system's buffers still take counts as read.
    while (!served.destroyed) {
      await nextTurn();
      stalled.check();
    }
  },
);
