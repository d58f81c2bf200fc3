// The web application in a browser: caching, compression, what its pages may load, which paths are its own,
// and that only a browser gets a page.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type IncomingHttpHeaders, request } from "node:http";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import pino from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApplication, NO_PAGE_POLICY, PAGE_SECTIONS } from "../../../src/dashboard-api/files.ts";
import { createServer, type GatewayServer } from "../../../src/http/server.ts";
import { UNOBSERVED } from "../../../src/observability/request-context.ts";
import { Budgets } from "../../../src/rate-limits/budgets.ts";
import { newDirectory } from "../../support/servers/gateway.ts";

const SCRIPT = `console.log("${"lyrebird ".repeat(500)}");`;
const INDEX = "<!doctype html><title>Lyrebird</title><script src=/assets/index-1a2b.js></script>";

let built: GatewayServer;
let unbuilt: GatewayServer;
let url: string;
let unbuiltUrl: string;

beforeAll(async () => {
  const folder = newDirectory();
  mkdirSync(join(folder, "assets"));
  writeFileSync(join(folder, "index.html"), INDEX);
  writeFileSync(join(folder, "theme.js"), "document;");
  writeFileSync(join(folder, ".built-from"), "a stamp");
  writeFileSync(join(folder, "assets", "index-1a2b.js"), SCRIPT);
  writeFileSync(join(folder, "assets", "bird.png"), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255]));
  writeFileSync(join(folder, "..", "outside.txt"), "a secret");
  built = serverOf(folder);
  unbuilt = serverOf(join(folder, "nothing"));
  url = await built.listen({ port: 0, host: "127.0.0.1" });
  unbuiltUrl = await unbuilt.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(async () => {
  await built.close();
  await unbuilt.close();
});

/** The headers of a browser that opens an address. */
const READER = {
  accept: "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
} as const;

describe("a page of the application", () => {
  test("is index.html, on every path of its router and on no others", async () => {
    const routes = readFileSync(join(import.meta.dirname, "../../../dashboard/src/app/routes.tsx"), "utf8");
    const paths = [...routes.matchAll(/(?:path: |createRoute\(\s*\w+\(\s*)"([^"]+)"/g)].map(
      ([, path = ""]) => path,
    );
    expect(paths).toHaveLength(routes.split("createRoute(").length - 1);
    // The others are of pages within these.
    const own = paths.filter((path) => path.startsWith("/"));
    expect(new Set(own.map((path) => path.split("/")[1]))).toEqual(new Set(["", ...PAGE_SECTIONS]));
    for (const path of own) {
      const { status, body } = await get(path, READER);
      expect({ status, text: body.toString() }, path).toEqual({ status: 200, text: INDEX });
    }
  });

  test("is requested again each time", async () => {
    for (const path of ["/", "/sign-in", "/strategies/abc/orders/17?tab=1", "/operator/people"]) {
      const { status, headers, body } = await get(path, READER);
      expect({ status, text: body.toString() }, path).toEqual({ status: 200, text: INDEX });
      expect(headers["content-type"]).toBe("text/html;charset=UTF-8");
      expect(headers["cache-control"]).toBe("no-cache");
      expect(headers.vary).toBe("accept, accept-encoding");
    }
  });

  test("is for readers: a client that does not name text/html gets an error, but for the start", async () => {
    for (const accept of [
      undefined,
      "*/*",
      "application/json",
      "application/json, */*",
      "text/html;q=0",
      "text/plain",
    ]) {
      const headers = accept === undefined ? {} : { accept };
      const { status, headers: said, body } = await get("/strategies", headers);
      expect({ status, type: said["content-type"] }, accept).toEqual({
        status: 404,
        type: "application/json;charset=UTF-8",
      });
      expect(JSON.parse(body.toString())).toEqual({
        code: -5000,
        msg: "Path /strategies, Method GET is invalid",
      });
    }
    expect((await get("/")).body.toString()).toBe(INDEX);
    expect((await get("/", { accept: "*/*" })).body.toString()).toBe(INDEX);
    expect((await get("/", { accept: "application/json" })).status).toBe(404);
  });

  test("is on no other path, whatever a client accepts", async () => {
    for (const path of [
      "/futures/data/openInterestHist?symbol=BTCUSDT&period=5m",
      "/v3/account",
      "/stream",
      "/ws",
      "/ws-api/v3",
      "/health",
      "/eapi/v1/exchangeInfo",
      "/papi/v1/balance",
      "/wapi/v3/accountStatus.html",
      "/dashboard",
      "/dashboard/sign-in",
      "/index",
      "/index.html",
      "/Strategies",
      "/strategies%2fnew",
    ]) {
      for (const method of ["GET", "HEAD"]) {
        const { status, headers, body } = await get(path, READER, method);
        expect({ status, type: headers["content-type"] }, path).toEqual({
          status: 404,
          type: "application/json;charset=UTF-8",
        });
        if (method === "GET") expect(JSON.parse(body.toString()), path).toMatchObject({ code: -5000 });
      }
    }
  });

  test("may load what this site has, run no inline code, and not be framed", async () => {
    const { headers } = await get("/", READER);
    const policy = String(headers["content-security-policy"]).split("; ");
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
      ]),
    );
    expect(policy.join()).not.toContain("unsafe");
    expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });
  });

  test("is not sent again to a client that has it", async () => {
    const { headers } = await get("/sign-in", { ...READER, "accept-encoding": "gzip" });
    const again = await get("/keys", {
      ...READER,
      "if-none-match": `"other", ${headers.etag}`,
      "accept-encoding": "br",
    });
    expect(again).toMatchObject({ status: 304, body: Buffer.alloc(0) });
    expect(again.headers["content-length"]).toBeUndefined();
    expect((await get("/keys", { ...READER, "if-none-match": '"other"' })).status).toBe(200);
  });
});

