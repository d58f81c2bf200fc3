// An address that opens more connections than its limit is refused, and every other address is served at
// once. Each address of 127.0.0.0/8 is a client of its own here.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { ConnectionBound } from "../../src/rate-limits/connections.ts";
import { eventually } from "../support/eventually.ts";
import { newCertificate, writeCertificate } from "../support/servers/certificate.ts";
import { type GatewayProcess, startGateway } from "../support/servers/gateway.ts";
import { connectStream, MARKET, type StreamClient } from "../support/sockets/stream-client.ts";

const CONNECTIONS_MAX = 12;
const STREAMS_MAX = 3;
const ATTEMPTS_MAX = 4;
const BOUNDS = {
  CONNECTIONS_PER_ADDRESS: String(CONNECTIONS_MAX),
  STREAMS_PER_ADDRESS: String(STREAMS_MAX),
  STREAM_ATTEMPTS_PER_ADDRESS: String(ATTEMPTS_MAX),
};
const PING = "GET /api/v3/ping HTTP/1.1\r\nHost: localhost\r\n\r\n";
const opened: Socket[] = [];
const clients: StreamClient[] = [];
let gateway: GatewayProcess;
let behindProxy: GatewayProcess;

beforeAll(async () => {
  gateway = await startGateway({ env: BOUNDS });
  behindProxy = await startGateway({ env: { ...BOUNDS, TRUSTED_PROXY_HOPS: "1" } });
});
afterEach(() => {
  for (const socket of opened.splice(0)) socket.destroy();
  for (const client of clients.splice(0)) client.close();
});
afterAll(() => Promise.all([gateway.stop(), behindProxy.stop()]));

/** A connection from an address of this machine, with all that it has received. */
async function open({ url }: GatewayProcess, from: string) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: from });
  opened.push(socket);
  let received = "";
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
  });
  const closed = once(socket, "close");
  await once(socket, "connect");
  return { socket, closed, received: () => received };
}

/** The first line of the answer to bytes that are sent over a new connection, which stays open. */
async function say(gateway: GatewayProcess, from: string, bytes: string): Promise<string> {
  const { socket, received } = await open(gateway, from);
  socket.write(bytes);
  await eventually("it is answered", () => received().includes("\r\n\r\n"));
  return received().split("\r\n")[0] ?? "";
}

/** Opens a WebSocket that never sends anything, and resolves with the status of its upgrade. */
async function openSilent(
  gateway: GatewayProcess,
  from: string,
  forwardedFor?: string,
  path = "/socket.io/?EIO=4&transport=websocket",
): Promise<string> {
  const lines = [
    `GET ${path} HTTP/1.1`,
    "Host: localhost",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ...(forwardedFor === undefined ? [] : [`X-Forwarded-For: ${forwardedFor}`]),
  ];
  return (await say(gateway, from, [...lines, "", ""].join("\r\n"))).split(" ")[1] ?? "";
}

async function refusedCount({ url }: GatewayProcess, kind: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(
    new RegExp(`^lyrebird_connections_refused_total\\{kind="${kind}"\\} (\\d+)$`, "m").exec(text)?.[1],
  );
}

/** Takes all connections that an address may have. */
async function fill(gateway: GatewayProcess, forwardedFor: readonly string[] = []) {
  const key = gateway.seed();
  for (let count = 0; count < STREAMS_MAX; count += 1) {
    const address = forwardedFor[count];
    const options = address === undefined ? {} : { headers: { "x-forwarded-for": address } };
    const client = await connectStream(gateway.url, MARKET, key, options);
    clients.push(client);
    await client.subscribe({ pair: "BTCUSDT", timeframe: "1m" });
  }
}

