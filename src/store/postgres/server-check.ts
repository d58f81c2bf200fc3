// Checks a PostgreSQL server before anything is stored on it. Invariant: an order that was answered is on
// disk, so a server that reports a commit before it is durable is rejected. With `fsync` or
// `full_page_writes` off, a power failure loses or tears committed data. With `synchronous_commit` off, a
// crash loses the last commits; with local or remote_write, a failover to a standby does, and without a
// standby "on" promises the same, so "on" is required. A standby is rejected too: it accepts no commits.
import type { ClientBase } from "pg";

/** The oldest version that the tests run on. */
const MAJOR_VERSION_MIN = 15;

/** The levels at which a commit that was answered survives the loss of any one server. */
const DURABLE_COMMITS = ["on", "remote_apply"];

/** The database is reachable but its setup cannot be used. The message says what to do. */
export class DatabaseUnfit extends Error {}

/** The server is a standby at present; another one may be the primary. */
export class OnStandby extends DatabaseUnfit {}

/** Settings of a session, by their names in PostgreSQL. */
export type SessionSettings = Readonly<Record<string, string>>;

type Server = {
  readonly version: number;
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_commit: string;
  readonly server_encoding: string;
  readonly is_standby: boolean;
};

/** Makes a new connection ours. Throws DatabaseUnfit if the server must not be relied on. */
export async function lookOver(client: ClientBase, settings: SessionSettings): Promise<void> {
  const { rows } = await client.query<Server>(
    `SELECT current_setting('server_version_num')::integer AS version, current_setting('fsync') AS fsync,
       current_setting('full_page_writes') AS full_page_writes,
       current_setting('synchronous_commit') AS synchronous_commit,
       current_setting('server_encoding') AS server_encoding, pg_is_in_recovery() AS is_standby`,
  );
  const [server] = rows;
  if (server === undefined) throw new Error("a server that is asked about itself answers one row");
  const flaw = flawOf(server);
  if (flaw !== null) throw new (server.is_standby ? OnStandby : DatabaseUnfit)(flaw);
  // Set for the session too, so that nobody changes the server's default under it.
  const all = Object.entries({ ...settings, synchronous_commit: server.synchronous_commit });
  await client.query(
    "SELECT set_config(setting, value, false) FROM unnest($1::text[], $2::text[]) AS wanted (setting, value)",
    [all.map(([name]) => name), all.map(([, value]) => value)],
  );
}

/** Why the server is refused, and what to do about it; null if it is not. */
export function flawOf(server: Server): string | null {
  const major = Math.floor(server.version / 10_000);
  if (major < MAJOR_VERSION_MIN) {
    return `the server is PostgreSQL ${major}: ${MAJOR_VERSION_MIN} or newer is needed`;
  }
  if (server.is_standby) {
    return "the server is a standby, which takes no commits: name the primary, or all servers, separated by commas";
  }
  for (const setting of ["fsync", "full_page_writes"] as const) {
    if (server[setting] === "on") continue;
    return `${setting} is ${server[setting]}, so a power cut would lose what was acknowledged: set ${setting} = on in the server's configuration and reload it`;
  }
  const { synchronous_commit: commits } = server;
  if (!DURABLE_COMMITS.includes(commits)) {
    return `synchronous_commit is ${commits}, so a crash or a failover could lose what was acknowledged: ALTER DATABASE … SET synchronous_commit = on (or remote_apply)`;
  }
  if (server.server_encoding !== "UTF8") {
    return `the database's encoding is ${server.server_encoding}: create it with ENCODING 'UTF8' TEMPLATE template0`;
  }
  return null;
}
