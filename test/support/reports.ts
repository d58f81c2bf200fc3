// What a client reports by callbacks, collected so that a test can wait for it.

// biome-ignore lint/suspicious/noExplicitAny: clients' own types differ, and some are wrong about the wire.
export type Told = any;

export class Reports {
  readonly all: Told[] = [];
  readonly #waiting: { isWanted: (event: Told) => boolean; resolve: (event: Told) => void }[] = [];

  /** The callback to give to a client. */
  readonly take = (event: Told): void => {
    this.all.push(event);
    for (const each of this.#waiting.splice(0)) {
      if (each.isWanted(event)) each.resolve(event);
      else this.#waiting.push(each);
    }
  };

  /** Resolves with the first event, of those that came or come, that is wanted. */
  first(isWanted: (event: Told) => boolean): Promise<Told> {
    const found = this.all.find(isWanted);
    if (found !== undefined) return Promise.resolve(found);
    return new Promise((resolve) => this.#waiting.push({ isWanted, resolve }));
  }
}
