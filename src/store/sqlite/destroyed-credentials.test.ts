// What is destroyed is gone from the disk: the bytes of the database and of its log are read.
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { newDirectory } from "../../../test/support/servers/gateway.ts";
import { auditedAs, venueAccountOf } from "../contract/copying/records.ts";
import { upTo } from "../contract/records.ts";
import { openDatabase } from "./database.ts";
import { openSqliteStore, type SqliteStore } from "./sqlite-store.ts";

const ACCOUNTS = 120;
/** So much of a sealed text would be a part of it that somebody could use. */
const PART = 32;

let directory: string;
let file: string;
beforeEach(() => {
  directory = newDirectory();
  file = join(directory, "lyrebird.sqlite");
});
afterEach(() => rmSync(directory, { recursive: true }));

/** Those of which a part is in any file of the directory. */
function found(texts: readonly string[]): readonly string[] {
  const files = readdirSync(directory).map((name) => readFileSync(join(directory, name)));
  return texts.filter((text) => {
    for (let at = 0; at + PART <= text.length; at += PART / 2) {
      const part = text.slice(at, at + PART);
      if (files.some((bytes) => bytes.includes(part))) return true;
    }
    return false;
  });
}

function sealedText(): string {
  return `seal2.1.${randomBytes(180 + Math.floor(Math.random() * 40)).toString("base64url")}`;
}

describe("credentials that were destroyed are in no file", () => {
  const sealed = new Map<string, string>();
  const gone: string[] = [];
  let store: SqliteStore;
  beforeEach(async () => {
    sealed.clear();
    gone.length = 0;
    store = await openSqliteStore(file);
    for (const number of upTo(ACCOUNTS)) await connect(`account-${number}`);
  });
  afterEach(() => store.close());

  async function connect(accountId: string): Promise<void> {
    const text = sealedText();
    sealed.set(accountId, text);
    const account = venueAccountOf(`of-${accountId}`, { accountId, sealed: text });
    await store.copying.connectAccount(account, auditedAs("VENUE_ACCOUNT_CONNECTED"), { liveMax: 9 });
  }

  function destroyed(accountId: string, successor: string | null): void {
    gone.push(sealed.get(accountId) ?? "");
    if (successor === null) sealed.delete(accountId);
    else sealed.set(accountId, successor);
  }

  const disconnect = async (accountId: string) => {
    const ended = { accountId, personId: `of-${accountId}`, at: 1 };
    expect(await store.copying.disconnectAccount(ended, auditedAs("VENUE_ACCOUNT_DISCONNECTED"))).toBe(true);
    destroyed(accountId, null);
  };
  const replace = async (accountId: string) => {
    const to = sealedText();
    const replaced = { accountId, personId: `of-${accountId}`, sealed: to, keyHint: "k", at: 1 };
    expect(await store.copying.replaceCredentials(replaced, auditedAs("VENUE_ACCOUNT_RENEWED"))).toBe(
      "REPLACED",
    );
    destroyed(accountId, to);
  };
  const reseal = async (accountId: string) => {
    const to = sealedText();
    expect(await store.copying.resealAccount(accountId, { from: sealed.get(accountId) ?? "", to })).toBe(
      true,
    );
    destroyed(accountId, to);
  };
  /** Rows grow and shrink, and are moved for that. */
  const check = async (accountId: string) => {
    const failure = "x".repeat(Math.floor(Math.random() * 500));
    await store.copying.noteAccountChecked(accountId, { status: "FAILED", failure, at: 2 });
  };

  test("whatever has become of the accounts beside them, while the store is at work", async () => {
    expect(found([...sealed.values()])).toHaveLength(ACCOUNTS);
    for (const number of upTo(ACCOUNTS)) {
      const accountId = `account-${number}`;
      for (const other of upTo(3)) await check(`account-${((number * 7 + other) % ACCOUNTS) + 1}`);
      if (number % 2 === 0) await replace(accountId);
      if (number % 3 === 0) await reseal(accountId);
      if (number % 5 < 2) await disconnect(accountId);
      else await check(accountId);
    }
    const last = [...sealed.keys()][0] ?? "";
    await disconnect(last);
    expect(gone.length).toBeGreaterThan(ACCOUNTS);
    expect(found(gone)).toEqual([]);
    expect(found([...sealed.values()])).toHaveLength(sealed.size);
    const kept = await store.copying.listSealedAccounts();
    expect(new Map(kept.map((each) => [each.accountId, each.sealed]))).toEqual(sealed);
  });

  test("also where somebody still read from the log when they were destroyed, once they have ended", async () => {
    await reseal("account-7");
    const reader = openDatabase(file);
    reader.exec("BEGIN");
    reader.prepare("SELECT COUNT(*) FROM venue_accounts").get();
    await disconnect("account-8");
    expect(found(gone)).not.toEqual([]);
    reader.exec("ROLLBACK");
    await vi.waitFor(() => expect(found(gone)).toEqual([]), { timeout: 20_000 });
    reader.close();
  });

  test("also after the process was killed before it could empty the log", async () => {
    // As a process leaves it that is killed: nobody has emptied the log, or will.
    const killed = openDatabase(file);
    const row = killed.prepare("SELECT credentials FROM venue_accounts WHERE id = 'account-9'").get();
    const blank = " ".repeat(sealed.get("account-9")?.length ?? 0);
    const { credentials = null } = row as { credentials?: number };
    killed.prepare("UPDATE venue_credentials SET sealed = ? WHERE position = ?").run(blank, credentials);
    destroyed("account-9", null);
    expect(found(gone)).not.toEqual([]);
    const next = await openSqliteStore(file);
    expect(found(gone)).toEqual([]);
    await next.close();
    killed.close();
  });
});
