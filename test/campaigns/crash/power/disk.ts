// A model of a disk: replays the recorded writes of a program, and draws what a power cut may leave of them.
// Files last as file-on-disk.ts says. Names last in one of two ways:
//   JOURNALED   like ext4: changes of names reach the disk in their order; syncing a file or folder
//               makes the changes that concern it last, and all before them
//   UNORDERED   as POSIX permits: syncing a folder makes its entries last; others last in any combination
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { FileOnDisk } from "./file-on-disk.ts";
import type { DiskRecord } from "./recording.ts";

export type NamesLast = "JOURNALED" | "UNORDERED";

/** What lies below the folder: the content of a file, or null for a folder. By absolute path. */
export type Contents = ReadonlyMap<string, Buffer | null>;

/** What is there at the beginning and lasts: as Contents, with the inode. */
export type Found = ReadonlyMap<string, { readonly file: number; readonly content: Buffer | null }>;

type Draw = () => number;
type Entry = FileOnDisk | "FOLDER";

type NameChange = {
  readonly folder: string;
  readonly removes: string | null;
  readonly adds: { readonly path: string; readonly entry: Entry } | null;
  isSynced: boolean;
};

export class Disk {
  readonly #namesLast: NamesLast;
  /** Whether a sync of the file is a lie: what a disk does that says it has written and has not. */
  readonly #isSyncIgnored: (path: string) => boolean;
  /** The present file of each inode. */
  readonly #files = new Map<number, FileOnDisk>();
  /** Names as the running system sees them, and as they last for certain. */
  readonly #names = new Map<string, Entry>();
  readonly #lasting = new Map<string, Entry>();
  #changes: NameChange[] = [];
  #folded = 0;
  /** By the sync's number: how many changes of names there were when it began. */
  readonly #syncs = new Map<number, number>();

  constructor(
    found: Found,
    options: { readonly namesLast: NamesLast; readonly isSyncIgnored?: (path: string) => boolean },
  ) {
    this.#namesLast = options.namesLast;
    this.#isSyncIgnored = options.isSyncIgnored ?? (() => false);
    for (const [path, { file, content }] of found) {
      const entry = content === null ? "FOLDER" : new FileOnDisk(content);
      if (entry !== "FOLDER") this.#files.set(file, entry);
      this.#names.set(path, entry);
      this.#lasting.set(path, entry);
    }
  }

  take(record: DiskRecord): void {
    switch (record.kind) {
      case "WRITE":
        this.#file(record.file).write(record.offset, record.data);
        return;
      case "TRUNCATE":
        this.#file(record.file).truncate(record.size);
        return;
      case "CREATE": {
        const file = new FileOnDisk();
        this.#files.set(record.file, file);
        this.#rename(record.path, { adds: { path: record.path, entry: file } });
        return;
      }
      case "MAKE_DIRECTORY":
        this.#rename(record.path, { adds: { path: record.path, entry: "FOLDER" } });
        return;
      case "UNLINK":
        this.#rename(record.path, { removes: record.path });
        return;
      case "LINK":
      case "RENAME": {
        const entry = this.#names.get(record.path);
        if (entry === undefined) throw new Error(`${record.path} is renamed and was never there`);
        const removes = record.kind === "RENAME" ? record.path : null;
        this.#rename(record.path, { removes, adds: { path: record.newPath, entry } });
        return;
      }
      case "SYNC_BEGUN":
        this.#syncs.set(record.sync, this.#folded + this.#changes.length);
        this.#files.get(record.file)?.beginSync(record.sync);
        return;
      case "SYNC_DONE":
        if (!this.#isSyncIgnored(record.path)) this.#endSync(record, false);
        return;
      case "SYNC_FAILED":
        this.#endSync(record, true);
        return;
      case "SENT":
        return;
    }
  }

  /** What the running system sees: what a process that is killed leaves. */
  asWritten(): Contents {
    return contentsOf(this.#names, (file) => file.asWritten());
  }

  /** What one power cut leaves. */
  afterPowerCut(draw: Draw): Contents {
    const names = new Map(this.#lasting);
    const lost = new Set<string>();
    const inOrder = Math.floor(draw() * (this.#changes.length + 1));
    for (const [index, change] of this.#changes.entries()) {
      const paths = [change.removes, change.adds?.path ?? null].filter((path) => path !== null);
      const survives =
        change.isSynced ||
        (this.#namesLast === "JOURNALED"
          ? index < inOrder
          : draw() < 0.5 && !paths.some((path) => lost.has(path)));
      if (survives) carryOut(names, change);
      else for (const path of paths) lost.add(path);
    }
    // What is in a folder that is lost is lost.
    const folders = new Set([...this.#names].filter(([, entry]) => entry === "FOLDER").map(([path]) => path));
    for (const path of names.keys()) {
      const folder = dirname(path);
      if (folders.has(folder) && !names.has(folder)) names.delete(path);
    }
    return contentsOf(names, (file) => file.afterPowerCut(draw));
  }

  #rename(path: string, change: Partial<Pick<NameChange, "removes" | "adds">>): void {
    const whole = { folder: dirname(path), removes: null, adds: null, isSynced: false, ...change };
    carryOut(this.#names, whole);
    this.#changes.push(whole);
  }

  #endSync(record: { file: number; path: string; sync: number }, hasFailed: boolean): void {
    const isFolder = this.#names.get(record.path) === "FOLDER";
    const file = isFolder ? undefined : this.#files.get(record.file);
    file?.endSync(record.sync, hasFailed);
    if (hasFailed) return;
    const before = this.#changes.slice(0, Math.max((this.#syncs.get(record.sync) ?? 0) - this.#folded, 0));
    const concerned = (change: NameChange) =>
      isFolder ? change.folder === record.path : change.adds !== null && change.adds.entry === file;
    if (this.#namesLast === "JOURNALED") {
      const last = before.findLastIndex(concerned);
      for (const change of before.slice(0, last + 1)) change.isSynced = true;
    } else if (isFolder) {
      for (const change of before) change.isSynced ||= concerned(change);
    }
    while (this.#changes[0]?.isSynced === true) {
      carryOut(this.#lasting, this.#changes[0]);
      this.#changes.shift();
      this.#folded += 1;
    }
  }

  #file(inode: number): FileOnDisk {
    const file = this.#files.get(inode);
    if (file === undefined) throw new Error(`a file is written that nobody saw created: inode ${inode}`);
    return file;
  }
}

function carryOut(names: Map<string, Entry>, { removes, adds }: NameChange): void {
  if (removes !== null) names.delete(removes);
  if (adds !== null) names.set(adds.path, adds.entry);
}

function contentsOf(names: ReadonlyMap<string, Entry>, contentOf: (file: FileOnDisk) => Buffer): Contents {
  return new Map(
    [...names].map(([path, entry]) => [path, entry === "FOLDER" ? null : contentOf(entry)] as const),
  );
}

/** Writes what a disk holds below `from` to the folder `to`. */
export function layOut(contents: Contents, from: string, to: string): void {
  const paths = [...contents.keys()].sort();
  for (const path of paths) {
    const content = contents.get(path) ?? null;
    const place = join(to, relative(from, path));
    if (content === null) mkdirSync(place, { recursive: true, mode: 0o700 });
    else writeFileSync(place, content, { mode: 0o600 });
  }
}
