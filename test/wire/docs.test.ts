// The documents over the wire, as a running gateway serves them; and the programs that they show, run as they
// are shown.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { BOT_ROUTES } from "../../src/http/bot/routes.ts";
import { type Credentials, newDirectory } from "../support/servers/gateway.ts";
import { seededGateway } from "../support/servers/seeded-gateway.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const gateway = seededGateway(6);

async function get(path: string, init: RequestInit = {}) {
  const response = await fetch(gateway.url + path, init);
  return { status: response.status, headers: response.headers, text: await response.text() };
}

/** What the headers of an answer say of its body. */
function described({ headers }: { readonly headers: Headers }) {
  return ["content-type", "content-length", "cache-control"].map((name) => headers.get(name));
}

describe("GET /docs", () => {
  test("is a page that may load and run what this server has, and nothing else", async () => {
    const { status, headers, text } = await get("/docs");
    expect(status).toBe(200);
    expect(headers.get("content-type")).toBe("text/html;charset=UTF-8");
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(text).toContain('<main id="reference"');
  });

  test("leads to pages that are there", async () => {
    const { text } = await get("/docs/");
    const paths = [...text.matchAll(/ (?:href|src)="(\/[^"]*)"/g)].map(([, path = ""]) => path);
    expect(paths).toEqual(expect.arrayContaining(["/docs/openapi.json", "/docs/api/spot.md"]));
    for (const path of paths) expect((await get(path)).status, path).toBe(200);
  });

  test("openapi.json and asyncapi.json are JSON, and name this server", async () => {
    const openApi = await get("/docs/openapi.json");
    expect(openApi.headers.get("content-type")).toBe("application/json;charset=UTF-8");
    expect(JSON.parse(openApi.text)).toMatchObject({ openapi: "3.1.0", servers: [{ url: gateway.url }] });
    const asyncApi = await get("/docs/asyncapi.json");
    expect(JSON.parse(asyncApi.text)).toMatchObject({
      asyncapi: "3.0.0",
      servers: { gateway: { host: new URL(gateway.url).host } },
    });
  });

  test("is answered to HEAD as well, but for the body", async () => {
    for (const path of ["/docs", "/docs/openapi.json", "/docs/api/spot.md"]) {
      const [got, head] = [await get(path), await get(path, { method: "HEAD" })];
      expect({ ...head, headers: described(head) }).toEqual({
        status: 200,
        headers: described(got),
        text: "",
      });
    }
    for (const path of ["/docs/none", "/api/v3/none"]) {
      expect((await get(path, { method: "HEAD" })).status, path).toBe(404);
    }
  });

  test("charges nothing, and what is not there is 404", async () => {
    const used = async () => Number((await get("/api/v3/ping")).headers.get("x-mbx-used-weight-1m"));
    const minute = () => Math.floor(Date.now() / 60_000);
    for (let began = -1; began !== minute(); ) {
      // Where the minute ends in between, that shows nothing: then once more.
      began = minute();
      const before = await used();
      await get("/docs");
      const after = await used();
      if (began === minute()) expect(after - before).toBe(1);
    }
    for (const path of ["/docs/none", "/docs/%2e%2e/package.json", "/docs/x/y"]) {
      expect((await get(path)).status, path).toBe(404);
    }
    expect((await get("/docs", { method: "POST" })).status).toBe(404);
  });
});

test("every route of the document is served: without a signature it answers as its security says", async () => {
  const { paths } = JSON.parse((await get("/docs/openapi.json")).text);
  const named = Object.entries<Record<string, { readonly security: readonly object[] }>>(paths).flatMap(
    ([path, operations]) =>
      Object.entries(operations).map(([method, { security }]) => ({
        path: path.replace(/\{\w+\}/g, "x"),
        method: method.toUpperCase(),
        scheme: Object.keys(security[0] ?? {})[0],
      })),
  );
  expect(named.length).toBeGreaterThan(BOT_ROUTES.length + 70);
  for (const { path, method, scheme } of named) {
    const { status, text } = await get(path, { method });
    const body = JSON.parse(text);
    if (scheme === "botApiKey") {
      expect(body, path).toEqual({ status: false, message: "Missing bot authentication headers" });
      expect(status).toBe(401);
    } else if (scheme === "exchangeApiKey") {
      expect(body, path).toMatchObject({ code: -2015 });
    } else {
      // A mandatory parameter is missing, or there is none; or the exchange has retired the route.
      expect(path.endsWith("/userDataStream") ? [410] : [200, 400], path).toContain(status);
      if (status === 400) expect(body.code, path).toBe(-1102);
    }
  }
});

