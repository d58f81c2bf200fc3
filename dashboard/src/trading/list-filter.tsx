// Which symbol of a list is shown: a choice among those that the strategy has to do with, kept in the address.
import { AddressSelect } from "../app/address-select.tsx";
import { useAddress } from "../app/use-address.ts";

export function SymbolFilter({ own }: { own: readonly string[] }) {
  const { search } = useAddress();
  const { symbol = "" } = search;
  const names = symbol === "" || own.includes(symbol) ? own : [symbol, ...own];
  return (
    <AddressSelect
      name="symbol"
      label="Symbol"
      value={symbol}
      options={[{ value: "", label: "All symbols" }, ...names.map((name) => ({ value: name, label: name }))]}
    />
  );
}
