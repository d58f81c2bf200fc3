// What the recording disk (disk.c) wrote down: every change of a file, every sync and every answer, in the
// order of time.
import { readFileSync } from "node:fs";

/** `file` is the inode: of a later file it may be the same again. `path` is absolute. */
export type DiskRecord =
  | { readonly kind: "WRITE"; readonly file: number; readonly offset: number; readonly data: Buffer }
  | { readonly kind: "TRUNCATE"; readonly file: number; readonly size: number }
  | { readonly kind: "CREATE"; readonly file: number; readonly path: string }
  | { readonly kind: "UNLINK"; readonly path: string }
  | { readonly kind: "RENAME" | "LINK"; readonly path: string; readonly newPath: string }
  | { readonly kind: "MAKE_DIRECTORY"; readonly path: string }
  /** `sync` pairs a beginning with its end; one of a folder makes its entries last. */
  | {
      readonly kind: "SYNC_BEGUN" | "SYNC_DONE" | "SYNC_FAILED";
      readonly file: number;
      readonly path: string;
      readonly sync: number;
    }
  /** Bytes about to leave through a socket. */
  | { readonly kind: "SENT"; readonly data: Buffer };

/** As disk.c numbers them, from 1. */
const KINDS = [
  "WRITE",
  "TRUNCATE",
  "CREATE",
  "UNLINK",
  "RENAME",
  "LINK",
  "MAKE_DIRECTORY",
  "SYNC_BEGUN",
  "SYNC_DONE",
  "SYNC_FAILED",
  "SENT",
] as const;

/** kind, lengths of the path, the other path and the data, 32 bits each; file and number, 64 bits each. */
const HEAD_BYTES = 32;

/**
 * Reads a log. Throws if a file was also written past the disk, through memory: nothing could be said of that
 * one.
 */
export function readRecording(file: string): DiskRecord[] {
  const bytes = readFileSync(file);
  const records: DiskRecord[] = [];
  for (let at = 0; at < bytes.length; ) {
    const pathEnd = at + HEAD_BYTES + bytes.readUInt32LE(at + 4);
    const otherEnd = pathEnd + bytes.readUInt32LE(at + 8);
    const end = otherEnd + bytes.readUInt32LE(at + 12);
    const kind = KINDS[bytes.readUInt32LE(at) - 1];
    const path = bytes.toString("utf8", at + HEAD_BYTES, pathEnd);
    if (kind === undefined) throw new Error(`${path} is written through memory, past the disk that records`);
    records.push(
      recordOf(kind, {
        file: Number(bytes.readBigUInt64LE(at + 16)),
        number: Number(bytes.readBigUInt64LE(at + 24)),
        path,
        newPath: bytes.toString("utf8", pathEnd, otherEnd),
        data: bytes.subarray(otherEnd, end),
      }),
    );
    at = end;
  }
  return records;
}

function recordOf(
  kind: (typeof KINDS)[number],
  {
    file,
    number,
    path,
    newPath,
    data,
  }: { file: number; number: number; path: string; newPath: string; data: Buffer },
): DiskRecord {
  switch (kind) {
    case "WRITE":
      return { kind, file, offset: number, data };
    case "TRUNCATE":
      return { kind, file, size: number };
    case "CREATE":
      return { kind, file, path };
    case "UNLINK":
    case "MAKE_DIRECTORY":
      return { kind, path };
    case "RENAME":
    case "LINK":
      return { kind, path, newPath };
    case "SYNC_BEGUN":
    case "SYNC_DONE":
    case "SYNC_FAILED":
      return { kind, file, path, sync: number };
    case "SENT":
      return { kind, data };
  }
}
