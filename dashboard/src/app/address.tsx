// A choice that is part of the address.

import { useNavigate, useSearch } from "@tanstack/react-router";
import { Select } from "../ui/forms/field.tsx";
import type { Search } from "./search.ts";

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

// The choices on a page (a filter, a page of a list, a range) are part of its address. They survive a reload,
// can be sent to somebody, and work with the browser's back button.

/** The query of the address, and a way to change some of it; undefined takes a name away. */
export function useAddress(): {
  readonly search: Search;
  readonly change: (changes: Search, options?: { readonly replace?: boolean }) => void;
} {
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  return {
    search,
    change(changes, { replace = false } = {}) {
      void navigate({
        to: ".",
        search: (before: Search) => ({ ...before, ...changes }),
        replace,
        resetScroll: false,
      });
    },
  };
}
