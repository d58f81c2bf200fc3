// One file between memory and disk. Synced writes last. Of later writes each sector of 512 bytes may have
// reached the disk in any of its states, in any order, and the file may have any size that it had since the
// sync. A failed sync leaves its writes in doubt for ever: the operating system takes them for written, and a
// later sync that succeeds does not cover them. They last only if they are written again.

const SECTOR_BYTES = 512;

/** Of so many power cuts the space that a file was given and that was not written holds anything at all. */
const GARBAGE = 0.3;

type Change = {
  /** Where bytes were written; a truncation has no bytes and begins at the new size. */
  readonly offset: number;
  readonly data: Buffer | null;
  /** The file's size after it. */
  readonly size: number;
  state: "PENDING" | "SYNCED" | "IN_DOUBT";
};

type Draw = () => number;

/** Whether a sector of a change that is not synced has reached the disk. */
type Survival = (change: number, sector: number) => boolean;

export class FileOnDisk {
  /** What has been synced, up to the first change that has not, and room for more. */
  #room: Buffer;
  #length: number;
  #changes: Change[] = [];
  /** How many changes were folded into the content. */
  #folded = 0;
  /** By the sync's number: how many changes there were when it began. */
  readonly #syncs = new Map<number, number>();

  constructor(content: Buffer = Buffer.alloc(0)) {
    this.#room = Buffer.from(content);
    this.#length = content.length;
  }

  write(offset: number, data: Buffer): void {
    const size = Math.max(this.#size(), offset + data.length);
    this.#changes.push({ offset, data, size, state: "PENDING" });
  }

  truncate(size: number): void {
    this.#changes.push({ offset: size, data: null, size, state: "PENDING" });
  }

  beginSync(sync: number): void {
    this.#syncs.set(sync, this.#folded + this.#changes.length);
  }

  /** Writes made before the sync began last, or are in doubt; those made during the sync are neither. */
  endSync(sync: number, hasFailed: boolean): void {
    const before = (this.#syncs.get(sync) ?? 0) - this.#folded;
    for (const change of this.#changes.slice(0, Math.max(before, 0))) {
      if (change.state === "PENDING") change.state = hasFailed ? "IN_DOUBT" : "SYNCED";
    }
    const lasting = this.#changes.findIndex(({ state }) => state !== "SYNCED");
    const folded = this.#changes.splice(0, lasting === -1 ? this.#changes.length : lasting);
    for (const change of folded) this.#fold(change);
  }

  /** What the running system reads. */
  asWritten(): Buffer {
    const content = grown(this.#content(), this.#largest());
    for (const { offset, data } of this.#changes) {
      if (data === null) content.fill(0, offset);
      else data.copy(content, offset);
    }
    return content.subarray(0, this.#size());
  }

  /** What one power cut leaves. */
  afterPowerCut(draw: Draw): Buffer {
    const changes = this.#changes;
    if (changes.length === 0) return Buffer.from(this.#content());
    const lastSynced = changes.findLastIndex(({ state }) => state === "SYNCED");
    const survives = drawSurvival(draw, changes.length);
    const sizes = [this.#length, ...changes.map(({ size }) => size)].slice(lastSynced + 1);
    const size = sizes[Math.floor(draw() * sizes.length)] ?? 0;
    const content = grown(this.#content(), this.#largest());
    // Space that a file was given and that was not written may hold what lay there before.
    if (draw() < GARBAGE) {
      for (let at = this.#length; at < content.length; at += 1) content[at] = draw() * 256;
    }
    for (const [sector, touching] of this.#sectors()) {
      const synced = touching.findLastIndex((index) => changes[index]?.state === "SYNCED");
      for (const [position, index] of touching.entries()) {
        // A sector is written as it is in memory: once an older change is lost, each newer one is lost too.
        if (position > synced && !survives(index, sector)) break;
        const change = changes[index];
        if (change !== undefined) carryOutWithin(content, change, sector);
      }
    }
    return content.subarray(0, size);
  }

  #fold({ offset, data, size }: Change): void {
    this.#folded += 1;
    if (size > this.#room.length) this.#room = grown(this.#content(), 2 * size);
    // What lies behind the end is zero, whatever was there before.
    if (data === null) this.#room.fill(0, offset);
    else data.copy(this.#room, offset);
    this.#length = size;
  }

  #content(): Buffer {
    return this.#room.subarray(0, this.#length);
  }

  #size(): number {
    return this.#changes.at(-1)?.size ?? this.#length;
  }

  #largest(): number {
    return Math.max(this.#length, ...this.#changes.map(({ size }) => size));
  }

  /** The sectors that changes touch, and which changes those are, in order. */
  #sectors(): Map<number, number[]> {
    const largest = this.#largest();
    const sectors = new Map<number, number[]>();
    this.#changes.forEach(({ offset, data }, index) => {
      const end = data === null ? largest : offset + data.length;
      for (let sector = Math.floor(offset / SECTOR_BYTES); sector * SECTOR_BYTES < end; sector += 1) {
        const touching = sectors.get(sector);
        if (touching === undefined) sectors.set(sector, [index]);
        else touching.push(index);
      }
    });
    return sectors;
  }
}

/**
 * Power cuts of several kinds: an even one for each sector alone would hardly ever lose or keep a whole
 * write.
 */
function drawSurvival(draw: Draw, changes: number): Survival {
  const kind = Math.floor(draw() * 6);
  const chosen = Math.floor(draw() * changes);
  const chance = draw();
  switch (kind) {
    case 0:
      return () => false;
    case 1:
      return () => true;
    // Sectors in any order.
    case 2:
      return () => draw() < chance;
    // Whole writes in any order.
    case 3: {
      const kept = Array.from({ length: changes }, () => draw() < chance);
      return (change) => kept[change] === true;
    }
    // In order, the last one torn.
    case 4:
      return (change) => change < chosen || (change === chosen && draw() < chance);
    // The newest first.
    default:
      return (change) => change >= chosen;
  }
}

function carryOutWithin(content: Buffer, { offset, data }: Change, sector: number): void {
  const from = Math.max(offset, sector * SECTOR_BYTES);
  const to = (sector + 1) * SECTOR_BYTES;
  if (data === null) content.fill(0, from, Math.min(to, content.length));
  else data.copy(content, from, from - offset, Math.min(to - offset, data.length));
}

/** A copy of a size; what is added is zero. */
function grown(content: Buffer, size: number): Buffer {
  const copy = Buffer.alloc(size);
  content.copy(copy);
  return copy;
}
