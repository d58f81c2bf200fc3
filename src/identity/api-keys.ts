// API keys. The secret of a key is never stored: it is derived, at every request, from the master key (a file) and the
// key's salt (the database). Either alone gives nothing, and a secret that was lost stays lost.
import { createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import type { ApiKeyRecord, Store } from "../store/store.ts";

/** Separates this use of the master key from any other. */
const SECRET_DOMAIN = "lyrebird api secret";
const CHECK_DOMAIN = "lyrebird master key check";
const KEY_PREFIX = "lyre_bot_";
const MASTER_KEY_BYTES = 32;

/** The one version of the master key there is so far; rotating it adds the next. */
const MASTER_VERSION = 1;

export type MasterKey = { readonly version: number; readonly key: KeyObject };

/** Reads the master key: 64 hex characters. Throws with what to do if the file is not that. */
export function readMasterKey(file: string): MasterKey {
  const what = `${MASTER_KEY_BYTES} random bytes as 64 hex characters, for example from "openssl rand -hex 32"`;
  let text: string;
  try {
    text = readFileSync(file, "utf8").trim();
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new Error(`MASTER_KEY_FILE cannot be read, it should hold ${what}: ${reason}`);
  }
  if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0) {
    throw new Error(`MASTER_KEY_FILE ${file} may be read by others: chmod 600 it`);
  }
  if (!/^[0-9a-fA-F]{64}$/.test(text)) throw new Error(`MASTER_KEY_FILE ${file} must hold ${what}`);
  return { version: MASTER_VERSION, key: createSecretKey(text, "hex") };
}

/**
 * Writes a new master key, readable by its owner alone, unless there is one already. The file appears whole and synced or
 * not at all: a database whose master key is lost has lost all its secrets.
 */
export function createMasterKey(file: string): void {
  const draft = `${file}.${randomBytes(4).toString("hex")}`;
  const text = `${randomBytes(MASTER_KEY_BYTES).toString("hex")}\n`;
  writeFileSync(draft, text, { mode: 0o600, flag: "wx", flush: true });
  try {
    linkSync(draft, file);
  } catch (error) {
    // Another first start was faster; its key is the one.
    if (!existsSync(file)) throw error;
  } finally {
    unlinkSync(draft);
  }
  syncFolder(dirname(file));
}

/** Makes the names in a folder last through a power cut. */
export function syncFolder(folder: string): void {
  // Windows has no folders to sync.
  if (process.platform === "win32") return;
  const opened = openSync(folder, "r");
  fsyncSync(opened);
  closeSync(opened);
}

/** The database's API keys were made with another master key. */
export class MasterKeyUnfit extends Error {}

/** Throws MasterKeyUnfit unless the database's secrets come from this master key; a new database remembers it. */
export async function verifyMasterKey(store: Store, master: MasterKey): Promise<void> {
  const checkValue = createHmac("sha256", master.key).update(CHECK_DOMAIN).digest("hex");
  if ((await store.rememberMasterKey(master.version, checkValue)) !== checkValue) {
    throw new MasterKeyUnfit(
      "the master key is not the one that this database's API keys were made with: point MASTER_KEY_FILE at that one",
    );
  }
}

/** A new key and, this once, its secret. */
export function issueApiKey(
  master: MasterKey,
  terms: { readonly label: string; readonly strategyId: string | null; readonly createdAt: number },
): { readonly record: ApiKeyRecord; readonly secret: string } {
  const record: ApiKeyRecord = {
    keyId: randomBytes(8).toString("hex"),
    apiKey: KEY_PREFIX + randomBytes(32).toString("hex"),
    salt: randomBytes(16).toString("hex"),
    masterVersion: master.version,
    revokedAt: null,
    ...terms,
  };
  return { record, secret: secretOf(master, record) };
}

/** The secret of a key: 64 lowercase hex characters, used as text. */
export function secretOf(master: MasterKey, { keyId, salt, masterVersion }: ApiKeyRecord): string {
  if (masterVersion !== master.version) throw new Error(`there is no master key of version ${masterVersion}`);
  return createHmac("sha256", master.key)
    .update(`${SECRET_DOMAIN}|${masterVersion}|${keyId}|${salt}`)
    .digest("hex");
}