describe("a file", () => {
  test("named by its content may be cached forever, any other must be revalidated", async () => {
    const script = await get("/assets/index-1a2b.js");
    expect(script.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
    expect(script.headers["content-type"]).toBe("text/javascript;charset=UTF-8");
    expect((await get("/theme.js")).headers["cache-control"]).toBe("no-cache");
  });

  test("that is opened by itself loads and runs nothing, and cannot be framed", async () => {
    for (const path of ["/assets/index-1a2b.js", "/assets/bird.png", "/theme.js"]) {
      expect((await get(path)).headers, path).toMatchObject({
        "content-security-policy": NO_PAGE_POLICY,
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
      });
    }
    expect(NO_PAGE_POLICY.split("; ")).toEqual(
      expect.arrayContaining(["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'"]),
    );
  });

  test("comes as its reader can take it", async () => {
    for (const [accepted, encoding, decode] of [
      ["gzip, deflate, br, zstd", "br", brotliDecompressSync],
      ["BR;q=1.0", "br", brotliDecompressSync],
      ["gzip, deflate", "gzip", gunzipSync],
      ["br;q=0, gzip;q=0.5", "gzip", gunzipSync],
      ["br;q=0.000, gzip;q=0", undefined, (bytes: Buffer) => bytes],
      ["identity", undefined, (bytes: Buffer) => bytes],
      ["", undefined, (bytes: Buffer) => bytes],
    ] as const) {
      for (const time of ["first", "second"]) {
        const { headers, body } = await get("/assets/index-1a2b.js", { "accept-encoding": accepted });
        expect(headers["content-encoding"], `${accepted}, ${time}`).toBe(encoding);
        expect(headers.vary).toBe("accept-encoding");
        expect(decode(body).toString()).toBe(SCRIPT);
        expect(Number(headers["content-length"])).toBe(body.length);
      }
    }
    const picture = await get("/assets/bird.png", { "accept-encoding": "br, gzip" });
    expect(picture.headers["content-encoding"]).toBeUndefined();
    expect([...picture.body]).toEqual([0x89, 0x50, 0x4e, 0x47, 0, 255]);
  });

  test("is described without being sent", async () => {
    const { status, headers, body } = await get("/assets/index-1a2b.js", {}, "HEAD");
    expect({ status, length: Number(headers["content-length"]) }).toEqual({
      status: 200,
      length: SCRIPT.length,
    });
    expect(body.length).toBe(0);
  });

  test("that is not the application's is not there", async () => {
    for (const path of [
      "/outside.txt",
      "/../outside.txt",
      "/assets/../../outside.txt",
      "/assets/..%2f..%2foutside.txt",
      "/%2e%2e/outside.txt",
      "/assets/%2e%2e/%2e%2e/outside.txt",
      "/.built-from",
      "/assets/none.js",
      "/assets/",
      "/favicon.ico",
      "/wp-login.php",
      "/%",
      "/%2e",
      "/a//b",
      "//",
      "/<script>",
      "//etc/passwd.txt",
    ]) {
      const { status, body } = await get(path, READER);
      expect(status, path).toBe(404);
      expect(body.toString(), path).not.toContain("a secret");
    }
  });
});

test("paths of the interfaces are refused as ever", async () => {
  for (const path of [
    "/api/v3/nothing",
    "/fapi/v9/x",
    "/sapi/v1/x",
    "/dapi/v1/x",
    "/api",
    "/metrics/x",
    "/docs/none",
  ]) {
    const { status, body } = await get(path, READER);
    expect(status, path).toBe(404);
    expect(JSON.parse(body.toString()), path).toMatchObject({ code: -5000 });
  }
  expect(JSON.parse((await get("/bot/v1/none")).body.toString())).toMatchObject({ status: false });
  expect((await get("/strategies", READER, "POST")).status).toBe(404);
});

test("an application that was not built says how to build it, and the interfaces still work", async () => {
  const { status, headers, body } = await get("/strategies", READER, "GET", unbuiltUrl);
  expect(status).toBe(404);
  expect(headers["content-type"]).toBe("text/html;charset=UTF-8");
  expect(body.toString()).toContain("npm start");
  expect(headers["content-security-policy"]).toBe(NO_PAGE_POLICY);
  expect((await get("/api/v3/ping", {}, "GET", unbuiltUrl)).status).toBe(200);
});

function serverOf(folder: string): GatewayServer {
  // The requests of this test need no more of a gateway.
  const gateway = {
    budgets: new Budgets(),
    wallNow: Date.now,
    observer: UNOBSERVED,
    desk: { isBehind: () => false },
  };
  return createServer(gateway as never, { log: pino({ level: "silent" }), pages: createApplication(folder) });
}

/** The answer's bytes as they came. A path is sent as it is written. */
function get(path: string, headers: IncomingHttpHeaders = {}, method = "GET", at = url) {
  const { hostname, port } = new URL(at);
  return new Promise<{ status: number; headers: IncomingHttpHeaders; body: Buffer }>((resolve, reject) => {
    const asked = request({ hostname, port, method, path, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
      );
    });
    asked.on("error", reject);
    asked.end();
  });
}
