// A PostgreSQL server of the test's own: a new cluster in a new directory, on a port of its own, as durable
// as the one that an operator runs (fsync and synchronous_commit are on). Only the making of the cluster is
// not synced; within a run of tests the first one that is made is kept, and the others are copies of it.
//
// It needs PostgreSQL's own programs (Debian: the package postgresql). Where there are none the tests are
// skipped, and their titles say so.
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { Client, escapeIdentifier } from "pg";
import { eventually } from "../eventually.ts";

/** A server, and new databases on it. */
export type Databases = {
  /** The server's own database, by its superuser. */
  readonly url: string;
  /** The connection URL of a new, empty database. */
  newDatabase(): Promise<string>;
  /** Gives back what was made. */
  stop(): Promise<void>;
};

export type PostgresServer = Databases & {
  /** SIGKILL of the postmaster and of all its children. */
  kill(): Promise<void>;
  /** Starts it again, on the same port, after `kill`; stops it in order before if it is running. */
  restart(): Promise<void>;
};

const USER = "postgres";
/** A password that every error and every log may be searched for. */
export const PASSWORD = "open-sesame";

/**
 * Environment variable: the folder where a test run keeps its first cluster. Without it each cluster is new.
 */
export const KEPT_CLUSTER = "TEST_KEPT_CLUSTER";

/** Below the ports that systems give out by themselves, so that nobody takes it while the server is down. */
const PORT_MIN = 20_000;
const PORT_MAX = 32_000;
const PORTS_TRIED_MAX = 20;

/** Where Debian keeps the programs that are not in the PATH, a folder for each version. */
const DEBIAN_PROGRAMS = "/usr/lib/postgresql";

/** The folder of initdb and postgres; null if there is none. */
const PROGRAMS = findPrograms();

/** Whether a server of one's own can be started. */
export const hasPostgresPrograms = PROGRAMS !== null;

/** Whether there is any server to test on. */
export const hasPostgres = hasPostgresPrograms || process.env.TEST_DATABASE_URL !== undefined;

/** The title of tests that need one. */
export function postgresTitle(title: string): string {
  return hasPostgres ? title : `${title} (skipped: no PostgreSQL programs; Debian: postgresql)`;
}

/**
 * A server for tests that do not kill it: that of TEST_DATABASE_URL (the address of a superuser) if it is
 * set, else one of their own, or null.
 */
export async function openPostgres(): Promise<Databases | null> {
  const url = process.env.TEST_DATABASE_URL;
  if (url === undefined) return await startPostgres();
  const databases = new MadeDatabases(url);
  return { url, newDatabase: () => databases.make(), stop: () => databases.drop() };
}

/**
 * Starts a primary and its synchronous standby, which change roles, or answers null where programs are
 * missing.
 */
