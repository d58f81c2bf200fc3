// The configuration: flags over environment over defaults, checked once, at start. An error names the
// setting, and the process exits 2.
import { parseArgs } from "node:util";
import { z } from "zod";
import packageJson from "../../package.json" with { type: "json" };
import { bundledBrackets } from "../market/brackets/bundled.ts";
import { SESSION_IDLE_MS_DEFAULT } from "../people/sessions.ts";
import {
  CONNECTIONS_PER_ADDRESS_DEFAULT,
  STREAM_ATTEMPTS_PER_ADDRESS_DEFAULT,
  STREAMS_PER_ADDRESS_DEFAULT,
} from "../rate-limits/connections.ts";
import { addressesOf } from "../store/postgres/addresses.ts";
import { OPTIONS_COME_AFTER } from "./npm-options.ts";

/** The version of this package. */
export const VERSION = packageJson.version;

/** The default data directory. */
export const DATA_DIR_DEFAULT = "./data";

export const MARKETS = ["sim", "live", "tape"] as const;

/** The role of a process: `gateway` serves, `copier` mirrors at venues, `all` both. */
export const ROLES = ["all", "gateway", "copier"] as const;
export type Role = (typeof ROLES)[number];

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** More proxies than this in a row are a mistake in the setting. */
const PROXY_HOPS_MAX = 10;

/** A drain that takes longer than any health check needs. */
const DRAIN_SECONDS_MAX = 600;

/** More connections of one address are no bound. */
const PER_ADDRESS_MAX = 1_000_000;

/** Maximum of venues that copiers may choose from; each has budgets and connections of its own. */
const COPY_VENUES_MAX = 20;

/** A shorter token could be guessed. */
const TOKEN_LENGTH_MIN = 16;

export type TlsFiles = { readonly certFile: string; readonly keyFile: string };

export type MailSettings = {
  /** The address of the mail server, with user and password if it wants them. */
  readonly smtpUrl: string;
  /** The sender of mails, as mail programs show it. */
  readonly from: string;
  /** The required security of a connection to the mail server before a password or a mail is sent over it. */
  readonly tls: MailTls;
};

/**
 * REQUIRED: encrypted. IF_OFFERED: encrypted if the mail server offers it, which an attacker on the network
 * path can prevent. LOOPBACK: the same, on this machine, where there is no network path.
 */
type MailTls = "REQUIRED" | "IF_OFFERED" | "LOOPBACK";

const SMTP_TLS = ["required", "if-offered"] as const;

export type UpstreamUrls = {
  readonly spotRestUrl: string;
  readonly spotWsUrl: string;
  readonly futuresRestUrl: string;
  readonly futuresWsUrl: string;
};

/** A wrong setting; the message is for the person who set it. */
export class ConfigError extends Error {}

