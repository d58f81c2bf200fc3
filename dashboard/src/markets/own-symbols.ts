// The symbols that a strategy has to do with: what is held comes before what waits, what waits before what
// was traded.

type Named = { readonly symbol: string };

/** Each once, in the order of the lists and of their rows. */
export function ownSymbolsOf(lists: readonly (readonly Named[])[]): readonly string[] {
  return [...new Set(lists.flatMap((rows) => rows.map(({ symbol }) => symbol)))];
}

export type SymbolMatch = { readonly symbol: string; readonly isOwn: boolean };

/** What a search finds among all symbols: the own ones first, then those that begin with it, bounded. */
export function matching(
  text: string,
  { own, all, limit }: { own: readonly string[]; all: readonly string[]; limit: number },
): readonly SymbolMatch[] {
  const wanted = text.trim().toUpperCase().replaceAll("/", "");
  const listed = new Set(all);
  const mine = own.filter((symbol) => listed.has(symbol) && symbol.includes(wanted));
  const others = all.filter((symbol) => symbol.includes(wanted) && !mine.includes(symbol));
  const first = others.filter((symbol) => symbol.startsWith(wanted));
  const rest = others.filter((symbol) => !symbol.startsWith(wanted));
  return [
    ...mine.map((symbol) => ({ symbol, isOwn: true })),
    ...[...first, ...rest].map((symbol) => ({ symbol, isOwn: false })),
  ].slice(0, limit);
}
