// The program of an earlier commit, from the repository's own history, and a cast that it has put into its
// own database. What was installed for the present one serves it too.
import { execFileSync } from "node:child_process";
import { readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { StrategyType } from "../../../src/domain/account.ts";
import type { Copier, Lead, Terms } from "../../copy/actors.ts";
import { type Credentials, newDirectory } from "../../support/servers/gateway.ts";
import type { CrashedStore } from "../harness/stores.ts";

const ROOT = join(import.meta.dirname, "../../..");
/** Of the commit; everything else is the project's own. */
const TAKEN = ["src", "test", "package.json"];
const ARCHIVE_BYTES_MAX = 256 * 1_024 * 1_024;

export type CastOrder = {
  readonly types: readonly StrategyType[];
  /** By strategy: the accounts at the venue of those who follow it, and on which terms. */
  readonly followers: readonly (readonly { readonly venue: Credentials; readonly terms: Terms }[])[];
  /** The venue's origin. */
  readonly origin: string;
};
export type Cast = { readonly lead: Lead; readonly copiers: readonly Copier[] }[];

/**
 * Lays out the program of a commit; answers where it lies, or null where the history does not have the
 * commit.
 */
export function programOf(commit: string): string | null {
  try {
    execFileSync("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: ROOT, stdio: "ignore" });
  } catch {
    return null;
  }
  const root = newDirectory();
  const archive = execFileSync("git", ["archive", commit, ...TAKEN], {
    cwd: ROOT,
    maxBuffer: ARCHIVE_BYTES_MAX,
  });
  execFileSync("tar", ["-x", "-C", root], { input: archive });
  for (const entry of readdirSync(ROOT)) {
    if (!TAKEN.includes(entry) && !entry.startsWith(".")) symlinkSync(join(ROOT, entry), join(root, entry));
  }
  return root;
}

/** Has the earlier program's own code make strategies and copies. */
export function castBy(root: string, { dataDir, env }: CrashedStore, order: CastOrder): Cast {
  const given = JSON.stringify({ dataDir, databaseUrl: env.DATABASE_URL ?? null, ...order });
  const answer = execFileSync(process.execPath, ["--input-type=module", "--eval", MAKE_CAST], {
    cwd: root,
    input: given,
    stdio: ["pipe", "pipe", "inherit"],
  });
  return JSON.parse(answer.toString());
}

const MAKE_CAST = `
import { text } from "node:stream/consumers";
import { join } from "node:path";
const given = JSON.parse(await text(process.stdin));
const from = (path) => import(join(process.cwd(), path));
const { newCopier, newLeads } = await from("test/copy/cast.ts");
const { readMasterKey } = await from("src/identity/master-key.ts");
const { openPostgresStore } = await from("src/store/postgres/postgres-store.ts");
const { openSqliteStore } = await from("src/store/sqlite/sqlite-store.ts");
const store = await (given.databaseUrl === null
  ? openSqliteStore(join(given.dataDir, "lyrebird.sqlite"))
  : openPostgresStore(given.databaseUrl));
const books = { store, master: readMasterKey(join(given.dataDir, "master.key")) };
const leads = await newLeads(books, given.types);
const cast = [];
for (const [index, lead] of leads.entries()) {
  const copiers = [];
  for (const { venue, terms } of given.followers[index]) {
    copiers.push(await newCopier(books, { lead, venue, origin: given.origin, terms }));
  }
  cast.push({ lead, copiers });
}
await store.close();
process.stdout.write(JSON.stringify(cast));
`;