export const SERVE_HELP = `Usage: npm start -- [options]

Serves Lyrebird: an exchange-style API on a virtual account, filled by the market.

Options (a name in capitals is the environment variable that the option overrides):
  --port N        where to listen                                   PORT       (8080)
  --host NAME     on which address                                  HOST       (127.0.0.1)
  --data DIR      database, master key and lock                     DATA_DIR   (./data)
  --role NAME     all: serves, and mirrors at copiers' venues       ROLE       (all)
                  gateway: serves alone
                  copier: mirrors alone, beside gateways on the
                  same PostgreSQL database
  --market NAME   sim: the built-in simulated exchange              MARKET     (sim)
                  live: Binance's public market data
                  tape: a recording of one symbol, from TAPE_FILE
  --version       the version of Lyrebird
  --help          this text

Environment only:
  DATABASE_URL             postgres://user:password@host:5432/database: a PostgreSQL database instead of
                           the embedded one, for several servers too; host1:5432,host2:5432 for a primary and
                           its standbys. DATA_DIR then holds master key and lock; each server has its own
                           directory, and all the same key
  MASTER_KEY_FILE          64 hex characters, mode 0600; outside DATA_DIR in production. A line for each
                           version, the oldest first: "lyrebird master-key rotate" adds one
  LOG_LEVEL                fatal, error, warn, info, debug, trace or silent (info)
  PUBLIC_URL               the address that people and bots see, such as https://lyrebird.example.org,
                           without a path; the dashboard works at this one alone
  SMTP_URL, MAIL_FROM      smtp://user:password@host:587 (or smtps), and who mails are from, such as
                           "Lyrebird <lyrebird@example.org>": sends people their mails. Without both the links
                           in them are written to the log
  SMTP_TLS                 required: mails are sent over TLS alone, by smtps:// or STARTTLS, unless the mail
                           server is on this machine (default). if-offered: in clear too, the password
                           included
  SESSION_IDLE_MINUTES     after how long without use a session of the dashboard ends, 5 to 10080 (480)
  METRICS_TOKEN            a bearer token, at least ${TOKEN_LENGTH_MIN} characters, that lets other machines
                           read /metrics; without it only this machine may
  TLS_CERT, TLS_KEY        PEM files of a certificate (with its chain) and its private key: serve HTTPS.
                           SIGHUP reads them again, for a certificate that was renewed; without TLS it ends
                           the server in order, as SIGTERM and SIGINT do
  TRUSTED_PROXY_HOPS       how many proxies in front add the client to X-Forwarded-For (0: the header is
                           ignored). With more than 0 the port must be open to the proxies alone
  CONNECTIONS_PER_ADDRESS  how many connections one address may have open at once (2000; an IPv6 /64 is one
                           address). Not counted with TRUSTED_PROXY_HOPS above 0: bound them in the proxy then
  STREAMS_PER_ADDRESS      how many of these may be WebSockets, of bots and the dashboard together (1000)
  STREAM_ATTEMPTS_PER_ADDRESS
                           how often one address may connect to Binance's sockets in 5 minutes (300)
  SIM_SEED                 which simulated market (1)
  TAPE_FILE, TAPE_SPEED    the recording and how fast it runs, 1 to 1000 times (1). docs/operations.md says
                           how to make one
  UPSTREAM_SPOT_REST_URL, UPSTREAM_SPOT_WS_URL, UPSTREAM_FUTURES_REST_URL, UPSTREAM_FUTURES_WS_URL
                           all four: another host of Binance's protocol (means live)
  COPY_VENUES              where copiers' own accounts may be: origins such as https://api.exchange.example,
                           separated by commas. Without it copying is not offered. An origin that is taken off
                           the list is not sent anything any more. Not with a tape
  DRAIN_SECONDS            how long a server goes on serving after SIGTERM while /readyz says 503, so that a
                           load balancer sends it nothing more, 0 to 600 (0)
  DISK_FREE_PERCENT_MIN    new orders, signals and sign-ups are refused while less of the data directory's
                           disk is free, in percent, 0 to 50 (5). 0: never. Not with DATABASE_URL
  FEE_TIERS                a file of fee rates for strategies of the fill profile strict; its tiers replace
                           the bundled tiers of the same name:
                           {"spot":{"vip1":{"maker":"0.0009","taker":"0.001"}},"futures":{...}}
  LEVERAGE_BRACKETS        a file as GET /fapi/v1/leverageBracket answers, in place of the bundled brackets of
                           ${bundledBrackets.size} contracts: a contract without brackets cannot be traded
`;

/**
 * Default share of a disk that is kept free for cancels, closes and market commands, percent; more than the
 * maximum is an error.
 */
const DISK_FREE_PERCENT_DEFAULT = 5;
const DISK_FREE_PERCENT_MOST = 50;

const words = z.string().min(1, "is empty");
const httpUrl = z.url({ protocol: /^https?$/, error: "is not an http or https address" });
const wsUrl = z.url({ protocol: /^wss?$/, error: "is not a ws or wss address" });

const MINUTE_MS = 60_000;

