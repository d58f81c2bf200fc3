import { Link, type LinkProps, useRouterState } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import type { Search } from "../app/search.ts";
import { ButtonLink } from "./button.tsx";

type PageHeaderProps = {
  /** The page's only h1; also the title of the browser's tab. */
  title: string;
  /** Of the tab, where it should say more than the heading: "Orders, BTC grid". */
  documentTitle?: string;
  /** A sentence below the heading. */
  lead?: ReactNode;
  /** Beside the heading: a status, or the choice of what the page is about. */
  badge?: ReactNode;
  /** At the right: what can be done here. */
  actions?: ReactNode;
};

/** Every page begins with one. Navigation moves the focus to its heading. */
export function PageHeader({ title, documentTitle, lead, badge, actions }: PageHeaderProps) {
  useEffect(() => {
    document.title = `${documentTitle ?? title} · Lyrebird`;
  }, [title, documentTitle]);
  return (
    <header
      className={`mb-4 flex flex-wrap justify-between gap-x-6 gap-y-2 ${lead === undefined ? "items-center" : "items-start"}`}
    >
      <div className="min-w-0">
        <div className="flex flex-wrap min-h-9 items-center gap-x-3 gap-y-1">
          <h1 tabIndex={-1} className="font-semibold text-xl tracking-tight">
            {title}
          </h1>
          {badge}
        </div>
        {lead !== undefined && <p className="max-w-prose text-pretty text-ink-soft">{lead}</p>}
      </div>
      {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </header>
  );
}

type ScreenProps = PageHeaderProps & {
  /** Of what is below the header: how wide it may be. */
  className?: string;
  children: ReactNode;
};

/** A page: its header, and below it its parts, one under the other. */
export function Screen({ className = "", children, ...header }: ScreenProps) {
  return (
    <>
      <PageHeader {...header} />
      <div className={`flex flex-col gap-5 ${className}`}>{children}</div>
    </>
  );
}

type InsteadProps = { title: string; why: string; to: NonNullable<LinkProps["to"]>; action: string };

/** Instead of a page that is not there or not for this person: why, and where they may go. */
export function Instead({ title, why, to, action }: InsteadProps) {
  return (
    <>
      <PageHeader title={title} lead={why} />
      <ButtonLink to={to}>{action}</ButtonLink>
    </>
  );
}

type WhereProps = { of: NonNullable<LinkProps["to"]>; title: string; children: ReactNode };

/** Where the reader is: the list that a page's subject is of, and the subject itself. */
export function Where({ of, title, children }: WhereProps) {
  return (
    <nav
      aria-label="You are here"
      className="wrap-anywhere flex min-h-8 min-w-0 flex-wrap items-center gap-x-2 gap-y-1 text-sm"
    >
      <Link to={of} className="text-ink-soft hover:text-ink hover:underline">
        {title}
      </Link>
      <span aria-hidden="true" className="text-line-strong">
        /
      </span>
      {children}
    </nav>
  );
}

// Tabs that are links: each has an address of its own, opens in a new window and survives a reload.

export type Tab = Pick<LinkProps, "to" | "params" | "search"> & {
  readonly label: string;
  /** True of the tab that is the index of its parent, which would otherwise always be current. */
  readonly isExact?: boolean;
};

export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }) {
  const list = useRef<HTMLUListElement>(null);
  const href = useRouterState({ select: ({ location }) => location.href });
  // The current tab may lie outside of a narrow screen. Only the row of tabs scrolls, never the page.
  // biome-ignore lint/correctness/useExhaustiveDependencies: on another page another tab is current.
  useEffect(() => {
    const tab = list.current?.querySelector("[aria-current=page]");
    const row = list.current?.parentElement;
    if (tab == null || row == null) return;
    const [at, view] = [tab.getBoundingClientRect(), row.getBoundingClientRect()];
    if (at.left < view.left) row.scrollLeft -= view.left - at.left;
    else if (at.right > view.right) row.scrollLeft += at.right - view.right;
  }, [href]);
  return (
    <nav aria-label={label} className="mb-5 overflow-x-auto border-line border-b">
      <ul ref={list} className="flex min-w-max gap-1">
        {tabs.map(({ label: name, isExact = false, ...target }) => (
          <li key={name}>
            <Link
              {...target}
              activeOptions={{
                exact: isExact,
                explicitUndefined: true,
                includeSearch: target.search !== undefined,
              }}
              activeProps={{ className: "border-accent text-ink" }}
              inactiveProps={{
                className: "border-transparent text-ink-soft hover:text-ink hover:border-line-strong",
              }}
              className="block border-b-2 px-3 py-2 font-medium text-sm -outline-offset-2"
            >
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

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
