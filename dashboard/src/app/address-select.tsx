// A choice that is part of the address.
import { Select } from "../ui/forms/field.tsx";
import { useAddress } from "./use-address.ts";

type AddressSelectProps = {
  /** In the address. */
  name: string;
  label: string;
  value: string;
  options: readonly { readonly value: string; readonly label: string }[];
  /** The choice that the address does not name. */
  unset?: string;
  /** What else of the address belongs to another choice: by default the page of a list. */
  forgets?: string;
  /** Whether the browser's back button skips the choice. */
  replace?: boolean;
  /** A class. */
  width?: string;
};

export function AddressSelect(props: AddressSelectProps) {
  const { name, unset = "", forgets = "before", replace = false, width = "w-52", ...select } = props;
  const { change } = useAddress();
  const choose = (value: string) =>
    change({ [name]: value === unset ? undefined : value, [forgets]: undefined }, { replace });
  return (
    <div className={width}>
      <Select {...select} isInline onChange={({ target }) => choose(target.value)} />
    </div>
  );
}
