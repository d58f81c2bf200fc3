// HTTPS as its operator and its clients meet it: the settings, what is served with them, a certificate that
// is renewed, and what comes to the port that is no HTTPS.
import { once } from "node:events";
import { Agent, request } from "node:https";
import { connect as connectPlain } from "node:net";
import { connect, type SecureVersion, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { readCertificate } from "../../src/config/certificate.ts";
import { ConfigError, readServeConfig } from "../../src/config/config.ts";
import { eventually } from "../support/eventually.ts";
import { priced } from "../support/prices.ts";
import { hmacHex, talk } from "../support/raw.ts";
import { newCertificate, type TestCertificate, writeCertificate } from "../support/servers/certificate.ts";
import { type GatewayProcess, newDirectory, runNode, startGateway } from "../support/servers/gateway.ts";

const STACK = /\n\s+at /;
const certificate = newCertificate();
const other = newCertificate("another");

describe("the two files", () => {
  const read = ({ TLS_CERT, TLS_KEY }: ReturnType<typeof writeCertificate>) =>
    readCertificate({ certFile: TLS_CERT, keyFile: TLS_KEY });

  test("are set both or none", () => {
    expect(readServeConfig([], {})).toMatchObject({ tls: null });
    expect(readServeConfig([], { TLS_CERT: "a", TLS_KEY: "b" })).toMatchObject({
      tls: { certFile: "a", keyFile: "b" },
    });
    for (const alone of ["TLS_CERT", "TLS_KEY"]) {
      expect(() => readServeConfig([], { [alone]: "a" })).toThrow(ConfigError);
      expect(() => readServeConfig([], { [alone]: "a" })).toThrow(/TLS_CERT.*TLS_KEY|TLS_KEY.*TLS_CERT/);
    }
  });

  test("may hold a chain, the server's own certificate first", () => {
    const cert = certificate.cert + other.cert;
    expect(read(writeCertificate({ ...certificate, cert })).cert.toString()).toBe(cert);
  });

  test.each<[string, TestCertificate, RegExp]>([
    ["a certificate that is none", { ...certificate, cert: "hello\n" }, /^TLS_CERT .*BEGIN CERTIFICATE/],
    ["an empty certificate", { ...certificate, cert: "" }, /^TLS_CERT .*BEGIN CERTIFICATE/],
    ["a key that is none", { ...certificate, key: certificate.cert }, /^TLS_KEY .*BEGIN PRIVATE KEY/],
    ["the key of another", { ...certificate, key: other.key }, /^TLS_KEY .*not the key.*TLS_CERT/],
    [
      "a chain in the wrong order",
      { ...certificate, cert: other.cert + certificate.cert },
      /not the key of the first certificate/,
    ],
    [
      "a chain that is cut short",
      { ...certificate, cert: certificate.cert + other.cert.slice(0, 100) },
      /^TLS_CERT /,
    ],
  ])("are refused with %s, and the setting is named", (_what, pair, message) => {
    const files = writeCertificate(pair);
    expect(() => read(files)).toThrow(ConfigError);
    expect(() => read(files)).toThrow(message);
  });

  test("that are not there or do not match end the start with exit code 2", () => {
    const serve = (env: Record<string, string>) =>
      runNode(["src/main.ts", "--port", "0", "--data", newDirectory()], env);
    const good = writeCertificate(certificate);
    const mismatch = writeCertificate({ ...certificate, key: other.key });
    for (const [env, message] of [
      [{ ...good, TLS_CERT: "/no/such/cert.pem" }, /TLS_CERT.*\/no\/such\/cert\.pem/],
      [{ ...good, TLS_KEY: "/no/such/key.pem" }, /TLS_KEY.*\/no\/such\/key\.pem/],
      [mismatch, /TLS_KEY.*is not the key/],
    ] as const) {
      const { status, stdout, stderr } = serve(env);
      expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
      expect(stderr).toMatch(message);
      expect(stderr).not.toMatch(STACK);
    }
  });
});

describe("a server with a certificate", () => {
  let gateway: GatewayProcess;

  beforeAll(async () => {
    gateway = await startGateway({ env: writeCertificate(certificate) });
  });

  afterAll(async () => {
    await gateway.stop();
  });

  test("reports that it listens on https", () => {
    expect(gateway.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  });

  test("answers signed requests, reads and orders", async () => {
    const { apiKey, apiSecret, strategyId } = gateway.seed();
    const signed = (method: string, path: string, parameters: string) => {
      const text = `${parameters}timestamp=${Date.now()}`;
      return ask(gateway.url, `${path}?${text}&signature=${hmacHex(apiSecret, text)}`, { method, apiKey });
    };
    const order = "symbol=BTCUSDT&side=BUY&type=MARKET&quantity=0.001&";
    expect(await priced(() => signed("POST", "/api/v3/order", order))).toMatchObject({
      status: 200,
      body: { status: "FILLED" },
    });
    expect(await signed("GET", "/api/v3/account", "")).toMatchObject({ status: 200, body: { strategyId } });
  });

  test.each<SecureVersion>(["TLSv1.2", "TLSv1.3"])("speaks %s", async (version) => {
    const socket = await handshake(gateway.url, [certificate], { minVersion: version, maxVersion: version });
    expect(socket.getProtocol()).toBe(version);
  });

  test.each<SecureVersion>(["TLSv1", "TLSv1.1"])("refuses %s", async (version) => {
    // Level 0 lets the client offer versions that it would not offer by default: the alert is the server's.
    const asked = handshake(gateway.url, [certificate], {
      minVersion: version,
      maxVersion: version,
      ciphers: "DEFAULT@SECLEVEL=0",
    });
    await expect(asked).rejects.toMatchObject({ code: "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION" });
  });

  test("is not believed by a client that does not trust its certificate", async () => {
    await expect(handshake(gateway.url, [other])).rejects.toThrow(/self-signed/);
  });

  test("cuts off what is no handshake, without an answer, and serves the others", async () => {
    const kept = await keptAlive(gateway.url);
    const silent = connectPlain(Number(new URL(gateway.url).port), "127.0.0.1");
    await once(silent, "connect");
    const NO_HANDSHAKES = [
      "GET /api/v3/time HTTP/1.1\r\nHost: x\r\n\r\n",
      "\u0000".repeat(1_000),
      Buffer.from("16030100050100000100", "hex"),
      Buffer.alloc(100_000, 0xff),
    ];
    for (const bytes of NO_HANDSHAKES) {
      expect(await talk(gateway.url, bytes)).not.toMatch(/HTTP|code/);
    }
    expect(await ask(gateway.url, "/api/v3/time")).toMatchObject({ status: 200 });
    // An earlier connection is still open.
    expect(await ping(kept)).toMatch(/^HTTP\/1\.1 200 /);
    expect(silent.destroyed).toBe(false);
    silent.destroy();
    expect(gateway.output()).not.toMatch(/"level":(50|60)/);
  });

  test("answers what is no request, once the handshake is done, as it does on HTTP", async () => {
    const socket = await handshake(gateway.url, [certificate]);
    socket.write("NONSENSE\r\n\r\n");
    const [answer] = await once(socket, "data");
    expect(String(answer)).toMatch(/^HTTP\/1\.1 400 [\s\S]*-1100/);
  });
});

describe("of TLS 1.2 it speaks what has forward secrecy and authenticated encryption", () => {
  const rsa = newCertificate("of RSA", "RSA");
  let gateway: GatewayProcess;

  beforeAll(async () => {
    gateway = await startGateway({ env: { ...writeCertificate(rsa), LOG_LEVEL: "info" } });
  });

  afterAll(async () => {
    await gateway.stop();
  });

  /** Level 0 lets the client offer suites that it would not offer by default: the alert is the server's. */
  const offer = (suite: string) =>
    handshake(gateway.url, [rsa], { maxVersion: "TLSv1.2", ciphers: `${suite}:@SECLEVEL=0` });
  const REFUSED = ["AES128-SHA", "AES128-SHA256", "AES128-GCM-SHA256", "ECDHE-RSA-AES128-SHA256"];
  const TAKEN = ["ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305"];

  test.each(REFUSED)("a client that offers %s alone is refused", async (suite) => {
    await expect(offer(suite)).rejects.toMatchObject({ code: "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE" });
  });

  test.each(TAKEN)("a client that offers %s alone is served", async (suite) => {
    expect((await offer(suite)).getCipher().name).toBe(suite);
  });

  test("a certificate that is read again changes nothing of it", async () => {
    gateway.process.kill("SIGHUP");
    await eventually("it is read again", () => gateway.output().includes("the certificate was read again"));
    expect((await offer("ECDHE-RSA-AES128-GCM-SHA256")).getCipher().name).toMatch(/GCM/);
    await expect(offer("AES128-SHA")).rejects.toThrow();
  });
});

test("the public address is the one that the server prints, whatever it is served with", async () => {
  const env = { ...writeCertificate(certificate), PUBLIC_URL: "https://bots.example.com" };
  const gateway = await startGateway({ env });
  expect(gateway.url).toBe("https://bots.example.com");
  expect(await gateway.stop()).toBe(0);
});

test("SIGHUP has a renewed certificate served; one that cannot be used is logged, and the old one stays", async () => {
  const directory = newDirectory();
  const gateway = await startGateway({ env: writeCertificate(certificate, directory) });
  onTestFinished(() => gateway.kill());
  const served = async () => {
    const socket = await handshake(gateway.url, [certificate, other]);
    const { subject } = socket.getPeerX509Certificate() ?? {};
    socket.destroy();
    return subject;
  };
  expect(await served()).toBe("CN=lyrebird test");
  const kept = await keptAlive(gateway.url);

  writeCertificate(other, directory);
  gateway.process.kill("SIGHUP");
  await eventually("the new certificate is served", async () => (await served()) === "CN=another");

  writeCertificate({ ...certificate, key: other.key }, directory);
  gateway.process.kill("SIGHUP");
  await eventually("the failure is logged", () => gateway.output().includes("the old one stays"));
  expect(gateway.output()).toContain("is not the key of");
  expect(await served()).toBe("CN=another");
  // An earlier connection still works.
  expect(await ping(kept)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await gateway.stop()).toBe(0);
});

test("SIGTERM ends a server with connections that are silent, half-way through a handshake, or kept alive", async () => {
  const gateway = await startGateway({ env: writeCertificate(certificate) });
  onTestFinished(() => gateway.kill());
  const { port } = new URL(gateway.url);
  const agent = new Agent({ keepAlive: true });
  expect(await ask(gateway.url, "/api/v3/time", { agent })).toMatchObject({ status: 200 });
  const silent = connectPlain(Number(port), "127.0.0.1");
  const halfWay = connectPlain(Number(port), "127.0.0.1");
  for (const socket of [silent, halfWay]) {
    socket.on("error", () => {});
    await once(socket, "connect");
  }
  // The head of a record that never comes.
  await new Promise((resolve) => halfWay.write(Buffer.from("1603010200", "hex"), resolve));
  expect(await gateway.stop()).toBe(0);
  agent.destroy();
  silent.destroy();
  halfWay.destroy();
});

type Asking = { readonly method?: string; readonly apiKey?: string; readonly agent?: Agent };

/** Sends a request as a client that trusts the certificate of this file. */
function ask(url: string, path: string, { method = "GET", apiKey, agent }: Asking = {}) {
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire brought.
  return new Promise<{ status: number | undefined; body: any }>((resolve, reject) => {
    const headers = apiKey === undefined ? {} : { "x-mbx-apikey": apiKey };
    const outgoing = request(url + path, {
      method,
      headers,
      ca: certificate.cert,
      ...(agent === undefined ? {} : { agent }),
    });
    outgoing.on("error", reject);
    outgoing.on("response", async (response) => {
      const text = (await response.toArray()).join("");
      resolve({ status: response.statusCode, body: JSON.parse(text) });
    });
    outgoing.end();
  });
}

/** A connection that has had an answer: one without a request is closed after ten seconds. */
async function keptAlive(url: string): Promise<TLSSocket> {
  const socket = await handshake(url, [certificate]);
  expect(await ping(socket)).toMatch(/^HTTP\/1\.1 200 /);
  return socket;
}

/** Sends a request on a connection; answers the whole response. */
async function ping(socket: TLSSocket): Promise<string> {
  socket.write("GET /api/v3/ping HTTP/1.1\r\nHost: x\r\n\r\n");
  let answer = "";
  while (!/\r\n\r\n[\s\S]*\}$/.test(answer)) answer += String((await once(socket, "data"))[0]);
  return answer;
}

/** A connection after its handshake, by a client that trusts these certificates. */
async function handshake(
  url: string,
  trusted: readonly TestCertificate[],
  options: { minVersion?: SecureVersion; maxVersion?: SecureVersion; ciphers?: string } = {},
): Promise<TLSSocket> {
  const ca = trusted.map(({ cert }) => cert);
  const socket = connect({ host: "127.0.0.1", port: Number(new URL(url).port), ca, ...options });
  onTestFinished(() => void socket.destroy());
  await once(socket, "secureConnect");
  // A server that ends takes it along.
  socket.on("error", () => {});
  return socket;
}
