import type { Search } from "../app/search.ts";
import { ButtonLink } from "./button.tsx";

type PagerProps = {
  /** What the list shows: "orders". */
  what: string;
  /** What this page was asked for by; undefined for the newest. */
  before: string | undefined;
  /** What to ask for to go on; null at the end. */
  next: string | null | undefined;
  /** The labels, for a list whose order is not newest first. */
  words?: { readonly first: string; readonly further: string; readonly last: string };
};

const NEWEST_FIRST = { first: "Newest", further: "Older", last: "oldest" } as const;

/** The links below a paged list, by default newest first. Shows nothing if one page holds the whole list. */
export function Pager({ what, before, next, words = NEWEST_FIRST }: PagerProps) {
  const isLast = next === null || next === undefined;
  if (before === undefined && isLast) return null;
  return (
    <nav aria-label={`Pages of ${what}`} className="flex flex-wrap gap-2 border-line border-t px-4 py-2.5">
      {before !== undefined && (
        <ButtonLink
          to="."
          search={(search: Search) => ({ ...search, before: undefined })}
          kind="quiet"
          size="small"
        >
          {words.first}
        </ButtonLink>
      )}
      {isLast ? (
        <span className="self-center text-ink-soft text-sm">
          These are the {words.last} {what}.
        </span>
      ) : (
        <ButtonLink
          to="."
          search={(search: Search) => ({ ...search, before: next })}
          kind="quiet"
          size="small"
        >
          {words.further}
        </ButtonLink>
      )}
    </nav>
  );
}
