// The master key: a file of 32 random bytes per version, from which every secret in the database is derived
// or under which it is sealed. It never reaches the database, which stores a check value of each version:
// opening a database compares the two first. Bytes read from the file are wiped, and never become text.
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
import { type Store, StoreUnavailable } from "../store/store.ts";

/** Separates this use of the master key from any other. */
const CHECK_DOMAIN = "lyrebird master key check";
const MASTER_KEY_BYTES = 32;
const WHAT_IT_HOLDS = `${MASTER_KEY_BYTES} random bytes as 64 hex characters, for example from "openssl rand -hex 32"`;

/**
 * The master key in all its versions, 1 for the first. A process has one such object; versions that its file
 * has gained since are found when they are needed (`keyOf`), but nothing new is made with them before they
 * were verified.
 */
export class MasterKey {
  readonly file: string;
  #keys: readonly KeyObject[];
  #current: number;
  /** The file's state when it was read. */
  #seen: string;

  /** Throws with what to do if the file holds no master key. */
  constructor(file: string) {
    this.file = file;
    this.#seen = looksOf(file);
    this.#keys = readVersions(file);
    this.#current = this.#keys.length;
  }

  /** The version that keys and seals are made with. */
  get current(): number {
    return this.#current;
  }

  /** The newest known version, which becomes the current one once it is verified. */
  get newest(): number {
    return this.#keys.length;
  }

  /** Whether there is a version of this number, in the file too if it has changed. */
  has(version: number): boolean {
    try {
      this.keyOf(version);
      return true;
    } catch {
      return false;
    }
  }

  /** The key of a version. Throws MasterVersionMissing if there is none, or none that can be read. */
  keyOf(version: number): KeyObject {
    const known = this.#keys[version - 1];
    if (known !== undefined) return known;
    try {
      this.lookAgain();
    } catch (cause) {
      throw new MasterVersionMissing(version, this.file, { cause });
    }
    const added = this.#keys[version - 1];
    if (added === undefined) throw new MasterVersionMissing(version, this.file);
    return added;
  }

  /**
   * Reads the file again if it has changed. Throws without any change if it cannot be read or does not begin
   * with the known versions.
   */
  lookAgain(): void {
    const looks = looksOf(this.file);
    if (looks === this.#seen) return;
    const read = readVersions(this.file);
    if (!this.#keys.every((key, index) => read[index]?.equals(key))) {
      throw new Error(`MASTER_KEY_FILE ${this.file} has changed and lacks versions of the master key in use`);
    }
    this.#keys = read;
    this.#seen = looks;
  }

  /** Makes new keys and seals use the newest version. The caller has verified it. */
  useNewest(): void {
    this.#current = this.#keys.length;
  }
}

/**
 * Reads the master key: 64 hex characters a version, oldest first. Throws with what to do if the file is not
 * that.
 */
export function readMasterKey(file: string): MasterKey {
  return new MasterKey(file);
}

/**
 * Writes a new master key, readable by its owner alone, unless there is one already. The file appears whole
 * and synced or not at all: a database whose master key is lost has lost all its secrets.
 */
export function createMasterKey(file: string): void {
  writeWhole(file, newVersionLine(), 0o600);
}

/** A new version of the master key, as its line in the file. */
export function newVersionLine(): string {
  return `${randomBytes(MASTER_KEY_BYTES).toString("hex")}\n`;
}

/**
 * The file lacks a version that something in the database was made with: whatever needs it cannot be answered
 * here, and nothing was executed. The key watch logs that, once.
 */
export class MasterVersionMissing extends StoreUnavailable {
  constructor(version: number, file: string, options?: ErrorOptions) {
    const remedy = "copy the file from the server where the master key was rotated";
    super(`there is no master key of version ${version} in ${file}: ${remedy}`, options);
  }
}

/** The database's API keys were made with another master key. */
export class MasterKeyUnfit extends Error {}

/**
 * Throws MasterKeyUnfit unless the database's secrets come from this master key, in all its versions; stores
 * the check value of a version that is new to the database. From then on the newest is the current one.
 */
export async function verifyMasterKey(store: Store, master: MasterKey): Promise<void> {
  for (let version = 1; version <= master.newest; version += 1) {
    const checkValue = checkValueOf(master.keyOf(version));
    if ((await store.rememberMasterKey(version, checkValue)) === checkValue) continue;
    throw new MasterKeyUnfit(
      `${master.newest === 1 ? "the master key" : `version ${version} of the master key`} is not the one that this database's API keys were made with: point MASTER_KEY_FILE at that one`,
    );
  }
  master.useNewest();
}

/**
 * Throws MasterKeyUnfit if the database knows a version of the master key that is missing here: keys and
 * seals that other servers made with it would fail, and new ones here would use a key that may have been
 * replaced because it leaked.
 */
export async function demandNewestVersion(store: Store, master: MasterKey): Promise<void> {
  const newest = await store.newestMasterVersion();
  if (newest <= master.newest) return;
  throw new MasterKeyUnfit(
    `it ends with version ${master.newest}, and the database has been used with version ${newest}: copy the file from the server where the master key was rotated, or, if a rotation here was interrupted, finish it with "lyrebird master-key rotate"`,
  );
}

/** The check value by which the database recognizes a version; it reveals nothing of the key. */
export function checkValueOf(key: KeyObject): string {
  return createHmac("sha256", key).update(CHECK_DOMAIN).digest("hex");
}

/** Never as text, which would stay in a thread's memory for as long as nothing takes its place. */
function readVersions(file: string): readonly KeyObject[] {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : error;
    throw new Error(`MASTER_KEY_FILE cannot be read, it should hold ${WHAT_IT_HOLDS}: ${reason}`);
  }
  try {
    if (process.platform !== "win32" && (statSync(file).mode & 0o077) !== 0) {
      throw new Error(`MASTER_KEY_FILE ${file} may be read by others: chmod 600 it`);
    }
    return versionsIn(bytes, file);
  } finally {
    bytes.fill(0);
  }
}

