// One symbol out of hundreds: a button that opens a search with a list, the strategy's own symbols first.
// Arrow keys move, Enter takes, Escape closes.

import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import type { StrategyJson } from "../../../src/dashboard-api/schemas.ts";
import { legsQuery, ordersQuery, positionsQuery, tradesQuery } from "../api/strategy.ts";
import { useAddress } from "../app/address.tsx";
import { Card, EmptyState } from "../ui/card.tsx";
import { CONTROL_LOOK } from "../ui/forms/field.tsx";
import { useSymbols } from "./markets.ts";
import { matching, ownSymbolsOf } from "./own-symbols.ts";

const MATCHES_MAX = 60;

type SymbolChooserProps = {
  /** The one that is shown. */
  symbol: string;
  own: readonly string[];
  all: readonly string[];
  onChoose: (symbol: string) => void;
};

export function SymbolChooser({ symbol, own, all, onChoose }: SymbolChooserProps) {
  const [isOpen, setIsOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setIsOpen(false);
    button.current?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notices that the focus has left it.
    <div
      className="relative"
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setIsOpen(false);
      }}
    >
      <button
        ref={button}
        type="button"
        aria-haspopup="listbox"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(!isOpen)}
        className="flex min-h-9 items-center gap-2 rounded-md border border-line-strong bg-surface px-3 font-semibold hover:bg-hover"
      >
        <span className="sr-only">Symbol </span>
        {symbol}
        <span aria-hidden="true" className="text-ink-soft text-xs">
          ▾
        </span>
      </button>
      {isOpen && (
        <Search
          {...{ symbol, own, all }}
          onClose={close}
          onChoose={(chosen) => {
            close();
            onChoose(chosen);
          }}
        />
      )}
    </div>
  );
}

function Search({ symbol, own, all, onChoose, onClose }: SymbolChooserProps & { onClose: () => void }) {
  const [text, setText] = useState("");
  const [place, setPlace] = useState(0);
  const id = useId();
  const found = matching(text, { own, all, limit: MATCHES_MAX });
  const current = found[Math.min(place, found.length - 1)];
  const move = (steps: number) => {
    const next = Math.min(found.length - 1, Math.max(0, place + steps));
    setPlace(next);
    document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: "nearest" });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const action = {
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      PageDown: () => move(8),
      PageUp: () => move(-8),
      Enter: () => current !== undefined && onChoose(current.symbol),
      Escape: onClose,
    }[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  };
  return (
    <div className="absolute top-full left-0 z-20 mt-1 w-64 max-w-[calc(100vw-2rem)] rounded-md border border-line-strong bg-surface">
      <div className="border-line border-b p-2">
        <input
          // biome-ignore lint/a11y/noAutofocus: it was opened in order to be typed into.
          autoFocus
          role="combobox"
          aria-label="Search symbols"
          aria-expanded={found.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={current === undefined ? undefined : `${id}-${found.indexOf(current)}`}
          aria-autocomplete="list"
          autoComplete="off"
          spellCheck={false}
          placeholder="Search"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setPlace(0);
          }}
          onKeyDown={onKeyDown}
          className={CONTROL_LOOK}
        />
      </div>
      <div
        id={`${id}-list`}
        role="listbox"
        hidden={found.length === 0}
        aria-label="Symbols"
        className="max-h-72 overflow-y-auto py-1"
      >
        {found.map((match, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys are taken by the field, which keeps the focus.
          <div
            key={match.symbol}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={match === current}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onChoose(match.symbol)}
            className={`flex cursor-pointer justify-between gap-3 px-3 py-1.5 text-sm ${match === current ? "bg-accent-soft" : "hover:bg-hover"}`}
          >
            <span className={match.symbol === symbol ? "font-semibold" : ""}>{match.symbol}</span>
            {match.isOwn && <span className="text-ink-soft text-xs">yours</span>}
          </div>
        ))}
      </div>
      {found.length === 0 && (
        <p role="status" className="px-3 pb-3 text-ink-soft text-sm">
          No symbol has that in its name.
        </p>
      )}
    </div>
  );
}

type PageSymbolProps = {
  choice: SymbolChoice;
  /** What the address says of the symbol that is left, and of no other. */
  forgets: string;
};

/**
 * Which symbol a page is about, and the way to another, which the address then names. Nothing while it is not
 * known.
 */
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

// Where an address names a symbol that the market does not list: says so, and lets choose another.

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

// Which symbol a screen is about: the one of the address, else the one that the strategy has to do with most
// lately.

/** What a chart shows of a strategy that has not traded yet, where the market has it. */
const FIRST_SYMBOL = "BTCUSDT";

export type SymbolChoice = ReturnType<typeof useSymbol>;

export function useSymbol(strategy: StrategyJson | undefined, strategyId: string) {
  const { search } = useAddress();
  const { data, error, refetch } = useSymbols(strategy?.type);
  const own = useOwnSymbols(strategyId, strategy?.type === "FUTURES");
  const all = data?.rows;
  const asked = search.symbol;
  const first = useFirst(own?.[0]);
  const wanted = asked ?? (own === undefined ? undefined : (first ?? FIRST_SYMBOL));
  const found = all?.find(({ symbol }) => symbol === wanted);
  const fallback =
    asked === undefined ? (all?.find(({ symbol }) => symbol === FIRST_SYMBOL) ?? all?.[0]) : null;
  const isKnown = all !== undefined && wanted !== undefined;
  return {
    /** Undefined while it is not known yet; null if the market has no symbol of that name. */
    symbol: isKnown ? (found ?? fallback ?? null) : undefined,
    /** What the address asks for, if it does. */
    asked,
    /** Those that the strategy has to do with, first of all. */
    own: own ?? [],
    all,
    error,
    retry: () => void refetch(),
  };
}

/**
 * The first that was known, for as long as the page is open: a page doesn't turn to another symbol because
 * its bot trades there.
 */
function useFirst(symbol: string | undefined): string | undefined {
  const [first, setFirst] = useState(symbol);
  useEffect(() => setFirst((before) => before ?? symbol), [symbol]);
  return first ?? symbol;
}

/**
 * The symbols of a strategy's positions, orders and trades, newest first; undefined while they are loaded.
 */
export function useOwnSymbols(strategyId: string, isFutures: boolean): readonly string[] | undefined {
  const positions = useQuery({ ...positionsQuery(strategyId), enabled: isFutures });
  const legs = useQuery({ ...legsQuery(strategyId, { state: "open" }), enabled: isFutures });
  const open = useQuery(ordersQuery(strategyId, { state: "open" }));
  const trades = useQuery(tradesQuery(strategyId, {}));
  const lists = [positions, open, legs, trades];
  if (lists.some(({ isLoading }) => isLoading)) return undefined;
  return ownSymbolsOf(lists.map(({ data }) => data?.rows ?? []));
}
