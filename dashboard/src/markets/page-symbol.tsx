import { useAddress } from "../app/use-address.ts";
import { SymbolChooser } from "./symbol-chooser.tsx";
import type { SymbolChoice } from "./use-symbol.ts";

type PageSymbolProps = {
  choice: SymbolChoice;
  /** What the address says of the symbol that is left, and of no other. */
  forgets: string;
};

/** Which symbol a page is about, and the way to another, which the address then names. Nothing while it is not known. */
export function PageSymbol({ choice: { symbol, own, all }, forgets }: PageSymbolProps) {
  const { change } = useAddress();
  if (!symbol) return null;
  return (
    <SymbolChooser
      symbol={symbol.symbol}
      own={own}
      all={all?.map((each) => each.symbol) ?? []}
      onChoose={(chosen) => change({ symbol: chosen, [forgets]: undefined })}
    />
  );
}
