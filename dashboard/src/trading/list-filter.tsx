// Which symbol of a list is shown: a choice among those that the strategy has to do with, kept in the address.
import { useAddress } from "../app/use-address.ts";
import { Select } from "../ui/forms/select.tsx";

export function SymbolFilter({ own }: { own: readonly string[] }) {
  const { search, change } = useAddress();
  const { symbol = "" } = search;
  const names = symbol === "" || own.includes(symbol) ? own : [symbol, ...own];
  return (
    <div className="w-52">
      <Select
        label="Symbol"
        isInline
        value={symbol}
        onChange={({ target }) => change({ symbol: target.value || undefined, before: undefined })}
        options={[
          { value: "", label: "All symbols" },
          ...names.map((name) => ({ value: name, label: name })),
        ]}
      />
    </div>
  );
}