function versionsIn(bytes: Buffer, file: string): readonly KeyObject[] {
  const keys: KeyObject[] = [];
  const lines = linesOf(bytes);
  for (const line of lines) {
    const key = keyOfHex(line);
    if (key === null) {
      const lineEach = lines.length > 1 ? ", one line for each version" : "";
      throw new Error(`MASTER_KEY_FILE ${file} must hold ${WHAT_IT_HOLDS}${lineEach}`);
    }
    if (keys.some((known) => known.equals(key))) {
      throw new Error(`MASTER_KEY_FILE ${file} holds the same key twice: each version has its own`);
    }
    keys.push(key);
  }
  return keys;
}

const LINE_FEED = 0x0a;
const isSpace = (byte: number | undefined) =>
  byte === 0x20 || (byte !== undefined && byte >= 9 && byte <= 13);

/** The lines, without the space around each and around all. */
function linesOf(bytes: Buffer): readonly Buffer[] {
  const lines: Buffer[] = [];
  let rest = trimmed(bytes);
  for (let end = rest.indexOf(LINE_FEED); end !== -1; end = rest.indexOf(LINE_FEED)) {
    lines.push(trimmed(rest.subarray(0, end)));
    rest = rest.subarray(end + 1);
  }
  return [...lines, trimmed(rest)];
}

function trimmed(bytes: Buffer): Buffer {
  let start = 0;
  let end = bytes.length;
  while (start < end && isSpace(bytes[start])) start += 1;
  while (end > start && isSpace(bytes[end - 1])) end -= 1;
  return bytes.subarray(start, end);
}

/** The key that a line writes in hex; null if it is not that. */
function keyOfHex(line: Buffer): KeyObject | null {
  if (line.length !== 2 * MASTER_KEY_BYTES) return null;
  const key = Buffer.alloc(MASTER_KEY_BYTES);
  try {
    for (const [index, byte] of line.entries()) {
      const digit = digitOf(byte);
      if (digit === null) return null;
      key[index >> 1] = ((key[index >> 1] ?? 0) << 4) | digit;
    }
    return createSecretKey(key);
  } finally {
    key.fill(0);
  }
}

/** Of "0" to "9" and "a" to "f" in either case. */
function digitOf(byte: number): number | null {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = (byte | 0x20) - 0x61;
  return letter >= 0 && letter < 6 ? letter + 10 : null;
}

/** Changes when the file is written or replaced. Empty if its state cannot be read. */
function looksOf(file: string): string {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? "" : `${found.ino}|${found.size}|${found.mtimeNs}`;
}

/** Writes a file that appears whole and synced or not at all, unless there is one of that name already. */
export function writeWhole(file: string, text: string, mode: number): void {
  const draft = `${file}.${randomBytes(4).toString("hex")}`;
  writeFileSync(draft, text, { mode, flag: "wx", flush: true });
  try {
    linkSync(draft, file);
  } catch (error) {
    // Another process was faster; what it has written is the one.
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