const settings = z.object({
  ROLE: z.enum(ROLES, { error: `is none of ${ROLES.join(", ")}` }).default("all"),
  LOG_LEVEL: z.enum(LOG_LEVELS, { error: `is none of ${LOG_LEVELS.join(", ")}` }).default("info"),
  PORT: wholeNumber(0, 65_535).default(8_080),
  HOST: words.default("127.0.0.1"),
  DATA_DIR: words.default(DATA_DIR_DEFAULT),
  DATABASE_URL: z.string().refine(isDatabaseUrl, "is not a PostgreSQL address").optional(),
  MASTER_KEY_FILE: words.optional(),
  PUBLIC_URL: httpUrl.optional(),
  SMTP_URL: z.string().refine(isSmtpUrl, "is not the address of a mail server").optional(),
  MAIL_FROM: z
    .string()
    .regex(/^[^\r\n]*[^\s@<>]+@[^\s@<>]+[^\r\n]*$/, "is no e-mail address")
    .optional(),
  SMTP_TLS: z.enum(SMTP_TLS, { error: `is none of ${SMTP_TLS.join(", ")}` }).default("required"),
  SESSION_IDLE_MINUTES: wholeNumber(5, 7 * 24 * 60).default(SESSION_IDLE_MS_DEFAULT / MINUTE_MS),
  METRICS_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]+$/, "is no token")
    .min(TOKEN_LENGTH_MIN, "is too short")
    .optional(),
  TLS_CERT: words.optional(),
  TLS_KEY: words.optional(),
  TRUSTED_PROXY_HOPS: wholeNumber(0, PROXY_HOPS_MAX).default(0),
  CONNECTIONS_PER_ADDRESS: wholeNumber(1, PER_ADDRESS_MAX).default(CONNECTIONS_PER_ADDRESS_DEFAULT),
  STREAMS_PER_ADDRESS: wholeNumber(1, PER_ADDRESS_MAX).default(STREAMS_PER_ADDRESS_DEFAULT),
  STREAM_ATTEMPTS_PER_ADDRESS: wholeNumber(1, PER_ADDRESS_MAX).default(STREAM_ATTEMPTS_PER_ADDRESS_DEFAULT),
  MARKET: z.enum(MARKETS, { error: `is none of ${MARKETS.join(", ")}` }).optional(),
  SIM_SEED: wholeNumber(0, 2 ** 32 - 1).default(1),
  TAPE_FILE: words.optional(),
  TAPE_SPEED: wholeNumber(1, 1_000).default(1),
  UPSTREAM_SPOT_REST_URL: httpUrl.optional(),
  UPSTREAM_SPOT_WS_URL: wsUrl.optional(),
  UPSTREAM_FUTURES_REST_URL: httpUrl.optional(),
  UPSTREAM_FUTURES_WS_URL: wsUrl.optional(),
  FEE_TIERS: words.optional(),
  LEVERAGE_BRACKETS: words.optional(),
  DRAIN_SECONDS: wholeNumber(0, DRAIN_SECONDS_MAX).default(0),
  DISK_FREE_PERCENT_MIN: wholeNumber(0, DISK_FREE_PERCENT_MOST).default(DISK_FREE_PERCENT_DEFAULT),
  COPY_VENUES: z.string().default(""),
});
type Settings = z.infer<typeof settings>;

/** The names of all settings, as the environment has them. */
export const SETTING_NAMES: readonly string[] = Object.keys(settings.shape);

/** Settings with a password, which is never repeated, and their replacement texts. */
const SECRET: Readonly<Record<string, string>> = {
  DATABASE_URL: "postgres://user:password@host:5432/database, with %40 for @ and so on in the password",
  SMTP_URL: "smtp://user:password@host:587 or smtps://…, with %40 for @ and so on in the password",
  METRICS_TOKEN: `at least ${TOKEN_LENGTH_MIN} characters without spaces`,
};

const FLAGS = { port: "PORT", host: "HOST", data: "DATA_DIR", market: "MARKET", role: "ROLE" } as const;

