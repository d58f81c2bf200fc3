// `lyrebird prune`: strategies that were closed long ago leave the database, into a file.
import type { Kysely } from "kysely";
import { ConfigError, VERSION } from "../config/config.ts";
import { databaseFile } from "../config/data-directory.ts";
import type { NewAuditRecord } from "../domain/audit.ts";
import {
  ARCHIVED_MAX,
  type ClosedStrategy,
  listArchivable,
  removeStrategies,
} from "../store/backup/archive.ts";
import { withPostgres } from "../store/backup/postgres.ts";
import { checkBackup } from "../store/backup/restore.ts";
import { withSqlite } from "../store/backup/sqlite.ts";
import { writeBackup } from "../store/backup/write.ts";
import type { Tables } from "../store/schema.ts";
import {
  type Command,
  configOf,
  isoTime,
  OPTIONS_HINT,
  type Options,
  openNamedDatabase,
  printRows,
} from "./command.ts";
import { runLong, totalOf } from "./long-run.ts";

const DAYS_DEFAULT = 365;
const DAYS_MAX = 36_500;
const DAY_MS = 86_400_000;

export const PRUNE: Command = {
  name: "prune",
  operand: "[file]",
  options: ["older-than", "json", "yes"],
  purpose: "move strategies that were closed long ago out of the database, into a file",
  details: `  [file]             where to; it must not exist yet
  --older-than DAYS  closed for longer than this, 1 to ${DAYS_MAX} (${DAYS_DEFAULT})
  --yes              does it; without it nothing is done, and the strategies are listed
  --json             one line of JSON a strategy

Journal, orders, trades, counterfactuals, legs, incomes and signals of each go with it.
They are first written into the file, which has the form of a backup ("restore" makes a
database of it) and is read back before anything is removed. Strategies that somebody
has copied, or that a key which is not revoked still reads, stay, also if that happens
while the command runs; such a one is in the file and is named. At most
${ARCHIVED_MAX.toLocaleString("en-US")} go at a time. It works beside a running server.
The database's file does not shrink: the space is used for new rows. Each strategy is
audited.`,
  run: prune,
};

async function prune(options: Options, [file, ...others]: readonly string[]): Promise<void> {
  const { yes = false, json = false } = options;
  if (others.length > 0 || (yes && file === undefined)) {
    throw new ConfigError(`prune takes the name of one file; ${OPTIONS_HINT}`);
  }
  const days = daysOf(options["older-than"]);
  // Refuses what has never been used, and brings the tables up to date.
  await (await openNamedDatabase(options)).close();
  await withDatabase(options, async (db) => {
    const closed = await listArchivable(db, Date.now() - days * DAY_MS);
    if (!yes || file === undefined) return list(closed, json);
    if (closed.length === 0) {
      process.stdout.write(`no strategy has been closed for more than ${days} days: nothing is done\n`);
      return;
    }
    const strategies = closed.map(({ strategyId }) => strategyId);
    const { rows } = await runLong("export", async (run) => {
      const written = await writeBackup(db, file, { version: VERSION, ...run, strategies });
      await checkBackup(file, run.signal);
      return written;
    });
    const closedAts = new Map(closed.map(({ strategyId, closedAt }) => [strategyId, isoTime(closedAt)]));
    const recordOf = (strategyId: string): NewAuditRecord => ({
      who: { kind: "COMMAND_LINE" },
      what: "STRATEGY_ARCHIVED",
      about: { kind: "STRATEGY", id: strategyId },
      at: Date.now(),
      details: { closed: closedAts.get(strategyId) ?? "" },
    });
    const removal = await runLong(
      "removal",
      (run) => removeStrategies(db, strategies, { ...run, recordOf }),
      `has removed a part of what is in ${file}: call it again, with another file, for the rest`,
    );
    for (const strategyId of removal.kept) {
      process.stdout.write(
        `${strategyId} stays: since it was listed a key was bound to it, or another prune has removed it; ${file} has it too\n`,
      );
    }
    process.stdout.write(
      `${file}: ${closed.length === 1 ? "1 strategy" : `${closed.length} strategies`}, ${totalOf(rows)}; ${removal.rows.toLocaleString("en-US")} rows are removed\n`,
    );
  });
}

function daysOf(given: string | undefined): number {
  if (given === undefined) return DAYS_DEFAULT;
  const days = Number(given);
  if (/^\d+$/.test(given) && days >= 1 && days <= DAYS_MAX) return days;
  throw new ConfigError(`--older-than is a number of days, from 1 to ${DAYS_MAX}: ${JSON.stringify(given)}`);
}

function list(closed: readonly ClosedStrategy[], asJson: boolean): void {
  const rows = closed.map(({ closedAt, ...row }) => ({ ...row, closedAt: isoTime(closedAt) }));
  printRows(rows, {
    asJson,
    columns: {
      STRATEGY: ({ strategyId }) => strategyId,
      TYPE: ({ type }) => type.toLowerCase(),
      NAME: ({ name }) => name,
      OWNER: ({ ownerId }) => ownerId ?? "-",
      CLOSED: ({ closedAt }) => closedAt,
    },
  });
}

async function withDatabase<Result>(
  options: Options,
  use: (db: Kysely<Tables>) => Promise<Result>,
): Promise<Result> {
  const { dataDir, databaseUrl } = configOf(options);
  return databaseUrl === null
    ? await withSqlite(databaseFile(dataDir), use)
    : await withPostgres(databaseUrl, use);
}
