// Composes a copier, as part of a server or as a process of its own (`--role copier`): its data, and the
// mails for copies that pause by themselves. Made here, and closed here.
import { randomBytes } from "node:crypto";
import type { MessagePort } from "node:worker_threads";
import type { Logger } from "pino";
import { systemTimers } from "./concurrency/time.ts";
import type { Config } from "./config/config.ts";
import { databaseFile, lockDirectory, masterKeyFileOf, openDataDirectory } from "./config/data-directory.ts";
import { databaseName, warningOfClearText } from "./config/shared-database.ts";
import { type CopierNews, openCopier } from "./copy/copier.ts";
import { CopierThread } from "./copy/thread-host.ts";
import { createKeyWatch } from "./keys/key-watch.ts";
import { Mailer } from "./people/mail/mail.ts";
import { isCopyNote } from "./people/mail/mails.ts";
import { Notices } from "./people/mail/notices.ts";
import type { PeopleStore } from "./store/ports/people.ts";
import type { Store, StoreFailure } from "./store/store.ts";

export type CopierService = {
  /** The name that it claims leads by. */
  readonly name: string;
  /** The database that it works on, without its password. */
  readonly database: string;
  /** Ends the work in flight, in order, and closes everything. */
  close(): Promise<void>;
};

/**
 * The copier of a server, on a thread of its own; null if it has none, by its role or since copying is not
 * offered.
 */
export function startServersCopier(
  config: Config,
  around: {
    readonly store: Store;
    readonly notices: Notices;
    readonly copyChanged: (copyId: string) => void;
    readonly onFatal: (failure: StoreFailure) => void;
    readonly log: Logger;
  },
): CopierThread | null {
  if (config.role !== "all" || config.copyVenues.length === 0) return null;
  const { store, notices, copyChanged, onFatal, log } = around;
  const { databaseUrl } = config;
  return new CopierThread({
    database:
      databaseUrl === null
        ? { kind: "SQLITE", file: databaseFile(config.dataDir), openWriterPort: () => writerPortOf(store) }
        : { kind: "POSTGRES", url: databaseUrl },
    masterKeyFile: masterKeyFileOf(config),
    allowedVenues: config.copyVenues,
    news: {
      copiesChanged: (copyIds) => copyIds.forEach(copyChanged),
      paused: tellingCopiers({ people: store.people, notices, log }),
      failed: onFatal,
    },
    timers: systemTimers,
    wallNow: () => Date.now(),
    log,
  });
}

/**
 * Starts a process that only copies, beside the servers on a PostgreSQL database. `onFatal` is called when it
 * must stop at once.
 */
export async function startCopierService(
  config: Config,
  { log, onFatal }: { readonly log: Logger; readonly onFatal: (failure: StoreFailure) => void },
): Promise<CopierService> {
  const { databaseUrl, publicUrl } = config;
  if (databaseUrl === null) throw new Error("a copier by itself works on a shared database");
  // Opened resources, closed in the opposite order, also when the start fails half-way.
  const opened = new AsyncDisposableStack();
  try {
    const lock = lockDirectory(config.dataDir);
    if (lock === null)
      throw new Error(`another process is running on ${config.dataDir}: give this one its own with --data`);
    opened.defer(() => lock.release());
    const clearText = warningOfClearText(databaseUrl);
    if (clearText !== null) log.warn(clearText);
    const { store, master } = await openDataDirectory(config.dataDir, config.masterKeyFile, databaseUrl);
    opened.defer(() => store.close());
    const { every, after } = systemTimers;
    const keyWatch = createKeyWatch({ master, store, every, log });
    opened.defer(() => keyWatch.close());
    const mailer = new Mailer({ settings: config.mail, after, log });
    opened.defer(() => mailer.close());
    void mailer.check();
    if (!mailer.sendsMail) log.warn("no SMTP is configured: copiers get no mails about their copies");
    // Without it no mail is sent, and the log has no use for an address.
    const notices = new Notices({ mailer, publicUrl: () => publicUrl ?? "http://localhost" });
    const name = `copier-${randomBytes(8).toString("hex")}`;
    const copier = await openCopier({
      store,
      master,
      holder: name,
      isAlone: false,
      allowedVenues: config.copyVenues,
      wallNow: () => Date.now(),
      timers: systemTimers,
      news: {
        claimed: (strategyIds) => log.info({ strategies: strategyIds.length }, "leads are claimed"),
        // Servers poll the revisions of copies in view.
        copiesChanged: () => {},
        paused: tellingCopiers({ people: store.people, notices, log }),
        failed: onFatal,
      },
      log,
    });
    opened.defer(() => copier.close());
    return { name, database: databaseName(databaseUrl), close: () => opened.disposeAsync() };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

/** Notifies a copier by mail, except of an own action. */
function tellingCopiers({
  people,
  notices,
  log,
}: {
  readonly people: Pick<PeopleStore, "findPerson">;
  readonly notices: Notices;
  readonly log: Pick<Logger, "error">;
}): CopierNews["paused"] {
  const tell = async (...[{ copyId, personId }, reason]: Parameters<CopierNews["paused"]>) => {
    if (!isCopyNote(reason)) return;
    try {
      const person = await people.findPerson(personId);
      if (person !== null) notices.tellOfCopy(person, copyId, reason);
    } catch (error) {
      log.error({ err: error, copyId, reason }, "a copier could not be told of a copy");
    }
  };
  return (copy, reason) => void tell(copy, reason);
}

/** Another thread's way to the one writer of the embedded database. */
function writerPortOf(store: Store): MessagePort {
  if (!("openWriterPort" in store)) throw new Error("the embedded database has a writer");
  return (store as Store & { openWriterPort(): MessagePort }).openWriterPort();
}