/** Reads the configuration of a server, or which text was requested instead. Throws ConfigError. */
export function readServeConfig(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Config | "help" | "version" {
  const flags = readFlags(args);
  if (flags === "help" || flags === "version") return flags;
  return readConfig(flags, env);
}

export type Config = ReturnType<typeof readConfig>;

/**
 * Reads the configuration from flags (by their environment names) and the environment. Throws ConfigError.
 */
export function readConfig(flags: Readonly<Record<string, string>>, env: NodeJS.ProcessEnv) {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ""));
  const parsed = settings.safeParse({ ...given, ...flags });
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const name = String(issue?.path[0]);
    const value = name in SECRET ? SECRET[name] : JSON.stringify(flags[name] ?? env[name] ?? "");
    throw new ConfigError(`${nameOf(name, flags)} ${issue?.message}: ${value}`);
  }
  const values = parsed.data;
  const copyVenues = copyVenuesOf(values);
  const market = marketOf(values);
  demandCopyable(market, copyVenues);
  return {
    role: roleOf(values, copyVenues),
    logLevel: values.LOG_LEVEL,
    host: values.HOST,
    port: values.PORT,
    dataDir: values.DATA_DIR,
    /** A PostgreSQL database, with its password; null for the embedded one in the data directory. */
    databaseUrl: values.DATABASE_URL ?? null,
    /** Null in demo use: the key is then kept in the data directory. */
    masterKeyFile: values.MASTER_KEY_FILE ?? null,
    publicUrl: publicUrlOf(values),
    /** The PEM files of what HTTPS is served with; null means plain HTTP. */
    tls: tlsOf(values),
    /** Number of proxies in front whose report of the client's address is trusted. */
    trustedProxyHops: values.TRUSTED_PROXY_HOPS,
    /** TCP connections that one address may have open at once; not counted behind proxies. */
    connectionsPerAddress: values.CONNECTIONS_PER_ADDRESS,
    /** WebSocket connections that one address may have open at once. */
    streamsPerAddress: values.STREAMS_PER_ADDRESS,
    /** Attempts of one address to connect to the exchange's sockets, within five minutes. */
    streamAttemptsPerAddress: values.STREAM_ATTEMPTS_PER_ADDRESS,
    market,
    /** How mails are sent; null: their texts are written to the log. */
    mail: mailOf(values),
    /** Lifetime of an unused dashboard session, ms. */
    sessionIdleMs: values.SESSION_IDLE_MINUTES * MINUTE_MS,
    /** The token for reading the metrics; null: only this machine may read them. */
    metricsToken: values.METRICS_TOKEN ?? null,
    /** A file of fee tiers for strategies of the fill profile `strict`; null for the bundled ones. */
    feeTiers: values.FEE_TIERS ?? null,
    /** A file in the shape of the exchange's `leverageBracket`; null for the bundled table. */
    leverageBrackets: values.LEVERAGE_BRACKETS ?? null,
    /** Nothing new is taken while less of the data directory's disk is free, percent; 0 for never. */
    diskFreePercentMin: values.DISK_FREE_PERCENT_MIN,
    /** How long a server serves on after SIGTERM, not ready, so that load balancers take it out, s. */
    drainSeconds: values.DRAIN_SECONDS,
    /** The origins of the venues that copiers' accounts may be at; none: copying is not offered. */
    copyVenues,
  };
}

function readFlags(args: readonly string[]): Record<string, string> | "help" | "version" {
  const { values, positionals } = parseFlags(args);
  if (values.help === true) return "help";
  if (values.version === true) return "version";
  if (positionals.length > 0) {
    // npm keeps an option that comes before "--" to itself and passes on its value alone.
    throw new ConfigError(`${JSON.stringify(positionals.join(" "))} is no option: ${OPTIONS_COME_AFTER}`);
  }
  const flags: Record<string, string> = {};
  for (const [flag, name] of Object.entries(FLAGS)) {
    const value = values[flag as keyof typeof FLAGS];
    if (value !== undefined) flags[name] = value;
  }
  return flags;
}

function parseFlags(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        port: { type: "string" },
        host: { type: "string" },
        data: { type: "string" },
        market: { type: "string" },
        role: { type: "string" },
        version: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error));
  }
}

