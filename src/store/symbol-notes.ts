// Until when a symbol has been looked at, and for what, as rows of one table: what the watch list of a family has heard of it,
// and until when its settlements of funding have been applied. The last note stands, also with an earlier time.
import type { StrategyType } from "../domain/account.ts";
import type { Store } from "./store.ts";

/** A family stands for its watch list. */
export type NoteKind = StrategyType | "FUNDING";

/** `at` is market time, Unix ms. */
export type SymbolNote = { readonly kind: NoteKind; readonly symbol: string; readonly at: number };

/** The notes of the port, given how they are written: once each, in one transaction. */
export function noting(
  write: (notes: readonly SymbolNote[]) => Promise<void>,
): Pick<Store, "noteHeard" | "noteFunding"> {
  return {
    noteHeard: (heard) => write(heard.map(({ family, symbol, at }) => ({ kind: family, symbol, at }))),
    noteFunding: (symbol, until) => write([{ kind: "FUNDING", symbol, at: until }]),
  };
}
