// The query of an address, as names and texts. The router would read "123" as a number, and a token is a
// text.

export type Search = { readonly [name: string]: string | undefined };

export function parseSearch(query: string): Search {
  return Object.fromEntries(new URLSearchParams(query));
}

/** With its question mark; empty without anything to say. */
export function stringifySearch(search: object): string {
  const pairs = Object.entries(search).filter(([, value]) => value !== undefined && value !== null);
  const query = new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString();
  return query === "" ? "" : `?${query}`;
}
