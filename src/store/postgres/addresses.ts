// The addresses of a database whose URL names several servers, such as a primary and its standbys:
// postgres://user:password@one:5432,two:5432/database. Only the primary is used; each new connection tries
// them.

/** The parts of a URL: what is before its hosts, the hosts, and what is behind them. */
const PARTS = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^@/?#]*)(.*)$/is;

/** One URL for each server that the URL of a database names, in their order. */
export function addressesOf(url: string): readonly string[] {
  const [, before, hosts, behind] = PARTS.exec(url) ?? [];
  if (hosts === undefined || !hosts.includes(",")) return [url];
  return hosts.split(",").map((host) => `${before}${host}${behind}`);
}

/** Which of the addresses was the primary's when it was last connected to. */
export class Addresses {
  readonly all: readonly string[];
  #primary = 0;

  constructor(url: string) {
    this.all = addressesOf(url);
  }

  /** All addresses, the last known primary first. */
  *inOrder(): Iterable<string> {
    const first = this.#primary;
    for (let index = 0; index < this.all.length; index += 1) {
      yield this.all[(first + index) % this.all.length] as string;
    }
  }

  /** Records the primary. */
  connected(address: string): void {
    this.#primary = this.all.indexOf(address);
  }
}
