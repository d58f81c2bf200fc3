// Where an address names a symbol that the market does not list: says so, and lets choose another.
import { useAddress } from "../app/use-address.ts";
import { Card } from "../ui/card.tsx";
import { EmptyState } from "../ui/note.tsx";
import { SymbolChooser } from "./symbol-chooser.tsx";
import type { SymbolChoice } from "./use-symbol.ts";

export function NoSuchSymbol({ choice }: { choice: SymbolChoice }) {
  const { change } = useAddress();
  return (
    <Card isFlush>
      <EmptyState
        title={
          choice.asked === undefined
            ? "The market lists no symbols."
            : `The market does not list ${choice.asked}.`
        }
        action={
          choice.all?.[0] !== undefined && (
            <SymbolChooser
              symbol="Choose a symbol"
              own={choice.own}
              all={choice.all.map(({ symbol }) => symbol)}
              onChoose={(symbol) => change({ symbol })}
            />
          )
        }
      >
        It may have been delisted. Its orders and trades are still there.
      </EmptyState>
    </Card>
  );
}
