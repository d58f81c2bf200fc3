// The choices on a page (a filter, a page of a list, a range) are part of its address. They survive a reload,
// can be sent to somebody, and work with the browser's back button.
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Search } from "./search.ts";

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
