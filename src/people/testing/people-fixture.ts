// All of people on a real store, with a clock that the test owns, and the log. Passwords are hashed at once,
// unless a test asks for argon2id.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pino from "pino";
import { onTestFinished } from "vitest";
import { openBeside } from "../../../test/support/servers/database.ts";
import type { Timers } from "../../concurrency/time.ts";
import type { MailSettings } from "../../config/config.ts";
import { newMasterKey } from "../../keys/testing/master-keys.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import type { Caller } from "../cookies.ts";
import type { Hasher } from "../passwords.ts";
import { createPeople } from "../people.ts";
import { newDirectory } from "./directory.ts";

export const PASSWORD = "a fine long password";
const DATABASE = "lyrebird.sqlite";
/** With a slash at its end, as an operator may set it. */
const PUBLIC_URL = "https://lyrebird.example/";
export const COOKIES = { session: "__Host-lyrebird", device: "__Host-lyrebird-device" } as const;

export type LogLine = { readonly msg: string; readonly link?: string; readonly to?: string };

export type PeopleFixture = Awaited<ReturnType<typeof openPeopleFixture>>;

export async function openPeopleFixture(
  options: {
    readonly mail?: MailSettings | null;
    readonly hasher?: Hasher | "ARGON2ID";
    readonly after?: Timers["after"];
  } = {},
) {
  // Far from the present, so that code that reads the system's clock fails.
  let now = Date.UTC(2020, 0, 1);
  const directory = newDirectory();
  const store = await openSqliteStore(join(directory, DATABASE));
  const master = newMasterKey();
  const written: string[] = [];
  let hashings = 0;
  const counted = (hasher: Hasher): Hasher => ({
    hash(password) {
      hashings += 1;
      return hasher.hash(password);
    },
    verify(hashed, password) {
      hashings += 1;
      return hasher.verify(hashed, password);
    },
  });
  const open = () =>
    createPeople({
      store,
      master,
      wallNow: () => now,
      publicUrl: () => PUBLIC_URL,
      mail: options.mail ?? null,
      after: options.after ?? (() => () => {}),
      log: pino({ level: "trace" }, { write: (line: string) => void written.push(line) }),
      ...(options.hasher === "ARGON2ID" ? {} : { hasher: counted(options.hasher ?? quick) }),
    });
  const people = open();
  onTestFinished(async () => {
    await people.close();
    await store.close();
  });
  const lines = () => written.map((line) => JSON.parse(line) as LogLine);
  const lastToken = (email: string) => {
    const link = lines().findLast((line) => line.to === email && line.link !== undefined)?.link;
    if (link === undefined) throw new Error(`no link was logged for ${email}`);
    return new URLSearchParams(new URL(link).hash.slice(1)).get("token") ?? "";
  };
  return {
    ...people,
    /** The people of another server on the same store. */
    another: open,
    store,
    master,
    /** How often a password was hashed or checked. */
    hashings: () => hashings,
    lines,
    logText: () => written.join(""),
    /** Every byte of the database and its log. */
    databaseText: () =>
      readdirSync(directory)
        .map((name) => readFileSync(join(directory, name), "latin1"))
        .join(""),
    /** Changes rows of the database, past the store. */
    changeRows(sql: string): void {
      using database = openBeside(directory);
      database.exec(sql);
    },
    /** Wall time, Unix ms, and how a test advances it. */
    now: () => now,
    pass(ms: number): void {
      now += ms;
    },
    /** The token of the last link that was logged for an address. */
    lastToken,
    /** Signs up, and chooses PASSWORD on the page of the link. */
    async newPerson(email: string): Promise<void> {
      const refused = await people.signUps.request(email, browser());
      await people.settled();
      if (refused !== null) throw new Error(`signing up was refused: ${refused.refused}`);
      const chosen = { token: lastToken(email), name: "Ada", password: PASSWORD };
      const finished = await people.signUps.finish(chosen, browser());
      if ("refused" in finished) throw new Error(`the link was refused: ${finished.refused}`);
    },
    /** The kinds of the audit records of the person of an address, oldest first. */
    async actions(email: string): Promise<string[]> {
      const person = await store.people.findPersonByEmail(email);
      const records = await store.people.listAudit({ personId: person?.personId ?? "", limit: 100 });
      return records.map(({ what }) => what).reverse();
    },
  };
}

/** A browser at an address, with cookies given as values of `set-cookie`. */
export function browser(setCookies: readonly string[] = [], address = "203.0.113.7"): Caller {
  const kept = setCookies.map((each) => each.split(";")[0]).filter((each) => each !== undefined);
  return { address, userAgent: "a browser", cookies: kept.length === 0 ? null : kept.join("; ") };
}

/** Hashes at once; other tests use argon2id. */
const quick: Hasher = {
  hash: async (password) => createHash("sha256").update(password).digest("hex"),
  verify: async (hashed, password) => createHash("sha256").update(password).digest("hex") === hashed,
};
