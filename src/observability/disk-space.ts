// Polls the free space of the embedded database's disk and the size of the database, for operators and for
// admission. Below a bound new orders, signals and sign-ups are refused, so that cancels, closes and market
// events still fit.
//
// Another program may fill the disk between two polls: then the store itself rejects writes.
import type { Logger } from "pino";
import type { Timers } from "../concurrency/time.ts";

/** How often free space is measured, ms. */
const FREE_POLL_MS = 2_000;
/** How often the database's size is measured, ms: PostgreSQL has to read a folder for it. */
const SIZE_POLL_MS = 60_000;
/**
 * Hysteresis: free space must exceed the bound by this many percentage points before new work is accepted
 * again.
 */
export const RESUME_PERCENT = 1;
/** Operators are warned while less than this multiple of the bound is free. */
const WARN_FACTOR = 2;

/** In bytes; free is what an ordinary process may still write. */
export type DiskFigures = { readonly freeBytes: number; readonly totalBytes: number };

type DiskSpaceParts = {
  /** Measures the disk; null for a database on another machine. */
  readonly disk: (() => Promise<DiskFigures>) | null;
  readonly databaseBytes: () => Promise<number>;
  /** New work is refused while less of the disk is free, percent; 0 for never. */
  readonly freePercentMin: number;
  readonly every: Timers["every"];
  readonly log: Pick<Logger, "warn" | "error" | "info">;
};

export class DiskSpace {
  readonly #parts: DiskSpaceParts;
  readonly #ends: readonly (() => void)[];
  #figures: DiskFigures | null = null;
  #databaseBytes: number | null = null;
  #isShort = false;
  #isWarned = false;

  constructor(parts: DiskSpaceParts) {
    this.#parts = parts;
    this.#ends = [
      parts.every(FREE_POLL_MS, () => void this.measure()),
      parts.every(SIZE_POLL_MS, () => void this.#measureDatabase()),
    ];
  }

  /** Whether new work is refused. */
  isShort(): boolean {
    return this.#isShort;
  }

  /** As last measured; null before that, and if it cannot be measured. */
  get figures(): DiskFigures | null {
    return this.#figures;
  }

  /** As last measured, bytes; null before that. */
  get databaseBytes(): number | null {
    return this.#databaseBytes;
  }

  /** Measures both for the first time. */
  async open(): Promise<void> {
    await this.#measureDatabase();
    await this.measure();
  }

  /** Measures free space and decides. If it cannot be measured, nothing changes. Never rejects. */
  async measure(): Promise<void> {
    const { disk, freePercentMin, log } = this.#parts;
    if (disk === null) return;
    try {
      this.#figures = await disk();
    } catch (error) {
      log.warn({ err: error }, "the free space of the disk could not be measured");
      return;
    }
    const { freeBytes, totalBytes } = this.#figures;
    if (totalBytes === 0) return;
    const freePercent = (100 * freeBytes) / totalBytes;
    const told = {
      freeMebibytes: mebibytes(freeBytes),
      freePercent: Math.floor(freePercent),
      databaseMebibytes: this.#databaseBytes === null ? null : mebibytes(this.#databaseBytes),
    };
    if (!this.#isShort && freePercent < freePercentMin) {
      this.#isShort = true;
      log.error(
        told,
        "the disk is nearly full: new orders, signals and sign-ups are refused until there is space",
      );
    } else if (this.#isShort && freePercent >= freePercentMin + RESUME_PERCENT) {
      this.#isShort = false;
      log.warn(told, "the disk has space again: everything is taken");
    }
    const isLow = freePercent < freePercentMin * WARN_FACTOR;
    if (isLow && !this.#isWarned && !this.#isShort) log.warn(told, "the disk is getting full");
    this.#isWarned = isLow;
  }

  close(): void {
    for (const end of this.#ends) end();
  }

  async #measureDatabase(): Promise<void> {
    try {
      this.#databaseBytes = await this.#parts.databaseBytes();
    } catch (error) {
      // The health check reports a database that is out of reach.
      this.#parts.log.info({ err: error }, "the size of the database could not be measured");
    }
  }
}

const BYTES_PER_MEBIBYTE = 1_048_576;

function mebibytes(bytes: number): number {
  return Math.floor(bytes / BYTES_PER_MEBIBYTE);
}
