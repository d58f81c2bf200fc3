// Compares a copy's recorded holdings with the results of its own orders at the venue and with its account
// there.
import { COPY_QUOTE_ASSET } from "../../../src/domain/copying.ts";
import type { CopyBooks } from "./books.ts";
import type { CopyFault } from "./faults.ts";

export function balanceFaults(books: CopyBooks): CopyFault[] {
  const { name, copy } = books;
  const symbols = new Set([...books.venue.orders.map(({ symbol }) => symbol), ...copy.book.holdings.keys()]);
  return [...symbols].flatMap((symbol): CopyFault[] => {
    const own = copy.book.holdings.get(symbol)?.quantity ?? 0n;
    const had = hadOf(books, symbol);
    if (own === had) return [];
    const closed = books.venue.liquidations.filter((order) => order.symbol === symbol).length;
    const found = `${name} says it holds ${own} of ${symbol}, and has ${had}, ${closed} liquidations there`;
    const what = `${found}: ${executedOf(books, symbol)}`;
    return [{ kind: "UNBALANCED", what }];
  });
}

/** What the account has, in units: nothing was ever put there but by the copy. */
function hadOf({ copy, venue: { account } }: CopyBooks, symbol: string): bigint {
  if (copy.type === "FUTURES") return account.positions.get(symbol)?.quantity ?? 0n;
  const ledgerAccounts = account.balances.get(symbol.slice(0, -COPY_QUOTE_ASSET.length));
  return ledgerAccounts === undefined ? 0n : ledgerAccounts.free + ledgerAccounts.locked;
}

/** The executions in the log, for the text of a fault. */
function executedOf({ entries }: CopyBooks, symbol: string): string {
  return entries
    .filter((entry) => entry.symbol === symbol && (entry.executedQuantity > 0n || entry.kind !== "PLACE"))
    .map(
      ({
        entryId,
        seq,
        kind,
        status,
        side,
        executedQuantity,
        executedQuote,
        fee,
        sends,
        queries,
        sentAt,
        updatedAt,
      }) =>
        [
          `${entryId}/${seq} ${kind} ${status} ${side} ${executedQuantity} for ${executedQuote} fee ${fee}`,
          `sent ${sends} times at ${sentAt}, asked ${queries}, changed at ${updatedAt}`,
        ].join(", "),
    )
    .join("; ");
}
