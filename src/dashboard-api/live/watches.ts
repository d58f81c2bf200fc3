// What viewers watch, by id: strategies, copies or topics. So many of them a viewer.
import type { Cancel } from "../../concurrency/time.ts";

export class Watches<Viewer> {
  readonly #most: number;
  readonly #begin: (id: string) => Cancel;
  readonly #cancels = new Map<string, Cancel>();
  readonly #ofViewer = new Map<Viewer, Set<string>>();
  readonly #watching = new Map<string, Set<Viewer>>();

  /**
   * `most`: how many a viewer may watch. `begin` is called when the first one does, and its result after the
   * last.
   */
  constructor(most: number, begin: (id: string) => Cancel = () => () => {}) {
    this.#most = most;
    this.#begin = begin;
  }

  /** False if it is one too many for the viewer. */
  watch(viewer: Viewer, id: string): boolean {
    const own = this.#ofViewer.get(viewer) ?? new Set();
    if (own.has(id)) return true;
    if (own.size >= this.#most) return false;
    this.#ofViewer.set(viewer, own.add(id));
    const watching = this.#watching.get(id) ?? new Set();
    if (watching.size === 0) this.#cancels.set(id, this.#begin(id));
    this.#watching.set(id, watching.add(viewer));
    return true;
  }

  unwatch(viewer: Viewer, id: string): void {
    const own = this.#ofViewer.get(viewer);
    own?.delete(id);
    if (own?.size === 0) this.#ofViewer.delete(viewer);
    const watching = this.#watching.get(id);
    watching?.delete(viewer);
    if (watching?.size !== 0) return;
    this.#watching.delete(id);
    this.#cancels.get(id)?.();
    this.#cancels.delete(id);
  }

  /** Of a viewer who has gone. */
  drop(viewer: Viewer): void {
    for (const id of this.watchedBy(viewer)) this.unwatch(viewer, id);
  }

  watchedBy(viewer: Viewer): readonly string[] {
    return [...(this.#ofViewer.get(viewer) ?? [])];
  }

  isWatched(id: string): boolean {
    return this.#watching.has(id);
  }

  watchersOf(id: string): Iterable<Viewer> {
    return this.#watching.get(id) ?? [];
  }

  /** All that somebody watches. */
  watched(): readonly string[] {
    return [...this.#watching.keys()];
  }
}