/** The dashboard's pages, its cookies and its policies are of an origin. */
function publicUrlOf({ PUBLIC_URL: given }: Settings): string | null {
  if (given === undefined) return null;
  const { origin, pathname, search, hash, username, password } = new URL(given);
  if (pathname === "/" && `${search}${hash}${username}${password}` === "") return origin;
  // It may hold a password: only what is right of it is repeated.
  throw new ConfigError(
    `PUBLIC_URL is more than an origin: set it to ${origin}, and have the proxy in front give Lyrebird a host name of its own`,
  );
}

function tlsOf({ TLS_CERT: certFile, TLS_KEY: keyFile }: Settings): TlsFiles | null {
  if (certFile === undefined && keyFile === undefined) return null;
  if (certFile === undefined) throw new ConfigError("TLS_KEY is set without TLS_CERT: set both, or none");
  if (keyFile === undefined) throw new ConfigError("TLS_CERT is set without TLS_KEY: set both, or none");
  return { certFile, keyFile };
}

function mailOf({ SMTP_URL: smtpUrl, MAIL_FROM: from, SMTP_TLS: tls }: Settings): MailSettings | null {
  if (smtpUrl === undefined && from === undefined) return null;
  if (smtpUrl === undefined) throw new ConfigError("MAIL_FROM is set without SMTP_URL: set both, or none");
  if (from === undefined) throw new ConfigError("SMTP_URL is set without MAIL_FROM: set both, or none");
  if (isLoopback(new URL(smtpUrl))) return { smtpUrl, from, tls: "LOOPBACK" };
  return { smtpUrl, from, tls: tls === "required" ? "REQUIRED" : "IF_OFFERED" };
}

/** A separate copier mirrors what gateways beside it have committed, so the database must be shared. */
function roleOf(settings: Settings, copyVenues: readonly string[]): Role {
  const { ROLE: role, DATABASE_URL: databaseUrl, SMTP_URL: smtpUrl, PUBLIC_URL: publicUrl } = settings;
  if (role !== "copier") return role;
  if (databaseUrl === undefined) {
    throw new ConfigError(
      "ROLE copier needs DATABASE_URL: the embedded database serves one process, whose role all copies as well",
    );
  }
  if (copyVenues.length === 0) throw new ConfigError("ROLE copier needs COPY_VENUES: where it may copy to");
  if (smtpUrl !== undefined && publicUrl === undefined) {
    throw new ConfigError("ROLE copier needs PUBLIC_URL beside SMTP_URL: where the links in its mails lead");
  }
  return role;
}

function copyVenuesOf({ COPY_VENUES: given }: Settings): readonly string[] {
  const named = given.split(",").map((text) => text.trim());
  const origins = new Set(named.filter((text) => text !== "").map(venueOf));
  if (origins.size > COPY_VENUES_MAX) {
    throw new ConfigError(`COPY_VENUES names ${origins.size} venues, more than ${COPY_VENUES_MAX}`);
  }
  return [...origins];
}

/**
 * The events of a tape are long past when it is replayed, and its prices are no venue's: nothing of it can be
 * copied in time.
 */
function demandCopyable({ kind }: ReturnType<typeof marketOf>, copyVenues: readonly string[]): void {
  if (kind !== "tape" || copyVenues.length === 0) return;
  throw new ConfigError(
    "COPY_VENUES is set, but MARKET is tape: a recorded day cannot be copied to accounts of today; unset one of them",
  );
}

/** Keys and orders go there: only over HTTPS, but for what is on this machine. */
function venueOf(text: string): string {
  // It may hold a password: only what is right of it is repeated.
  const named = text.includes("@") ? "an address with a password in it" : JSON.stringify(text);
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new ConfigError(`COPY_VENUES holds no http or https address: ${named}`);
  }
  const { origin, pathname, search, hash, username, password, protocol } = url;
  if (pathname !== "/" || `${search}${hash}${username}${password}` !== "") {
    throw new ConfigError(`COPY_VENUES holds more than an origin: ${named}; set it to ${origin}`);
  }
  if (protocol === "http:" && !isLoopback(url)) {
    throw new ConfigError(`COPY_VENUES holds an address without HTTPS: ${named}`);
  }
  return origin;
}