describe("the programs that are shown", () => {
  test.skipIf(!hasPrograms("curl", "openssl"))(
    "curl and openssl submit a signal, wherever it is shown",
    async () => {
      const page = await introductionOf("openapi");
      for (const [program, keys] of [
        [codeAfter(page, `KEY=lyre_bot_… SECRET=… URL=${gateway.url}\nTARGET=`), gateway.takeStrategy()],
        [blockOf("docs/api/signals.md", "sh", "KEY="), gateway.takeStrategy()],
        [blockOf("README.md", "sh", "KEY="), gateway.takeStrategy()],
      ] as const) {
        const script = withKeys(program, keys);
        const first = await run("bash", ["-c", script]);
        expect(JSON.parse(first)).toMatchObject({ status: "EXECUTED", replayed: false });
        expect(JSON.parse(await run("bash", ["-c", script]))).toEqual({
          ...JSON.parse(first),
          replayed: true,
        });
      }
    },
  );

  test.skipIf(!hasPrograms("python3"))("Python submits a signal and lists it", async () => {
    const program = withKeys(
      blockOf("docs/api/signals.md", "python", "import hashlib"),
      gateway.takeStrategy(),
    );
    const output = await run("python3", ["-c", program]);
    expect(output).toContain("'status': 'EXECUTED'");
    expect(output).toContain("'message': 'Signals'");
  });

  test("the client for TypeScript submits a signal, as the page shows", async () => {
    const program = codeAfter(await introductionOf("openapi"), "import { LyrebirdClient }");
    const client = JSON.stringify(join(ROOT, "clients/typescript/src/index.ts"));
    const script = withKeys(program, gateway.takeStrategy()).replace(/from "[^"]*"/, `from ${client}`);
    const output = await run(process.execPath, [fileOf(script, "first-signal.ts")]);
    expect(output).toMatch(/status: ["']EXECUTED["']/);
  });

  test("socket.io-client receives candles, and books where they are shown", async () => {
    const page = await introductionOf("streams");
    const keys = gateway.takeStrategy();
    const shown = withKeys(codeAfter(page, "import { createHmac }"), keys);
    await untilPrinted(shown, (lines) => lines.some(isPrice) && lines.some((line) => line.startsWith("[ '")));
    const documented = withKeys(blockOf("docs/api/streams.md", "js", "import { createHmac }"), keys);
    await untilPrinted(documented, (lines) => lines.some(isPrice));
  });
});

function isPrice(line: string): boolean {
  return /^\d+\.\d+( final)?\s*$/.test(line);
}

/** What a document that a page shows opens with. */
async function introductionOf(document: "openapi" | "streams"): Promise<string> {
  return JSON.parse((await get(`/docs/${document}.json`)).text).info.description;
}

/** The example of an introduction that begins so. */
function codeAfter(introduction: string, beginning: string): string {
  const examples = [...introduction.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, code = ""]) => code);
  return only(examples.filter((code) => code.startsWith(beginning)));
}

/** The block of code of a document that begins so. */
function blockOf(document: string, language: string, beginning: string): string {
  const text = readFileSync(join(ROOT, document), "utf8");
  const blocks = [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].filter(([, name]) => name === language);
  return only(blocks.map(([, , code = ""]) => code).filter((code) => code.startsWith(beginning)));
}

function only(found: readonly string[]): string {
  const [code = ""] = found;
  expect(found).toHaveLength(1);
  return code;
}

/** The program with a reader's keys and this server's address. */
function withKeys(program: string, { apiKey, apiSecret }: Credentials): string {
  return program
    .replace("lyre_bot_…", apiKey)
    .replace(/(["=])…/, `$1${apiSecret}`)
    .replaceAll("http://127.0.0.1:8080", gateway.url);
}

/**
 * Runs a program to its end and answers what it printed. It runs beside this process, which it does not wait
 * for.
 */
async function run(program: string, args: readonly string[]): Promise<string> {
  const child = spawn(program, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let complaints = "";
  child.stdout.on("data", (text) => {
    output += text;
  });
  child.stderr.on("data", (text) => {
    complaints += text;
  });
  const [code] = await once(child, "close");
  expect(code, complaints).toBe(0);
  return output;
}

/** Runs a module without an end until it has printed the expected lines. */
async function untilPrinted(text: string, isEnough: (lines: readonly string[]) => boolean): Promise<void> {
  const child = spawn(process.execPath, [fileOf(text, "stream.mjs")], { stdio: ["ignore", "pipe", "pipe"] });
  const exited = once(child, "exit");
  let output = "";
  const printed = new Promise<void>((resolved, rejected) => {
    const hear = (data: unknown) => {
      output += String(data);
      if (isEnough(output.split("\n"))) resolved();
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    void exited.then(([code]) => rejected(new Error(`the program ended with ${code}:\n${output}`)));
  });
  try {
    await printed;
  } finally {
    child.kill();
    await exited;
  }
}

/** A file in a directory from which the project's packages are found. */
function fileOf(text: string, name: string): string {
  const directory = newDirectory();
  symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"));
  writeFileSync(join(directory, name), text);
  return join(directory, name);
}

function hasPrograms(...names: readonly string[]): boolean {
  return names.every((name) => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0);
}
