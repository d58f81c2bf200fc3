// How an open order has moved in its queue: the positions that it had and when. Receipts carry it, so it has
// at most as many points as one of them, with that of the fill. Beyond that points that follow another one
// closely are left out: the longer the history, the coarser it is. The first and the last one always stay,
// and every point is a position that the order had; none is computed from others.
import { QUEUE_POINTS_MAX, type QueuePoint, type QueuePosition } from "../domain/receipt.ts";

/** One point of a receipt is that of its fill. */
const POINTS_MAX = QUEUE_POINTS_MAX - 1;

export class QueueHistory {
  readonly #times: number[];
  readonly #positions: QueuePosition[];
  /** How far apart points are that are kept when others are left out, ms. */
  #apartMs = 0;

  /** `time`: since when the order is known to have a position, the exchange's time in Unix ms. */
  constructor(time: number, first: QueuePosition) {
    this.#times = [time];
    this.#positions = [first];
  }

  /** The time of the last point, the exchange's time in Unix ms. */
  get #lastTime(): number {
    return this.#times.at(-1) ?? 0;
  }

  /** Adds a later position; an event that was received late has the time of the one before it. */
  add(time: number, position: QueuePosition): void {
    this.#times.push(Math.max(this.#lastTime, time));
    this.#positions.push(position);
    if (this.#times.length > POINTS_MAX) this.#leaveOut();
    while (this.#times.length > POINTS_MAX) {
      this.#apartMs = Math.max(1, this.#apartMs * 2);
      this.#leaveOut();
    }
  }

  points(): readonly QueuePoint[] {
    return this.#positions.map((position, index) => ({ time: this.#times[index] ?? 0, ...position }));
  }

  /** Leaves out what follows a point that is kept by less than the distance. */
  #leaveOut(): void {
    const times = this.#times;
    const last = times.length - 1;
    let kept = 0;
    for (let index = 1; index <= last; index += 1) {
      const time = times[index] ?? 0;
      const position = this.#positions[index];
      if (position === undefined || (index < last && time - (times[kept] ?? 0) < this.#apartMs)) continue;
      kept += 1;
      times[kept] = time;
      this.#positions[kept] = position;
    }
    times.length = kept + 1;
    this.#positions.length = kept + 1;
  }
}
