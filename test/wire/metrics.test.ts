// GET /metrics: what Prometheus reads, and its access control.
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type GatewayProcess, startGateway } from "../support/servers/gateway.ts";
import { freePort } from "../support/servers/postgres.ts";

const TOKEN = "a-token-that-is-long-enough-0123456789";

let plain: GatewayProcess;
let withToken: GatewayProcess;
beforeAll(async () => {
  plain = await startGateway();
  withToken = await startGateway({ env: { TRUSTED_PROXY_HOPS: "1", METRICS_TOKEN: TOKEN } });
});
afterAll(async () => {
  await Promise.all([plain.stop(), withToken.stop()]);
});

async function metrics({ url }: GatewayProcess, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/metrics`, { headers });
  return { status: response.status, type: response.headers.get("content-type"), text: await response.text() };
}

describe("a request from this machine", () => {
  test("reads how routes, desk, feeds and process fare", async () => {
    for (let count = 0; count < 3; count += 1) await fetch(`${plain.url}/api/v3/time`);
    await fetch(`${plain.url}/api/v3/nothing`);
    const { status, type, text } = await metrics(plain);
    expect(status).toBe(200);
    expect(type).toMatch(/^text\/plain; version=0\.0\.4/);
    const name = "lyrebird_http_request_duration_seconds";
    const labels = 'method="GET",route="/api/v3/time",status="2xx"';
    expect(text).toContain(`# TYPE ${name} histogram\n`);
    expect(text).toContain(`${name}_count{${labels}} 3\n`);
    expect(text).toContain(`${name}_bucket{le="+Inf",${labels}} 3\n`);
    expect(text).toContain(`${name}_bucket{le="10",${labels}} 3\n`);
    expect(text).toContain(`${name}_count{method="GET",route="(no route)",status="4xx"} 1\n`);
    for (const line of [
      'lyrebird_feed_connected{family="SPOT"} 1',
      'lyrebird_feed_stale_symbols{family="FUTURES"} 0',
      "lyrebird_sockets 0",
      "lyrebird_user_stream_accounts 0",
      "lyrebird_desk_commands_waiting 0",
      "lyrebird_desk_is_behind 0",
      'lyrebird_crossings_dropped_total{family="SPOT"} 0',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
    // No market has been used yet: its data has no age.
    expect(text).toContain("# TYPE lyrebird_feed_age_seconds gauge\n");
    expect(text).not.toContain("lyrebird_feed_age_seconds{");
    for (const each of ["nodejs_eventloop_lag_seconds", "process_cpu_seconds_total"]) {
      expect(text).toMatch(new RegExp(`^${each}\\b.* [0-9.e-]+$`, "m"));
    }
    // Buckets are cumulative.
    const buckets = [...text.matchAll(new RegExp(`_bucket\\{le="[^"]+",${labels}\\} (\\d+)`, "g"))];
    const counts = buckets.map(([, count]) => Number(count));
    expect(counts).toEqual(counts.toSorted((one, other) => one - other));
    expect(counts.length).toBeGreaterThan(20);
  });

  test.each([["x-forwarded-for"], ["x-real-ip"], ["forwarded"]])(
    "is refused if a proxy on it forwards a request, as %s shows",
    async (header) => {
      const { status, text } = await metrics(plain, { [header]: "127.0.0.1" });
      expect(status).toBe(403);
      expect(text).toBe("Metrics are for this machine alone. Set METRICS_TOKEN to ask from elsewhere.\n");
    },
  );

  test("has no use for a token where there is none", async () => {
    const headers = { authorization: `Bearer ${TOKEN}`, "x-forwarded-for": "192.0.2.7" };
    expect((await metrics(plain, headers)).status).toBe(403);
  });
});

describe("the name that is asked", () => {
  /** As a browser asks at a site whose name leads to this machine. */
  async function statusAt(url: string, name: string, headers: Record<string, string> = {}) {
    const { hostname, port } = new URL(url);
    const sent = { host: name.replace("PORT", port), ...headers };
    const answer = get({ hostname, port, path: "/metrics", headers: sent });
    const [response] = (await once(answer, "response")) as [IncomingMessage];
    response.resume();
    return response.statusCode;
  }

  test.each(["localhost:PORT", "LocalHost", "127.0.0.1:PORT", "[::1]:PORT", "[::1]"])(
    "may be %s",
    async (name) => {
      expect(await statusAt(plain.url, name)).toBe(200);
    },
  );

  test.each([
    "rebound.example:PORT",
    "localhost.rebound.example",
    "localhost@rebound.example",
    "lyrebird.example",
    "[::2]",
  ])("may not be that of another site: %j", async (name) => {
    expect(await statusAt(plain.url, name)).toBe(403);
  });

  test("may be PUBLIC_URL's", async () => {
    const port = await freePort();
    const env = { PUBLIC_URL: "https://Lyrebird.example" };
    const gateway = await startGateway({ args: ["--port", String(port)], env });
    onTestFinished(() => gateway.kill());
    const at = `http://127.0.0.1:${port}`;
    expect(await statusAt(at, "lyrebird.example")).toBe(200);
    expect(await statusAt(at, "rebound.example")).toBe(403);
  });

  test("may be any with the token", async () => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect(await statusAt(withToken.url, "rebound.example", headers)).toBe(200);
    expect(await statusAt(withToken.url, "rebound.example")).toBe(403);
  });
});

describe("a request from elsewhere, through a proxy", () => {
  const elsewhere = { "x-forwarded-for": "192.0.2.7" };

  test("needs the token", async () => {
    const { status, text } = await metrics(withToken, elsewhere);
    expect(status).toBe(403);
    expect(text).toMatch(/Send METRICS_TOKEN as bearer token/);
    expect(text).not.toContain(TOKEN);
  });

  test("reads them with it, and not with another", async () => {
    const ask = (token: string) => metrics(withToken, { ...elsewhere, authorization: `Bearer ${token}` });
    expect((await ask(TOKEN)).status).toBe(200);
    expect((await ask(`${TOKEN}x`)).status).toBe(401);
    expect((await ask(TOKEN.toUpperCase())).status).toBe(401);
  });

  test("and guesses are rate-limited", async () => {
    const guess = { "x-forwarded-for": "192.0.2.8", authorization: "Bearer guess" };
    let status = 401;
    for (let count = 0; status === 401 && count < 3_000; count += 1) {
      status = (await metrics(withToken, guess)).status;
    }
    expect(status).toBe(429);
  });
});
