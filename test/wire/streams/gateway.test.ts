// The streams beside everything else that the program does: one port for both, HTTPS, the operator's
// commands, and the end.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { Browser } from "../../support/dashboard/client.ts";
import { exchange, talk } from "../../support/raw.ts";
import { newCertificate, writeCertificate } from "../../support/servers/certificate.ts";
import { type GatewayProcess, newDirectory, runNode, startGateway } from "../../support/servers/gateway.ts";
import { stayOnLoopback } from "../../support/servers/loopback-only.ts";
import { signed } from "../../support/signed-client.ts";
import { connectStream, handshakeAuth, MARKET, ORDER_BOOK } from "../../support/sockets/stream-client.ts";

stayOnLoopback();

const CANDLE = { pair: "ETHUSDT", timeframe: "1m" };
const BOOK = { pair: "ETHUSDT", levels: 5, speed: "1000ms" };

let gateway: GatewayProcess;

beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(async () => {
  await gateway.stop();
});

test("a key trades and has both streams at once", async () => {
  const key = gateway.seed();
  const market = await connectStream(gateway.url, MARKET, key);
  const book = await connectStream(gateway.url, ORDER_BOOK, key);
  await market.subscribe(CANDLE);
  await book.subscribe(BOOK);
  expect((await signed(gateway.url, key, "GET", "/api/v3/account")).status).toBe(200);
  expect(await market.next("marketData")).toMatchObject({ event: "kline", ...CANDLE });
  const { bids, asks } = await book.next("orderBook");
  expect([bids, asks].map((side) => side.length)).toEqual([5, 5]);
  for (const client of [market, book]) client.close();
});

test("a key that is used for streams alone has a last use, from where its client is", async () => {
  const behindProxy = await startGateway({ env: { TRUSTED_PROXY_HOPS: "1" } });
  onTestFinished(async () => void (await behindProxy.stop()));
  const key = behindProxy.seed();
  const password = /password {2}(\S+)/.exec(behindProxy.output())?.[1] ?? "";
  const browser = new Browser(behindProxy.url, { wallNow: () => Date.now(), pass: () => {} });
  await browser.signIn("demo@lyrebird.localhost", password);
  const lastUse = async () => {
    const { rows } = await browser.get("/keys");
    return rows.find(({ apiKey }: { apiKey: string }) => apiKey === key.apiKey).lastUse;
  };
  expect(await lastUse()).toBeNull();
  const headers = { "x-forwarded-for": "192.0.2.9" };
  const client = await connectStream(behindProxy.url, MARKET, key, { headers });
  expect(await client.subscribe(CANDLE)).toEqual(CANDLE);
  expect(await lastUse()).toEqual({
    at: expect.any(Number),
    address: "192.0.2.9",
    route: "stream /bot/v1/market",
  });
  client.close();
});

test("what polls is answered 400 with what is served instead", async () => {
  for (const query of ["EIO=4&transport=polling", "EIO=4&transport=websocket", ""]) {
    const answer = await exchange(gateway.url, { method: "GET", path: "/socket.io/", query });
    expect(answer).toMatchObject({ status: 400, body: { status: false } });
    expect(answer.body.message).toContain("long polling is not served");
  }
});

test("an upgrade to another protocol is answered by HTTP", async () => {
  const headers = { connection: "upgrade, http2-settings", upgrade: "h2c", "http2-settings": "AAMAAABk" };
  const answer = await exchange(gateway.url, { method: "GET", path: "/api/v3/ping", headers });
  expect(answer).toMatchObject({ status: 200, body: {} });
});

test("an upgrade to a WebSocket where there is none is refused with 404", async () => {
  const headers = { connection: "upgrade", upgrade: "websocket" };
  const answer = await exchange(gateway.url, { method: "GET", path: "/api/v3/ping", headers });
  expect(answer.status).toBe(404);
});

test("a stream requested behind a request is not opened before that is answered", async () => {
  const upgrade =
    "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n" +
    "sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
  const text = await talk(gateway.url, `GET /api/v3/ping HTTP/1.1\r\nhost: x\r\n\r\n${upgrade}`, {
    hangUp: true,
  });
  expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(["200", "400"]);
});

test("a pair that is not listed is refused, one that is may be written in any case", async () => {
  const client = await connectStream(gateway.url, MARKET, gateway.seed());
  await expect(client.subscribe({ pair: "NOTHING", timeframe: "1m" })).rejects.toThrow(
    "SUB_UNSUPPORTED_SYMBOL",
  );
  expect(await client.subscribe({ pair: "ethusdt", timeframe: "1M" })).toEqual({
    pair: "ETHUSDT",
    timeframe: "1M",
  });
  client.close();
});

test("a key that the operator revokes gets an error and is disconnected", async () => {
  const key = gateway.seed();
  const client = await connectStream(gateway.url, ORDER_BOOK, key);
  await client.subscribe(BOOK);
  runNode(["src/cli.ts", "keys", "revoke", key.apiKey, "--data", gateway.dataDir]);
  expect(await client.next("error")).toMatchObject({ status: false, code: "AUTH_KEY_REVOKED" });
  expect(await client.next("disconnect")).toBe("io server disconnect");
});

describe("a gateway of its own", () => {
  test("ends in order with streams open, and takes what comes back after its restart", async () => {
    const dataDir = newDirectory();
    const first = await startGateway({ dataDir });
    const key = first.seed();
    const client = await connectStream(first.url, ORDER_BOOK, key);
    await client.subscribe(BOOK);
    expect(await first.stop()).toBe(0);
    expect(await client.next("disconnect")).toBe("transport close");
    const second = await startGateway({ dataDir });
    const again = await connectStream(second.url, ORDER_BOOK, key);
    expect(await again.subscribe(BOOK)).toEqual(BOOK);
    again.close();
    await second.stop();
  });

  test("keeps a key blocked after kill -9", async () => {
    const dataDir = newDirectory();
    const first = await startGateway({ dataDir });
    const key = first.seed();
    for (let count = 0; count < 5; count += 1) {
      const refused = await connectStream(first.url, MARKET, key, { auth: handshakeAuth(ORDER_BOOK, key) });
      expect(await refused.next("error")).toMatchObject({ code: "AUTH_INVALID_SIGNATURE" });
    }
    await first.kill();
    const second = await startGateway({ dataDir });
    const client = await connectStream(second.url, MARKET, key);
    const { code, retryAfterMs } = await client.next("error");
    expect(code).toBe("RATE_LIMITED");
    expect(retryAfterMs).toBeGreaterThan(14 * 60_000);
    expect(retryAfterMs).toBeLessThanOrEqual(15 * 60_000);
    await second.stop();
  });

  test("serves the streams over HTTPS", async () => {
    const certificate = newCertificate();
    const secure = await startGateway({ env: writeCertificate(certificate) });
    const client = await connectStream(secure.url, ORDER_BOOK, secure.seed(), {
      options: { ca: certificate.cert },
    });
    await client.subscribe(BOOK);
    expect(await client.next("orderBook")).toMatchObject(BOOK);
    expect(await secure.stop()).toBe(0);
    expect(await client.next("disconnect")).toBe("transport close");
  });
});
