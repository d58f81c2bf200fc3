// The permitted origins of a browser's page, by the server's configuration and address: the same for changes
// and for the live connection. A permitted request without a session is answered with that reason.
import { createServer } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { type GatewayProcess, startGateway } from "../../support/servers/gateway.ts";
import { stayOnLoopback } from "../../support/servers/loopback-only.ts";
import { freePort } from "../../support/servers/postgres.ts";
import { openStream } from "../../support/sockets/stream-client.ts";

stayOnLoopback();

const hasIpv6 = await hasAddress("::1");
const PUBLIC_URL = "https://lyrebird.example:8443/";
const ANYBODY = { apiKey: "", apiSecret: "" };
const REFUSED = { change: "ORIGIN_REFUSED", live: "ORIGIN_REFUSED" };
const LET_PAST = { change: "NOT_SIGNED_IN", live: "NOT_SIGNED_IN" };

type Server = { readonly at: string; readonly port: number };

/** How a page of an origin fares with a request that changes something, and with the live connection. */
async function outcomeOf({ at }: Server, origin: string | null) {
  const headers = origin === null ? undefined : { origin };
  const response = await fetch(`${at}/dashboard/api/session`, {
    method: "DELETE",
    ...(headers && { headers }),
  });
  const { error } = (await response.json()) as { error: { code: string } };
  const client = openStream(at, "/dashboard", ANYBODY, { auth: null, ...(headers && { headers }) });
  const refused = await client.next("refused");
  client.close();
  return { change: error.code, live: refused.code };
}

async function expectOwn(server: Server, own: readonly string[], foreign: readonly (string | null)[]) {
  for (const origin of own) expect(await outcomeOf(server, origin), origin).toEqual(LET_PAST);
  for (const origin of foreign) expect(await outcomeOf(server, origin), `${origin}`).toEqual(REFUSED);
}

const FOREIGN = (port: number) => [
  ...[null, "null", "https://evil.example", `http://evil.example:${port}`],
  ...[`https://localhost:${port}`, "http://localhost", `http://localhost:${port + 1}`],
  ...[`http://localhost.evil.example:${port}`, `http://127.0.0.2:${port}`, `http://[::2]:${port}`],
];

describe("without PUBLIC_URL", () => {
  const own = (port: number) => ["localhost", "127.0.0.1", "[::1]"].map((host) => `http://${host}:${port}`);

  test("a server on 127.0.0.1 is this machine by each of its names", async () => {
    const { url } = await gatewayOf({});
    const port = Number(new URL(url).port);
    for (const at of [url, `http://localhost:${port}`]) {
      await expectOwn({ at, port }, own(port), FOREIGN(port));
    }
  });

  test.skipIf(!hasIpv6)("so is one on [::1] (needs IPv6)", async () => {
    const { url } = await gatewayOf({ args: ["--host", "::1"] });
    const port = Number(new URL(url).port);
    expect(url).toBe(`http://[::1]:${port}`);
    await expectOwn({ at: url, port }, own(port), FOREIGN(port));
  });
});

describe("with PUBLIC_URL", () => {
  test("the site is the named one, however the server is reached", async () => {
    const port = await freePort();
    await gatewayOf({ env: { PUBLIC_URL }, args: ["--port", String(port)] });
    const at = `http://127.0.0.1:${port}`;
    const foreign = [
      ...[at, `http://localhost:${port}`, `http://[::1]:${port}`, ...FOREIGN(port)],
      ...["http://lyrebird.example:8443", "https://lyrebird.example", "https://www.lyrebird.example:8443"],
      PUBLIC_URL,
    ];
    await expectOwn({ at, port }, ["https://lyrebird.example:8443"], foreign);
  });

  test("one name of this machine is not another", async () => {
    const port = await freePort();
    const site = `http://localhost:${port}`;
    await gatewayOf({ env: { PUBLIC_URL: site }, args: ["--port", String(port)] });
    await expectOwn({ at: `http://127.0.0.1:${port}`, port }, [site], [`http://127.0.0.1:${port}`]);
  });
});

async function gatewayOf(options: Parameters<typeof startGateway>[0]): Promise<GatewayProcess> {
  const gateway = await startGateway(options);
  onTestFinished(async () => void (await gateway.stop()));
  return gateway;
}

/** Whether this machine has an address. */
function hasAddress(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(0, host, () => server.close(() => resolve(true)));
  });
}