describe("WebSockets of one address", () => {
  test("are answered 429 beyond its bound, while another address is let in at once", async () => {
    await fill(gateway);
    const before = await refusedCount(gateway, "stream");
    expect(await openSilent(gateway, "127.0.0.1")).toBe("429");
    expect(await refusedCount(gateway, "stream")).toBe(before + 1);
    expect(await openSilent(gateway, "127.0.0.3")).toBe("101");
    clients[0]?.close();
    await eventually(
      "the address may open another",
      async () => (await openSilent(gateway, "127.0.0.1")) === "101",
    );
  });

  test("behind a proxy are those of the address that it forwards, an IPv6 /64 being one", async () => {
    const from = (forwardedFor: string) => openSilent(behindProxy, "127.0.0.1", forwardedFor);
    await fill(behindProxy, ["2001:db8::1", "2001:db8::2", "2001:db8::ffff:3"]);
    expect(await from("2001:db8::4")).toBe("429");
    expect(await from("192.0.2.9, 2001:db8::5")).toBe("429");
    expect(await from("2001:db8:0:1::1")).toBe("101");
    expect(await from("192.0.2.1")).toBe("101");
  });
});

test("an address tries so often to connect to Binance's sockets as the setting says", async () => {
  // Refused handshakes are attempts too, and leave no connection open.
  const statusOf = (from: string) => openSilent(gateway, from, undefined, "/ws?timeUnit=MICROSECOND");
  for (let count = 0; count < ATTEMPTS_MAX; count += 1) expect(await statusOf("127.0.0.9")).toBe("400");
  expect(await statusOf("127.0.0.9")).toBe("429");
  expect(await statusOf("127.0.0.10")).toBe("400");
});

describe("silent connections of one address", () => {
  const openMany = async (gateway: GatewayProcess, from: string, count: number) => {
    for (let each = 0; each < count; each += 1) await open(gateway, from);
  };

  test("leave it 503 and a cut beyond its bound, while another address is served at once", async () => {
    await openMany(gateway, "127.0.0.4", CONNECTIONS_MAX);
    const before = await refusedCount(gateway, "any");
    const { socket, closed, received } = await open(gateway, "127.0.0.4");
    socket.write(PING + PING);
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 503 /);
    expect(received()).toMatch(/\r\nretry-after: 1\r\n/i);
    expect(received()).toMatch(/\r\nconnection: close\r\n/i);
    expect(received()).toContain('"code":-1008');
    expect(received().match(/HTTP\/1\.1/g)).toHaveLength(1);
    const silent = await open(gateway, "127.0.0.4");
    await silent.closed;
    expect(await refusedCount(gateway, "any")).toBe(before + 2);
    expect(await say(gateway, "127.0.0.5", PING)).toBe("HTTP/1.1 200 OK");
    const warnings = gateway.output().match(/an address has too many connections/g);
    expect(warnings, "the log says so once").toHaveLength(1);
  });

  test("of a trusted proxy are not counted: they are those of all its clients", async () => {
    await openMany(behindProxy, "127.0.0.6", CONNECTIONS_MAX);
    expect(await say(behindProxy, "127.0.0.6", PING)).toBe("HTTP/1.1 200 OK");
  });

  test("over HTTPS are cut before a handshake", async () => {
    const secure = await startGateway({ env: { ...BOUNDS, ...writeCertificate(newCertificate()) } });
    try {
      await openMany(secure, "127.0.0.7", CONNECTIONS_MAX);
      const surplus = await open(secure, "127.0.0.7");
      await surplus.closed;
      expect(surplus.received()).toBe("");
    } finally {
      await secure.stop();
    }
  });
});

describe("a request that is not complete in time", () => {
  test("is refused with 408", async () => {
    const { socket, closed, received } = await open(gateway, "127.0.0.8");
    socket.write(PING.slice(0, 20));
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(received()).toContain('{"code":-1102,"msg":"The request was not complete in time."}');
  }, 30_000);

  test("and of which nothing has come gets no answer: it would be taken for that of the next", async () => {
    const { closed, received } = await open(gateway, "127.0.0.8");
    await closed;
    expect(received()).toBe("");
  }, 30_000);
});

test("an address without open connections is dropped, and may open all again", () => {
  const bound = new ConnectionBound(1);
  const admit = () => bound.admit("192.0.2.1");
  for (let round = 0; round < 2; round += 1) {
    const admission = admit();
    expect(admit()).toEqual({ isAdmitted: false, isFirst: true });
    expect(admit()).toEqual({ isAdmitted: false, isFirst: false });
    if (admission.isAdmitted) admission.leave();
  }
  expect(bound.refusedCount).toBe(4);
});
