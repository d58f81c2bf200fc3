// What load balancers and monitors ask, and HEAD, which they ask with.
import { connect } from "node:net";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { ApiFamily } from "../../src/http/pipeline.ts";
import { createProbes } from "../../src/http/probes.ts";
import { createServer } from "../../src/http/server.ts";
import { UNOBSERVED } from "../../src/observability/request-context.ts";
import { Budgets } from "../../src/rate-limits/budgets.ts";
import { freshAddress } from "../support/addresses.ts";
import { eventually } from "../support/eventually.ts";
import { exchange } from "../support/raw.ts";
import { type GatewayProcess, startGateway } from "../support/servers/gateway.ts";
import { send, signed } from "../support/signed-client.ts";

const READY = {
  status: "ok",
  checks: { server: "ok", store: "ok", spotMarket: "ok", futuresMarket: "ok" },
};

describe("a running server", () => {
  let gateway: GatewayProcess;
  beforeAll(async () => {
    gateway = await startGateway({ env: { TRUSTED_PROXY_HOPS: "1" } });
    await eventually("it is ready", async () => (await ask("GET", "/readyz")).status === 200);
  });
  afterAll(async () => {
    await gateway.stop();
  });
  const ask = (method: string, path: string, address = "192.0.2.1") =>
    send(gateway.url, method, path, { headers: { "x-forwarded-for": address } });

  test("confirms that it answers, and that store and markets are available", async () => {
    expect(await ask("GET", "/healthz")).toMatchObject({ status: 200, body: { status: "ok" } });
    const ready = await ask("GET", "/readyz");
    expect(ready).toMatchObject({ status: 200, body: READY });
    expect(ready.headers.get("cache-control")).toBe("no-store");
    expect(ready.headers.get("content-type")).toMatch(/^application\/json/);
    expect(await ask("POST", "/healthz")).toMatchObject({ status: 404, body: { code: -5000 } });
  });

  test("charges probes to no budget, and answers them to a banned address", async () => {
    const address = freshAddress();
    for (let count = 0; count < 50; count += 1)
      expect((await ask("GET", "/readyz", address)).status).toBe(200);
    const { headers } = await ask("GET", "/api/v3/ping", address);
    expect(headers.get("x-mbx-used-weight-1m")).toBe("1");
    let { status } = await ask("GET", "/api/v3/ping", address);
    while (status !== 418)
      ({ status } = await ask("GET", "/api/v3/depth?symbol=BTCUSDT&limit=5000", address));
    for (const path of ["/healthz", "/readyz"]) expect((await ask("GET", path, address)).status).toBe(200);
  });

  test("answers HEAD wherever it answers GET, as it would but without the body, and charges as much", async () => {
    const strategy = gateway.seed();
    for (const path of ["/healthz", "/readyz", "/api/v3/ping", "/api/v3/exchangeInfo?symbol=BTCUSDT"]) {
      const [got, head] = [await ask("GET", path, freshAddress()), await exchangeHead(path)];
      expect({ status: head.status, text: head.text }, path).toEqual({ status: 200, text: "" });
      for (const name of ["content-type", "x-mbx-used-weight-1m"]) {
        expect(head.headers[name] ?? null, path).toBe(got.headers.get(name));
      }
    }
    expect((await exchangeHead("/api/v3/nothing")).status).toBe(404);
    expect((await exchangeHead("/api/v3/platform/strategy/close")).status).toBe(404);
    expect((await signed(gateway.url, strategy, "HEAD", "/api/v3/account")).status).toBe(200);
  });
  const exchangeHead = (path: string) =>
    exchange(gateway.url, { method: "HEAD", path, headers: { "x-forwarded-for": freshAddress() } });
});

describe("a server that cannot do its work", () => {
  const ready = { store: "ok", spotMarket: "ok", futuresMarket: "ok" };
  const serve = async (readiness: typeof ready, more: readonly ApiFamily[] = []) => {
    const probes = createProbes({ readiness: async () => readiness });
    // The requests of this test need no more of a gateway.
    const gateway = {
      budgets: new Budgets(),
      wallNow: Date.now,
      observer: UNOBSERVED,
      desk: { isBehind: () => false },
    };
    const log = pino({ level: "silent" });
    const server = createServer(gateway as never, { log, families: [probes, ...more] });
    onTestFinished(() => server.close());
    return { probes, url: await server.listen({ port: 0, host: "127.0.0.1" }) };
  };

  test("is not ready, with the failing part", async () => {
    const { url } = await serve({ ...ready, store: "cannot be reached" });
    const answer = await send(url, "GET", "/readyz");
    expect(answer).toMatchObject({
      status: 503,
      body: { status: "not ready", checks: { ...READY.checks, store: "cannot be reached" } },
    });
    expect(answer.headers.get("retry-after")).toBe("1");
    expect((await exchange(url, { method: "HEAD", path: "/readyz" })).status).toBe(503);
    expect((await send(url, "GET", "/healthz")).status).toBe(200);
  });

  test("is not ready from when it begins to close", async () => {
    const { probes, url } = await serve(ready);
    expect((await send(url, "GET", "/readyz")).status).toBe(200);
    probes.beginClosing();
    expect(await send(url, "GET", "/readyz")).toMatchObject({
      status: 503,
      body: { checks: { server: "closing", store: "ok" } },
    });
    expect((await send(url, "GET", "/healthz")).status).toBe(200);
  });

  test("answers probes in an event-loop iteration that has become too long for anything else", async () => {
    const slow = createProbes({ readiness: async () => ready });
    const { url } = await serve(ready, [
      {
        ...slow,
        takes: (path) => path === "/slow",
        async answer() {
          const began = performance.now();
          while (performance.now() - began < 60);
          return { status: 200, headers: {}, body: "{}" };
        },
      },
    ]);
    const paths = ["/slow", ...Array.from({ length: 256 }, () => "/none"), "/healthz", "/none"];
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\n\r\n`).join(""));
    let text = "";
    for await (const chunk of socket) {
      text += String(chunk);
      if (text.match(/HTTP\/1\.1 /g)?.length === paths.length) break;
    }
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
    expect(statuses.slice(-2)).toEqual([200, 503]);
  });
});