function isLoopback({ hostname }: URL): boolean {
  return isLoopbackName(hostname);
}

/**
 * The warning at the start: clients on other machines would send secrets and passwords unencrypted; null if
 * not.
 */
export function warningOfPlainHttp({
  host,
  tls,
  trustedProxyHops,
}: Pick<Config, "host" | "tls" | "trustedProxyHops">): string | null {
  if (tls !== null || trustedProxyHops > 0 || isLoopbackName(host)) return null;
  return `HTTP without TLS is served at ${host}, so anybody on the way can read passwords and what keys do: set TLS_CERT and TLS_KEY, or serve behind a proxy that does and set TRUSTED_PROXY_HOPS`;
}

/** Whether a host is this machine, by its name or address alone. */
export function isLoopbackName(host: string): boolean {
  return host === "localhost" || /^(\[::1\]|::1|127\.\d+\.\d+\.\d+)$/.test(host);
}

function marketOf(values: Settings) {
  const upstream = upstreamOf(values);
  const kind = values.MARKET ?? (upstream === null ? "sim" : "live");
  if (upstream !== null && kind !== "live") {
    throw new ConfigError(
      `the UPSTREAM_… addresses mean the live market, but MARKET is ${kind}: unset one of them`,
    );
  }
  switch (kind) {
    case "sim":
      return { kind, seed: values.SIM_SEED };
    case "live":
      return { kind, upstream };
    case "tape":
      if (values.TAPE_FILE === undefined) {
        throw new ConfigError("the tape market needs TAPE_FILE: the recording to replay");
      }
      return { kind, file: values.TAPE_FILE, speed: values.TAPE_SPEED };
  }
}

function upstreamOf(values: Settings): UpstreamUrls | null {
  const {
    UPSTREAM_SPOT_REST_URL: spotRestUrl,
    UPSTREAM_SPOT_WS_URL: spotWsUrl,
    UPSTREAM_FUTURES_REST_URL: futuresRestUrl,
    UPSTREAM_FUTURES_WS_URL: futuresWsUrl,
  } = values;
  const set = [spotRestUrl, spotWsUrl, futuresRestUrl, futuresWsUrl].filter(
    (url) => url !== undefined,
  ).length;
  if (set === 0) return null;
  if (
    spotRestUrl === undefined ||
    spotWsUrl === undefined ||
    futuresRestUrl === undefined ||
    futuresWsUrl === undefined
  ) {
    throw new ConfigError(`of the four UPSTREAM_… addresses ${set} are set: set all four, or none`);
  }
  return { spotRestUrl, spotWsUrl, futuresRestUrl, futuresWsUrl };
}

/**
 * Whether a text is a PostgreSQL address, and read as it was meant: a password with an @ or / in it would be
 * cut in two.
 */
function isDatabaseUrl(text: string): boolean {
  return addressesOf(text).every(isDatabaseAddress);
}

function isDatabaseAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, search, hash } = new URL(text);
  return (
    /^postgres(ql)?:$/.test(protocol) &&
    !/@/.test(pathname + search) &&
    !/^\/.*\//.test(pathname) &&
    hash === ""
  );
}

/** As above. */
function isSmtpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, pathname, hash } = new URL(text);
  return /^smtps?:$/.test(protocol) && hostname !== "" && /^\/?$/.test(pathname) && hash === "";
}

function wholeNumber(least: number, most: number) {
  return z
    .string()
    .regex(/^[0-9]{1,15}$/, "is not a whole number")
    .transform(Number)
    .refine((value) => value >= least, `is below ${least}`)
    .refine((value) => value <= most, `is above ${most}`);
}

function nameOf(name: string, flags: Readonly<Record<string, string>>): string {
  const flag = Object.entries(FLAGS).find(([, environmentName]) => environmentName === name)?.[0];
  return flag !== undefined && name in flags ? `--${flag}` : name;
}