export async function startReplicated() {
  if (PROGRAMS === null || !existsSync(join(PROGRAMS, "pg_basebackup"))) return null;
  const programs = PROGRAMS;
  const directory = mkdtempSync(join(tmpdir(), "lyrebird-replicated-"));
  const owner = ownerOfServers();
  chmodSync(directory, 0o711);
  if (owner !== null) chownSync(directory, owner.uid, owner.gid);
  const ports = [await freePort(), await freePort()] as const;
  const servers: (ChildProcess | null)[] = [null, null];
  const killAtExit = () => {
    for (const server of servers) server?.kill("SIGKILL");
  };
  process.once("exit", killAtExit);
  const clusterOf = (index: number) => join(directory, `cluster-${index}`);
  const urlOf = (index: number) => `postgres://${USER}:${PASSWORD}@127.0.0.1:${ports[index]}/postgres`;
  let primary = 0;
  const tell = async (index: number, ...statements: readonly string[]) => {
    const client = new Client({ connectionString: urlOf(index) });
    await client.connect();
    try {
      let rows: readonly unknown[] = [];
      for (const statement of statements) ({ rows } = await client.query(statement));
      return rows;
    } finally {
      await client.end();
    }
  };
  const attachStandby = async () => {
    const standby = 1 - primary;
    const cluster = clusterOf(standby);
    rmSync(cluster, { recursive: true, force: true });
    // Not `carryOut`: the load on the primary goes on.
    const copy = spawn(
      join(programs, "pg_basebackup"),
      [
        ...["--pgdata", cluster, "--write-recovery-conf", "--checkpoint", "fast", "--no-sync"],
        ...["--dbname", `${urlOf(primary)}?application_name=standby`],
      ],
      { ...owner, cwd: directory, stdio: "ignore" },
    );
    const [status] = await once(copy, "exit");
    if (status !== 0) throw new Error(`pg_basebackup exited with ${status}`);
    // When it is promoted, it has no standby yet.
    appendFileSync(join(cluster, "postgresql.auto.conf"), "synchronous_standby_names = ''\n");
    servers[standby] = await startServer(cluster, ports[standby] ?? 0, owner);
    await tell(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()");
    const synchronous = "SELECT FROM pg_stat_replication WHERE sync_state = 'sync'";
    await eventually(
      "the standby is synchronous",
      async () => (await tell(primary, synchronous)).length === 1,
    );
  };
  makeCluster(clusterOf(0), owner);
  servers[0] = await startServer(clusterOf(0), ports[0], owner);
  await attachStandby();
  let made = 0;
  return {
    /** Makes the server that was killed the synchronous standby of the other one, from a new copy. */
    attachStandby,
    /** The URL of a new, empty database, which names both servers. */
    async newDatabase() {
      made += 1;
      await tell(primary, `CREATE DATABASE lyrebird_${made} TEMPLATE template0`);
      return `postgres://${USER}:${PASSWORD}@127.0.0.1:${ports[0]},127.0.0.1:${ports[1]}/lyrebird_${made}`;
    },
    /** The URL of the same database at the present primary alone. */
    atPrimary(url: string) {
      return url.replace(`127.0.0.1:${ports[0]},127.0.0.1:${ports[1]}`, `127.0.0.1:${ports[primary]}`);
    },
    /** SIGKILL of the primary and of all its children; so much later the standby is promoted. */
    async failOver(detectedAfterMs: number) {
      const killed = servers[primary];
      if (killed != null) await killAll(killed);
      servers[primary] = null;
      primary = 1 - primary;
      await pause(detectedAfterMs);
      await tell(primary, "SELECT pg_promote()");
    },
    async stop() {
      // A primary that waits for its standby would not stop.
      for (const server of servers) if (server !== null) await killAll(server);
      process.removeListener("exit", killAtExit);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Starts a server of one's own, or answers null where PostgreSQL's programs are missing. */
export async function startPostgres(): Promise<PostgresServer | null> {
  if (PROGRAMS === null) return null;
  const directory = mkdtempSync(join(tmpdir(), "lyrebird-postgres-"));
  const owner = ownerOfServers();
  // The server's user has to get to it, through the test run's folder too; what is in it is closed by the
  // server itself.
  chmodSync(directory, 0o711);
  if (owner !== null) chownSync(directory, owner.uid, owner.gid);
  const cluster = join(directory, "cluster");
  makeCluster(cluster, owner);

  const port = await freePort();
  let running = await startServer(cluster, port, owner);
  const killAtExit = () => running.kill("SIGKILL");
  process.once("exit", killAtExit);
  const url = `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/postgres`;
  const databases = new MadeDatabases(url);
  return {
    url,
    newDatabase: () => databases.make(),
    kill: () => killAll(running),
    async restart() {
      await stopServer(running);
      running = await startServer(cluster, port, owner);
    },
    async stop() {
      await stopServer(running);
      process.removeListener("exit", killAtExit);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/**
 * Makes a new cluster: a copy of the run's first one if there is a place for that, which takes a tenth of the
 * time.
 */
function makeCluster(cluster: string, owner: Owner | null): void {
  const kept = process.env[KEPT_CLUSTER];
  if (kept === undefined) initialize(cluster, owner);
  else {
    if (!existsSync(kept)) keepFirst(kept, `${cluster}-first`, owner);
    carryOut("cp", ["-R", kept, cluster], cluster, owner);
  }
}

/** Several files of tests may be at it at once: the first one's is kept. */
function keepFirst(kept: string, made: string, owner: Owner | null): void {
  initialize(made, owner);
  try {
    renameSync(made, kept);
  } catch (error) {
    if (!existsSync(kept)) throw error;
  }
}

function initialize(cluster: string, owner: Owner | null): void {
  if (PROGRAMS === null) throw new Error("a cluster is made by PostgreSQL's programs");
  const passwordFile = join(dirname(cluster), "password");
  writeFileSync(passwordFile, PASSWORD, { mode: 0o644 });
  carryOut(
    join(PROGRAMS, "initdb"),
    [
      ...["--pgdata", cluster, "--no-sync", "--locale", "C", "--encoding", "UTF8"],
      ...["--username", USER, "--auth", "scram-sha-256", "--pwfile", passwordFile],
    ],
    cluster,
    owner,
  );
}

/** Runs a program that makes a cluster, as its owner. */
function carryOut(program: string, args: readonly string[], cluster: string, owner: Owner | null): void {
  const { status, error, stderr } = spawnSync(program, args, {
    ...owner,
    cwd: dirname(cluster),
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${program} failed: ${error ?? stderr}`);
}

/** Databases with names that no other run has, on one server. */
class MadeDatabases {
  readonly #url: string;
  readonly #names: string[] = [];

  constructor(url: string) {
    this.#url = url;
  }

  async make(): Promise<string> {
    const name = `lyrebird_${process.pid}_${Date.now().toString(36)}_${this.#names.length}`;
    this.#names.push(name);
    await this.#carryOut([`CREATE DATABASE ${escapeIdentifier(name)} TEMPLATE template0`]);
    const url = new URL(this.#url);
    url.pathname = `/${name}`;
    return url.href;
  }

  async drop(): Promise<void> {
    await this.#carryOut(
      this.#names.map((name) => `DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`),
    );
  }

  async #carryOut(statements: readonly string[]): Promise<void> {
    const client = new Client({ connectionString: this.#url });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  }
}

type Owner = { readonly uid: number; readonly gid: number };

/** PostgreSQL does not run as root: the user that it is to run as instead, or null if this one will do. */
function ownerOfServers(): Owner | null {
  if (process.getuid?.() !== 0) return null;
  const idOf = (option: string) => {
    const { status, stdout } = spawnSync("id", [option, USER], { encoding: "utf8" });
    if (status !== 0)
      throw new Error(`root cannot run PostgreSQL, and there is no user ${USER} to run it as`);
    return Number(stdout);
  };
  return { uid: idOf("-u"), gid: idOf("-g") };
}

/** Resolves when the server takes connections. */
async function startServer(cluster: string, port: number, owner: Owner | null): Promise<ChildProcess> {
  if (PROGRAMS === null) throw new Error("a server is started from its programs");
  const settings = [
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "fsync=on",
    "synchronous_commit=on",
  ];
  const server = spawn(
    join(PROGRAMS, "postgres"),
    ["-D", cluster, "-p", String(port), ...settings.flatMap((setting) => ["-c", setting])],
    { ...owner, cwd: cluster, stdio: ["ignore", "ignore", "pipe"] },
  );
  let said = "";
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: server.stderr }).on("line", (line) => {
      if (/database system is ready to accept (read-only )?connections/.test(line)) resolve();
      if (said.length < SAID_MAX) said += `${line}\n`;
    });
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`PostgreSQL exited with ${code}:\n${said}`)));
  });
  return server;
}

/** Of what a server says this much is kept for the error that it did not start with, characters. */
const SAID_MAX = 10_000;

/** SIGINT is PostgreSQL's fast shutdown: it ends its clients and leaves nothing to recover. */
async function stopServer(server: ChildProcess): Promise<void> {
  if (hasExited(server)) return;
  const exited = once(server, "exit");
  server.kill("SIGINT");
  await exited;
}

async function killAll(server: ChildProcess): Promise<void> {
  if (hasExited(server)) return;
  const exited = once(server, "exit");
  // Stopped first, so that it has no further child between the look and the kill.
  server.kill("SIGSTOP");
  const children = childrenOf(server.pid);
  server.kill("SIGKILL");
  for (const child of children) killIfThere(child);
  await exited;
  // While one of them lives the cluster cannot be started again.
  await eventually("PostgreSQL's processes are gone", () => !children.some(isAlive));
}

function hasExited({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Only Linux says; elsewhere the children end by themselves, soon after the postmaster. */
function childrenOf(pid: number | undefined): number[] {
  const list = `/proc/${pid}/task/${pid}/children`;
  if (!existsSync(list)) return [];
  return readFileSync(list, "utf8").trim().split(" ").filter(Boolean).map(Number);
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It had ended by itself.
  }
}

/** A process that nobody has asked for its end yet is dead all the same. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** The ports that were returned already: their listeners may open later. */
const taken = new Set<number>();

/** A port of the loopback address without a listener, another one each time. */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < PORTS_TRIED_MAX; tried += 1) {
    const port = PORT_MIN + Math.floor(Math.random() * (PORT_MAX - PORT_MIN));
    if (taken.has(port)) continue;
    taken.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`none of ${PORTS_TRIED_MAX} ports is free`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

function findPrograms(): string | null {
  const versions = existsSync(DEBIAN_PROGRAMS) ? readdirSync(DEBIAN_PROGRAMS).map(Number) : [];
  const newestFirst = versions.sort((one, other) => other - one).map(String);
  const folders = [
    ...newestFirst.map((version) => join(DEBIAN_PROGRAMS, version, "bin")),
    ...(process.env.PATH ?? "").split(delimiter),
  ];
  const hasAll = (folder: string) =>
    ["initdb", "postgres"].every((program) => existsSync(join(folder, program)));
  return folders.find(hasAll) ?? null;
}
