// `lyrebird backup`: everything the service keeps, as of one moment, in one file.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError, VERSION } from "../config/config.ts";
import { databaseFile, MASTER_KEY_NAME } from "../config/data-directory.ts";
import { backUpPostgres } from "../store/backup/postgres.ts";
import { backUpSqlite } from "../store/backup/sqlite.ts";
import { type Command, configOf, OPTIONS_HINT, type Options } from "./command.ts";
import { runLong, totalOf } from "./long-run.ts";

const BYTES_PER_MB = 1_000_000;

export const BACKUP: Command = {
  name: "backup",
  operand: "<file>",
  options: [],
  purpose: "write everything, as of this moment, into one file; also beside a running server",
  details: `  <file>   where to; it must not exist yet

It holds everything as it is at one moment, also while orders are being taken: people,
sealed identity forms and exchange credentials, strategies, orders, trades, keys, budgets
and the audit. It appears under its name when it is complete and on disk. Only its owner
may read it.

The master key is not in it. Keep that file too, in another place: without it no API key
of the backup works again.`,
  run: backup,
};

async function backup(options: Options, [file, ...others]: readonly string[]): Promise<void> {
  if (file === undefined || others.length > 0) {
    throw new ConfigError(`backup takes the name of one file; ${OPTIONS_HINT}`);
  }
  const { dataDir, databaseUrl, masterKeyFile } = configOf(options);
  const database = databaseFile(dataDir);
  if (databaseUrl === null && !existsSync(database)) {
    throw new ConfigError(`DATA_DIR ${dataDir} holds no database: name the one that the server runs on`);
  }
  const { header, rows, sizeBytes } = await runLong("backup", (run) => {
    const terms = { version: VERSION, ...run };
    return databaseUrl === null
      ? backUpSqlite(database, file, terms)
      : backUpPostgres(databaseUrl, file, terms);
  });
  const keyFile = masterKeyFile ?? join(dataDir, MASTER_KEY_NAME);
  process.stdout.write(
    `${file}: ${totalOf(rows)}, ${(sizeBytes / BYTES_PER_MB).toFixed(1)} MB, as of ${header.createdAt}
The master key is not in it: keep ${keyFile} too, in another place.
`,
  );
}
