// Settings as their operator gets them wrong: each is named, with what it should be.
import { describe, expect, test } from "vitest";
import { type Config, ConfigError, readServeConfig, warningOfPlainHttp } from "../../src/config/config.ts";
import { warningOfClearText } from "../../src/config/shared-database.ts";
import { lyrebird, STACK, serve } from "../support/servers/commands.ts";

const TERMINAL_COLUMNS = 110;

describe("settings:", () => {
  const URLS = {
    UPSTREAM_SPOT_REST_URL: "http://127.0.0.1:1",
    UPSTREAM_SPOT_WS_URL: "ws://127.0.0.1:1",
    UPSTREAM_FUTURES_REST_URL: "http://127.0.0.1:1",
  };
  const ALL_URLS = { ...URLS, UPSTREAM_FUTURES_WS_URL: "ws://127.0.0.1:1" };

  test("--help prints how to use it, in lines that fit a terminal, and exits 0", () => {
    const { status, stdout, stderr } = serve(["--help"]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    for (const name of [
      "--port",
      "--data",
      "--market",
      "--role",
      "COPY_VENUES",
      "MASTER_KEY_FILE",
      "TAPE_FILE",
      ...Object.keys(ALL_URLS),
    ]) {
      expect(stdout).toContain(name);
    }
    expect(stdout.split("\n").filter((line) => line.length > TERMINAL_COLUMNS)).toEqual([]);
  });

  test.each<[string, string[], Record<string, string>, RegExp]>([
    ["an option that there is not", ["--nonsense"], {}, /--nonsense/],
    ["a tape without its file", ["--market", "tape"], {}, /TAPE_FILE/],
    ["three of the four upstream addresses", [], URLS, /UPSTREAM_.*four/],
    ["a port that is no number", ["--port", "abc"], {}, /--port .*"abc"/],
  ])("the program names %s and exits 2", (_what, args, env, message) => {
    const { status, stdout, stderr } = serve(args, env);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).toContain("--help");
    expect(stderr).not.toMatch(STACK);
  });

  test.each<[string, string[], Record<string, string>, RegExp]>([
    ["a word that is no option", ["serve"], {}, /serve/],
    ["a port out of range", ["--port", "65536"], {}, /--port .*"65536"/],
    ["a port below 0", ["--port=-1"], {}, /--port .*"-1"/],
    ["a port that is no whole number", ["--port", "80.5"], {}, /--port .*"80.5"/],
    ["a port that is empty", ["--port", ""], {}, /--port/],
    ["a port of the environment that is no number", [], { PORT: "http" }, /^PORT .*"http"/],
    ["a host that is empty", ["--host", ""], {}, /--host/],
    ["a data directory that is empty", ["--data", ""], {}, /--data/],
    ["a market that there is not", ["--market", "nowhere"], {}, /--market .*sim, live, tape.*"nowhere"/],
    ["a market of the environment that there is not", [], { MARKET: "nowhere" }, /^MARKET .*"nowhere"/],
    ["a speed of nothing", [], { TAPE_SPEED: "0" }, /TAPE_SPEED/],
    ["sessions that end at once", [], { SESSION_IDLE_MINUTES: "4" }, /SESSION_IDLE_MINUTES is below 5/],
    ["a seed that is no number", [], { SIM_SEED: "x" }, /SIM_SEED/],
    ["one of the four upstream addresses", [], { UPSTREAM_SPOT_WS_URL: "ws://x" }, /UPSTREAM_.*four/],
    [
      "an upstream address that is none",
      [],
      { ...ALL_URLS, UPSTREAM_SPOT_WS_URL: "x" },
      /UPSTREAM_SPOT_WS_URL/,
    ],
    ["upstream addresses and the simulated market", ["--market", "sim"], ALL_URLS, /UPSTREAM_.*MARKET/],
    ["upstream addresses and a tape", [], { ...ALL_URLS, MARKET: "tape" }, /UPSTREAM_.*MARKET/],
    ["a public address that is none", [], { PUBLIC_URL: "ftp://x" }, /PUBLIC_URL/],
    [
      "a public address with a path",
      [],
      { PUBLIC_URL: "https://example.org/lyrebird" },
      /PUBLIC_URL .*set it to https:\/\/example\.org, /,
    ],
    ["a public address with a password", [], { PUBLIC_URL: "https://me:x@example.org" }, /PUBLIC_URL/],
    ["a log level that there is not", [], { LOG_LEVEL: "loud" }, /LOG_LEVEL .*"loud"/],
    ["a database of another kind", [], { DATABASE_URL: "mysql://x/y" }, /DATABASE_URL .*postgres:/],
    ["a database address that is none", [], { DATABASE_URL: "localhost" }, /DATABASE_URL .*postgres:/],
    ["a certificate without its key", [], { TLS_CERT: "cert.pem" }, /TLS_CERT.*TLS_KEY/],
    ["a mail server without a sender", [], { SMTP_URL: "smtp://mail.example" }, /SMTP_URL.*MAIL_FROM/],
    ["a sender without a mail server", [], { MAIL_FROM: "me@example.org" }, /MAIL_FROM.*SMTP_URL/],
    [
      "a mail server's TLS that there is not",
      [],
      { SMTP_URL: "smtp://h", MAIL_FROM: "me@example.org", SMTP_TLS: "off" },
      /SMTP_TLS .*required, if-offered: "off"/,
    ],
    ["a sender that is no address", [], { SMTP_URL: "smtp://h", MAIL_FROM: "me" }, /MAIL_FROM .*"me"/],
    ["more proxies than there can be", [], { TRUSTED_PROXY_HOPS: "11" }, /TRUSTED_PROXY_HOPS .*"11"/],
    ["a role that there is not", ["--role", "clerk"], {}, /--role .*all, gateway, copier.*"clerk"/],
    ["a role of the environment that there is not", [], { ROLE: "clerk" }, /^ROLE .*"clerk"/],
    [
      "a copier on the embedded database",
      ["--role", "copier"],
      { COPY_VENUES: "https://v.example" },
      /ROLE copier needs DATABASE_URL: the embedded database/,
    ],
    [
      "a copier without venues",
      ["--role", "copier"],
      { DATABASE_URL: "postgres://h/d" },
      /ROLE copier needs COPY_VENUES/,
    ],
    [
      "a copier that sends mails from nowhere",
      ["--role", "copier"],
      {
        DATABASE_URL: "postgres://h/d",
        COPY_VENUES: "https://v.example",
        SMTP_URL: "smtp://h",
        MAIL_FROM: "me@example.org",
      },
      /ROLE copier needs PUBLIC_URL/,
    ],
    [
      "a tape that is to be copied",
      ["--market", "tape"],
      { TAPE_FILE: "day.tape", COPY_VENUES: "https://v.example" },
      /COPY_VENUES .*MARKET is tape.*unset one/,
    ],
    ["a venue that is no address", [], { COPY_VENUES: "venue" }, /COPY_VENUES .*no http or https .*"venue"/],
    ["a venue of another protocol", [], { COPY_VENUES: "wss://v.example" }, /COPY_VENUES .*no http or https/],
    [
      "a venue with a path",
      [],
      { COPY_VENUES: "https://a.example, https://v.example/api" },
      /COPY_VENUES .*more than an origin: "https:\/\/v\.example\/api"; set it to https:\/\/v\.example$/,
    ],
    ["a venue without HTTPS", [], { COPY_VENUES: "http://v.example" }, /COPY_VENUES .*without HTTPS/],
    [
      "a venue that only looks like this machine",
      [],
      { COPY_VENUES: "http://127.0.0.1.example" },
      /COPY_VENUES .*without HTTPS/,
    ],
    [
      "more venues than there can be",
      [],
      { COPY_VENUES: Array.from({ length: 21 }, (_, each) => `https://v${each}.example`).join() },
      /COPY_VENUES names 21 venues, more than 20/,
    ],
    ["connections of nobody", [], { CONNECTIONS_PER_ADDRESS: "0" }, /CONNECTIONS_PER_ADDRESS .*"0"/],
    ["streams that are no number", [], { STREAMS_PER_ADDRESS: "many" }, /STREAMS_PER_ADDRESS .*"many"/],
    ["proxies that are no number", [], { TRUSTED_PROXY_HOPS: "true" }, /TRUSTED_PROXY_HOPS .*"true"/],
  ])("%s is named", (_what, args, env, message) => {
    const read = () => readServeConfig(args, env);
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(message);
  });

  test.each([
    "postgres://me:open#sesame@host/name",
    "postgres://me:open/sesame@host/name",
    "postgres://me:1/sesame@host/name",
    "postgres://me:1?sesame@host/name",
    "mysql://me:sesame@host/name",
  ])("a password that would be cut in two, or that belongs elsewhere, is not repeated: %s", (url) => {
    const error = catchError(() => readServeConfig([], { DATABASE_URL: url }));
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).toMatch(/DATABASE_URL is not a PostgreSQL address/);
    expect(String(error)).not.toMatch(/sesame/);
  });

  test.each([
    { SMTP_URL: "smtp://me:open/sesame@host", MAIL_FROM: "me@example.org" },
    { SMTP_URL: "smtp://me:open#sesame@host", MAIL_FROM: "me@example.org" },
    { SMTP_URL: "http://me:sesame@host", MAIL_FROM: "me@example.org" },
    { METRICS_TOKEN: "sesame" },
    { METRICS_TOKEN: "sesame with spaces in it" },
    { PUBLIC_URL: "https://me:sesame@example.org" },
    { COPY_VENUES: "https://me:sesame@example.org" },
    { COPY_VENUES: "me:sesame@example.org" },
  ])("neither is any other secret: %j", (env) => {
    const error = catchError(() => readServeConfig([], env));
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).toMatch(
      /SMTP_URL is not the address|METRICS_TOKEN is|PUBLIC_URL is|COPY_VENUES holds/,
    );
    expect(String(error)).not.toMatch(/sesame/);
  });

  test("mails and the public address are read as they are meant", () => {
    const mail = {
      smtpUrl: "smtps://me:open%40sesame@mail.example:465",
      from: "Lyrebird <me@example.org>",
      tls: "REQUIRED",
    };
    const env = { SMTP_URL: mail.smtpUrl, MAIL_FROM: mail.from, PUBLIC_URL: "https://lyrebird.example/" };
    expect(readServeConfig([], env)).toMatchObject({ mail, publicUrl: "https://lyrebird.example" });
    expect(readServeConfig([], { ...env, SMTP_TLS: "if-offered" })).toMatchObject({
      mail: { tls: "IF_OFFERED" },
    });
    for (const host of ["127.0.0.1:25", "localhost", "[::1]:25"]) {
      expect(readServeConfig([], { ...env, SMTP_URL: `smtp://${host}` })).toMatchObject({
        mail: { tls: "LOOPBACK" },
      });
    }
    expect(readServeConfig([], { ...env, SMTP_URL: "smtp://127.0.0.1.example" })).toMatchObject({
      mail: { tls: "REQUIRED" },
    });
    expect(readServeConfig([], {})).toMatchObject({ mail: null, publicUrl: null, metricsToken: null });
  });

  test("venues are read as origins, each once, over HTTPS or on this machine", () => {
    const COPY_VENUES =
      " https://api.example/,https://API.example:443 ,, http://localhost:81,http://127.0.0.1:82,http://[::1]:83";
    expect(readServeConfig([], { COPY_VENUES })).toMatchObject({
      role: "all",
      copyVenues: ["https://api.example", "http://localhost:81", "http://127.0.0.1:82", "http://[::1]:83"],
    });
    expect(readServeConfig(["--role", "gateway"], {})).toMatchObject({ role: "gateway", copyVenues: [] });
    const DATABASE_URL = "postgres://h/d";
    expect(readServeConfig([], { ROLE: "copier", DATABASE_URL, COPY_VENUES })).toMatchObject({
      role: "copier",
    });
  });

  test.each([
    "postgres://me:open%40sesame@host:5433/name",
    "postgresql://me@host/name?sslmode=verify-full",
    "postgres:///name?host=/var/run/postgresql",
  ])("a database is named by an address as other programs take it: %s", (url) => {
    expect(readServeConfig([], { DATABASE_URL: url })).toMatchObject({ databaseUrl: url });
    expect(readServeConfig([], {})).toMatchObject({ databaseUrl: null });
  });

  test.each([
    ["postgres://me:sesame@db.example/name", true],
    ["postgres://me:sesame@db.example/name?sslmode=disable", true],
    ["postgres://me:sesame@127.0.0.1.example/name", true],
    ["postgres://me:sesame@127.0.0.1/name?host=db.example", true],
    ["postgres://me:sesame@db.example/name?sslmode=verify-full", false],
    ["postgres://me:sesame@db.example/name?ssl=true", false],
    ["postgres://me:sesame@127.0.0.1:5433/name", false],
    ["postgres://me:sesame@localhost/name", false],
    ["postgres://me:sesame@[::1]/name", false],
    ["postgres:///name?host=/var/run/postgresql", false],
  ])("a database that is reached over a network without TLS is warned of: %s %s", (url, isWarned) => {
    const warning = warningOfClearText(url);
    expect(warning !== null).toBe(isWarned);
    if (warning !== null)
      expect(warning).toMatch(/example.* without TLS.*sslmode=verify-full to DATABASE_URL/);
    expect(String(warning)).not.toContain("sesame");
  });

  test.each<[Record<string, string>, boolean]>([
    [{ HOST: "0.0.0.0" }, true],
    [{ HOST: "gateway.example" }, true],
    [{}, false],
    [{ HOST: "::1" }, false],
    [{ HOST: "0.0.0.0", TRUSTED_PROXY_HOPS: "1" }, false],
    [{ HOST: "0.0.0.0", TLS_CERT: "a", TLS_KEY: "b" }, false],
  ])("a server that other machines reach without TLS is warned of: %j", (env, isWarned) => {
    const warning = warningOfPlainHttp(readServeConfig([], env) as Config);
    expect(warning !== null).toBe(isWarned);
    if (warning !== null) expect(warning).toMatch(new RegExp(`without TLS .*${env.HOST}.*set TLS_CERT`));
  });

  test("an option beats the environment, and an empty variable is none", () => {
    expect(
      readServeConfig(["--port", "81"], { PORT: "82", HOST: "", DATA_DIR: "/d", MARKET: "" }),
    ).toMatchObject({
      port: 81,
      host: "127.0.0.1",
      dataDir: "/d",
      market: { kind: "sim", seed: 1 },
    });
    expect(readServeConfig([], ALL_URLS)).toMatchObject({ market: { kind: "live" } });
  });

  test("the operator's command names what is wrong with it in the same way", () => {
    const help = lyrebird(["--help"]);
    expect(help).toMatchObject({ status: 0, stderr: "", stdout: expect.stringContaining("seed") });
    for (const [args, message] of [
      [["sow"], /"sow"/],
      [["seed", "--type", "options"], /--type .*"options"/],
      [["seed", "--type", "spot", "--latency", "5"], /--latency is a term of --profile strict/],
    ] as const) {
      const { status, stdout, stderr } = lyrebird(args);
      expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
      expect(stderr).toMatch(message);
    }
  });

  test("a tape that cannot be read is named, and the exit code is 2", () => {
    const { status, stderr } = serve(["--market", "tape"], { TAPE_FILE: "/no/such/tape" });
    expect(status).toBe(2);
    expect(stderr).toContain("/no/such/tape");
    expect(stderr).not.toMatch(STACK);
  });
});

function catchError(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
