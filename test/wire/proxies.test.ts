// Clients behind proxies, on the wire: each has its own budget, and no header that a client writes gets it
// another.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GatewayProcess, startGateway } from "../support/servers/gateway.ts";
import { send } from "../support/signed-client.ts";

const gateways: GatewayProcess[] = [];

async function behind(hops: number): Promise<GatewayProcess> {
  const gateway = await startGateway({ env: { TRUSTED_PROXY_HOPS: String(hops) } });
  gateways.push(gateway);
  return gateway;
}

afterAll(async () => {
  for (const gateway of gateways) await gateway.stop();
});

/** A request as the nearest proxy passes it on. */
function ask({ url }: GatewayProcess, forwardedFor: string | null) {
  return send(
    url,
    "GET",
    "/api/v3/exchangeInfo?symbol=BTCUSDT",
    forwardedFor === null ? {} : { headers: { "x-forwarded-for": forwardedFor } },
  );
}

/** Two windows' worth of requests and the ten refusals that lead to a ban: nothing needs more. */
const SENT_MAX = 150;

/** Sends until the client is banned, each request with the next of the headers. */
async function sendUntilBanned(
  gateway: GatewayProcess,
  headerOf: (sent: number) => string | null,
): Promise<void> {
  for (let sent = 0; sent < SENT_MAX; sent += 1) {
    if ((await ask(gateway, headerOf(sent))).status === 418) return;
  }
  throw new Error(`${SENT_MAX} requests and no ban`);
}

describe("behind one proxy", () => {
  let gateway: GatewayProcess;

  beforeAll(async () => {
    gateway = await behind(1);
  });

  test("a client that forges addresses is banned all the same, and no other client is", async () => {
    await sendUntilBanned(gateway, (sent) => `9.9.${sent}.9, 8.8.8.8, 1.1.1.1`);
    expect((await ask(gateway, "1.1.1.1")).status).toBe(418);
    expect((await ask(gateway, "2.2.2.2, 1.1.1.1:50000")).status).toBe(418);
    for (const others of ["2.2.2.2", "1.1.1.1, 2.2.2.2", "9.9.0.9", "8.8.8.8", "[2001:db8::1]:443", null]) {
      expect((await ask(gateway, others)).status, String(others)).toBe(200);
    }
  });
});

describe("behind two proxies", () => {
  test("a request that bypassed one of them is charged to its peer, whatever its header contains", async () => {
    const gateway = await behind(2);
    await sendUntilBanned(gateway, (sent) => (sent % 2 === 0 ? `7.7.7.${sent}` : null));
    expect((await ask(gateway, "7.7.8.8")).status).toBe(418);
    expect((await ask(gateway, "not, an address")).status).toBe(418);
    expect((await ask(gateway, "5.5.5.5, 10.0.0.2")).status).toBe(200);
  });
});

describe("without proxies", () => {
  test("the header means nothing", async () => {
    const gateway = await behind(0);
    await sendUntilBanned(gateway, (sent) => `7.7.7.${sent}`);
    expect((await ask(gateway, "5.5.5.5")).status).toBe(418);
  });
});
