// Requests a ticker route of REST for some symbols with as few requests as possible.
import { bodyOf, type Rest } from "../rest/rest.ts";

export type TickerRow = Readonly<Record<string, unknown>>;

const askDeadlineMs = 3_000;

/**
 * The rows of a route such as `/api/v3/ticker/price`, possibly of other symbols as well; none when upstream
 * is down. A request for more than `namedMax` symbols asks for all.
 */
export async function askTickerRows(
  rest: Rest,
  {
    path,
    symbols,
    namedMax,
  }: { readonly path: string; readonly symbols: readonly string[]; readonly namedMax: number },
): Promise<readonly TickerRow[]> {
  const [first] = symbols;
  if (first === undefined) return [];
  const isForAll = symbols.length > namedMax;
  const some =
    symbols.length === 1
      ? `symbol=${encodeURIComponent(first)}`
      : `symbols=${encodeURIComponent(JSON.stringify(symbols))}`;
  let answer = await rest.ask(path, isForAll ? "" : some, askDeadlineMs);
  // One name that is no longer listed makes the exchange refuse the whole question; asking for all costs the
  // same.
  if (!answer.unavailable && answer.status === 400 && symbols.length > 1)
    answer = await rest.ask(path, "", askDeadlineMs);
  const body = bodyOf(answer);
  const rows: readonly unknown[] = Array.isArray(body) ? body : [body];
  return rows.filter((row): row is TickerRow => typeof row === "object" && row !== null);
}

/** The body of `/api/v3/depth`, its shortest; undefined when there is none. */
export async function askDepth(rest: Rest, path: string, symbol: string): Promise<unknown> {
  return bodyOf(await rest.ask(path, `symbol=${encodeURIComponent(symbol)}&limit=5`, askDeadlineMs));
}

/** The body of `/api/v3/avgPrice`, which names one symbol at a time; undefined when there is none. */
export async function askAverage(rest: Rest, path: string, symbol: string): Promise<unknown> {
  return bodyOf(await rest.ask(path, `symbol=${encodeURIComponent(symbol)}`, askDeadlineMs));
}
