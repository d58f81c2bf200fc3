// The transport of the dashboard's answers: compressed where their length reveals no secret, and HSTS once a
// browser has used HTTPS.
import type { IncomingHttpHeaders } from "node:http";
import { get } from "node:https";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ALL_ROUTES } from "../../../src/dashboard-api/routes.ts";
import type { Browser } from "../../support/dashboard/client.ts";
import { type DashboardFixture, openDashboardFixture, PASSWORD } from "../../support/dashboard/fixture.ts";
import { newKey, newStrategy, tradeOn } from "../../support/dashboard/world.ts";
import { newCertificate, writeCertificate } from "../../support/servers/certificate.ts";
import { startGateway } from "../../support/servers/gateway.ts";
import { stayOnLoopback } from "../../support/servers/loopback-only.ts";

stayOnLoopback();

const certificate = newCertificate();

describe("an answer", () => {
  let fixture: DashboardFixture;
  let trader: Browser;
  beforeAll(async () => {
    fixture = await openDashboardFixture();
    trader = await fixture.somebody({});
  }, 60_000);
  afterAll(() => fixture.close());

  /** As a browser gets it that takes these encodings: what came, and how it was written. */
  async function fetched(path: string, accepted: string) {
    fixture.pass(1_000);
    const response = await fetch(`${fixture.url}/dashboard/api${path}`, {
      headers: { cookie: trader.cookies(), "accept-encoding": accepted },
    });
    return {
      encoding: response.headers.get("content-encoding"),
      headers: response.headers,
      text: await response.text(),
    };
  }

  test("of more than a packet is compressed for clients that accept it, with the same content", async () => {
    const candles = "/markets/SPOT/candles?symbol=BTCUSDT&interval=1d&limit=200";
    const plain = await fetched(candles, "identity");
    expect(plain.encoding).toBeNull();
    expect(plain.text.length).toBeGreaterThan(10_000);
    for (const accepted of ["gzip", "gzip, deflate, br, zstd", "br;q=1.0, gzip;q=0.5"]) {
      const { encoding, headers, text } = await fetched(candles, accepted);
      expect({ encoding, vary: headers.get("vary") }, accepted).toEqual({
        encoding: "gzip",
        vary: "accept-encoding",
      });
      expect(Number(headers.get("content-length"))).toBeLessThan(plain.text.length / 2);
      expect(JSON.parse(text).rows.slice(0, -1)).toEqual(JSON.parse(plain.text).rows.slice(0, -1));
    }
    for (const accepted of ["br", "gzip;q=0", "deflate"]) {
      expect((await fetched(candles, accepted)).encoding, accepted).toBeNull();
    }
  });

  test("that is short is sent as it is", async () => {
    const { encoding, text } = await fetched("/second-factor", "gzip");
    expect(encoding).toBeNull();
    expect(JSON.parse(text)).toMatchObject({ isEnabled: true });
  });

  test("that is a file is compressed too", async () => {
    const strategy = await newStrategy(trader, "SPOT");
    for (let count = 0; count < 20; count += 1) {
      const terms = { symbol: "BTCUSDT", type: "MARKET", side: "BUY", quoteOrderQty: "10" };
      await tradeOn(fixture, strategy)("POST", "/api/v3/order", terms);
    }
    const { encoding, headers, text } = await fetched(
      `/strategies/${strategy.strategyId}/trades.csv`,
      "gzip",
    );
    expect(encoding).toBe("gzip");
    expect(headers.get("content-disposition")).toContain("attachment");
    expect(text.split("\r\n")).toHaveLength(22);
  });

  test("that shows a secret is never compressed: those of these rows", async () => {
    const secret = ALL_ROUTES.filter(({ showsSecrets }) => showsSecrets);
    expect(secret.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      "POST /keys",
      "POST /second-factor",
      "POST /second-factor/confirm",
      "POST /second-factor/recovery-codes",
    ]);
    // A label of many signs makes an answer that would be worth it.
    const label = "é".repeat(60);
    const headers = { "accept-encoding": "gzip" };
    const body = { label, code: trader.code() };
    const { key } = await trader.send("POST", "/keys", body);
    expect(key.label).toBe(label);
    const other = await fixture.somebody({ hasSecondFactor: false });
    const begun = await other.call("POST", "/second-factor", { body: { password: PASSWORD }, headers });
    expect(begun).toMatchObject({ status: 200, body: { secret: expect.any(String) } });
    for (const answer of [
      begun,
      await trader.call("POST", "/keys", { body: { ...body, code: trader.code() }, headers }),
    ]) {
      expect(answer.headers).not.toHaveProperty("content-encoding");
      expect(answer.headers).not.toHaveProperty("vary");
    }
    for (let count = 0; count < 4; count += 1) await newKey(trader);
    expect((await fetched("/keys", "gzip")).encoding).toBe("gzip");
  });
});

test("every answer over HTTPS has HSTS, except at localhost", async () => {
  const secure = await startGateway({ env: writeCertificate(certificate) });
  onTestFinished(() => secure.kill());
  const pages = ["/", "/sign-in", "/docs", "/dashboard/api/session", "/dashboard/api/nothing"];
  const ofFamilies = ["/api/v3/ping", "/api/v3/account", "/fapi/v1/nothing", "/sapi/v1/system/status"];
  for (const path of [
    ...pages,
    ...ofFamilies,
    "/bot/v1/spot/orders",
    "/healthz",
    "/metrics",
    "/socket.io/",
  ]) {
    expect(await told(secure.url, path, "lyrebird.example"), path).toBe(
      "max-age=31536000; includeSubDomains",
    );
    expect(await told(secure.url, path, "localhost:8080"), path).toBeUndefined();
  }
});

async function told(url: string, path: string, host: string): Promise<string | undefined> {
  const headers = await new Promise<IncomingHttpHeaders>((resolve, reject) => {
    const asked = get(url + path, {
      headers: { host, accept: "text/html" },
      ca: certificate.cert,
      servername: "localhost",
    });
    asked.on("error", reject);
    asked.on("response", (response) => {
      response.resume();
      resolve(response.headers);
    });
  });
  return headers["strict-transport-security"];
}
