// The mirror log: every line shows how an order was copied, or why it was not.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { MirrorEntryJson, SkipJson } from "../../../../src/dashboard-api/schemas.ts";
import { type EntriesListed, entriesQuery, useCopy } from "../../api/copying.ts";
import { AddressSelect, useAddress } from "../../app/address.tsx";
import { ENTRY_STATUSES, KIND_MEANINGS, KIND_NAMES, SKIP_NAMES } from "../../copying/words.ts";
import { SymbolFilter } from "../../trading/links.tsx";
import { inWords, Side, StatusBadge } from "../../ui/badge.tsx";
import { EmptyState, Listed, Note } from "../../ui/card.tsx";
import { Copyable } from "../../ui/copy-button.tsx";
import { signOf } from "../../ui/figures/decimals.ts";
import { latencyInWords } from "../../ui/figures/duration.ts";
import { Amount, ExactPrice, type Fact, Facts, fact, Price, Time } from "../../ui/figures/figures.tsx";
import { Dialog } from "../../ui/overlays/dialog.tsx";
import { Pager, Screen } from "../../ui/page-header.tsx";
import { EntryTable } from "./log/entry-table.tsx";
import { scaleInWords, slippageInWords } from "./log/entry-words.ts";

const STATUSES = [
  { value: "", label: "All" },
  ...Object.entries(ENTRY_STATUSES).map(([value, label]) => ({ value, label })),
];

export function Page() {
  const { copyId, copy } = useCopy();
  const { search, change } = useAddress();
  const { before, status, symbol } = search;
  // The server rejects any other status that the address may have.
  const listed = { before, status: status as EntriesListed["status"], symbol };
  const query = useQuery(entriesQuery(copyId, listed));
  const { data } = query;
  const newest = useQuery(entriesQuery(copyId, {})).data?.rows;
  const opened = useOpened(copyId, search.entry, data?.rows);
  const isFiltered = status !== undefined || symbol !== undefined;
  return (
    <Screen
      title="Mirror log"
      documentTitle={`Mirror log, ${copy?.strategyName ?? "copy"}`}
      actions={
        <>
          <SymbolFilter own={symbolsOf(newest)} />
          <AddressSelect name="status" label="Status" value={status ?? ""} options={STATUSES} width="w-48" />
        </>
      }
    >
      <Listed query={query}>
        <EntryTable
          copyId={copyId}
          rows={data?.rows}
          empty={
            isFiltered && typeof data?.next === "string" ? (
              <EmptyState title="No match among the newer lines.">
                Continue with older lines, or choose another status or symbol.
              </EmptyState>
            ) : isFiltered ? (
              <EmptyState title="No matching lines.">Choose another status or symbol.</EmptyState>
            ) : (
              <EmptyState title="Nothing has been copied or skipped yet.">
                The log starts with the strategy’s next action: an order, a cancel, a take profit or a stop
                loss.
              </EmptyState>
            )
          }
        />
        <Pager what="lines" before={before} next={data?.next} />
      </Listed>
      <EntryDialog
        entry={opened}
        strategyName={copy?.strategyName}
        onClose={() => change({ entry: undefined })}
      />
    </Screen>
  );
}

/** The line that the address names; null if it names none, undefined if there is none of that number. */
function useOpened(
  copyId: string,
  entry: string | undefined,
  rows: readonly MirrorEntryJson[] | undefined,
): MirrorEntryJson | null | undefined {
  const isId = entry !== undefined && /^\d{1,15}$/.test(entry);
  const shown = rows?.find(({ entryId }) => String(entryId) === entry);
  // One that is on no page that is shown is the first of those before the next.
  const alone = useQuery({
    ...entriesQuery(copyId, { before: String(Number(isId ? entry : 0) + 1) }),
    enabled: isId && rows !== undefined && shown === undefined,
  });
  if (entry === undefined) return null;
  if (shown !== undefined) return shown;
  if (isId && (rows === undefined || alone.isPending || alone.isPlaceholderData)) return null;
  return alone.data?.rows.find(({ entryId }) => String(entryId) === entry);
}

function symbolsOf(rows: readonly MirrorEntryJson[] | undefined): readonly string[] {
  const symbols = new Set(rows?.flatMap(({ symbol }) => (symbol === null ? [] : [symbol])));
  return [...symbols].sort();
}

// One line of the mirror log in full: what the strategy did, how that was scaled, what became of it at the
// exchange, or why nothing.

type EntryDialogProps = {
  /** Null: none is open; undefined: there is none of the number that was asked for. */
  entry: MirrorEntryJson | null | undefined;
  strategyName: string | undefined;
  onClose: () => void;
};

function EntryDialog({ entry, strategyName, onClose }: EntryDialogProps) {
  return (
    <Dialog
      isOpen={entry !== null}
      onClose={onClose}
      isRead
      title={entry ? `${KIND_NAMES[entry.kind]}${entry.symbol === null ? "" : ` ${entry.symbol}`}` : "Line"}
    >
      {entry === undefined && <p>There is no line of this number.</p>}
      {entry && <Detail entry={entry} strategyName={strategyName ?? "The strategy"} />}
    </Dialog>
  );
}

function Detail({ entry, strategyName }: { entry: MirrorEntryJson; strategyName: string }) {
  const { status, skip, kind, collectiveId } = entry;
  const scaling = scaleInWords(entry);
  return (
    <>
      <div className="flex flex-wrap items-center gap-3">
        <StatusBadge status={status} label={ENTRY_STATUSES[status]} />
        <span className="numeric text-ink-soft text-sm">Line {entry.entryId}</span>
      </div>
      {skip !== null && <SkipNote skip={skip} hasFailed={status === "FAILED"} />}
      {KIND_MEANINGS[kind] !== undefined && <p>{KIND_MEANINGS[kind]}</p>}
      <Part title={OWN_TITLES[kind] ?? strategyName}>
        <Facts facts={leadFacts(entry)} />
      </Part>
      {scaling.length > 0 && (
        <Part title="Scaled to your account">
          {scaling.map((line) => (
            <p key={line} className="break-words">
              {line}
            </p>
          ))}
        </Part>
      )}
      {entry.sentAt !== null && (
        <Part title="At the exchange">
          <Facts facts={venueFacts(entry)} />
          {entry.slippageBps !== null && (
            <p className="mt-3">Filled {slippageInWords(entry.slippageBps, entry.leadPrice)}.</p>
          )}
          {entry.queries > 0 && (
            <p className="mt-3 text-ink-soft text-sm">
              The outcome was unknown at first, so the order was queried at the exchange. An order is sent
              again only when the exchange’s trades and position show that the first was not executed.
            </p>
          )}
        </Part>
      )}
      <Ids entry={entry} collectiveId={collectiveId} />
    </>
  );
}

/** Of lines that answer nothing that the strategy did. */
const OWN_TITLES: Partial<Readonly<Record<MirrorEntryJson["kind"], string>>> = {
  REPAIR: "Asked for",
  FLATTEN: "Asked for",
  WITHDRAW: "Asked for",
  WRITE_OFF: "Found",
  PROFIT_SHARE: "Computed",
};

function SkipNote({ skip, hasFailed }: { skip: SkipJson; hasFailed: boolean }) {
  const { reason, words, filter, wanted, had, shortfall, asset } = skip;
  const names =
    reason === "SLIPPAGE" ? SLIPPAGE_NAMES : TOO_MUCH.has(reason) ? TOO_MUCH_NAMES : TOO_LITTLE_NAMES;
  const facts: readonly Fact[] = [
    ...(filter === null
      ? []
      : [fact("Rule of the exchange", <code className="font-mono text-xs">{filter}</code>)]),
    ...(wanted === null ? [] : [fact(names.wanted, <Price value={wanted} />)]),
    ...(had === null ? [] : [fact(names.had, <Price value={had} />)]),
    ...(shortfall === null ? [] : [fact(names.shortfall, <Price value={shortfall} />)]),
  ];
  return (
    <Note tone="warn" title={hasFailed ? "The exchange rejected it" : SKIP_NAMES[reason]}>
      <p className="mt-1">{words}</p>
      {facts.length > 0 && (
        <div className="mt-3">
          <Facts facts={facts} />
          {asset !== null && <p className="mt-2 text-xs">Amounts in {asset}.</p>}
        </div>
      )}
    </Note>
  );
}

/** Where what was wanted is above a bound, and not what there was below one. */
const TOO_MUCH: ReadonlySet<SkipJson["reason"]> = new Set([
  "ABOVE_MAXIMUM",
  "ORDER_CAP",
  "PRICE_UNFIT",
  "LEVERAGE_UNFIT",
  "ABOVE_POSITION_MAX",
  "ABOVE_EXPOSURE_MAX",
  "TOO_MANY_ORDERS",
  "LOSS_OF_DAY",
]);
const TOO_MUCH_NAMES = { wanted: "Requested", had: "Maximum", shortfall: "Too much by" } as const;
const SLIPPAGE_NAMES = {
  wanted: "The strategy’s price",
  had: "The exchange’s price",
  shortfall: "Difference",
} as const;
const TOO_LITTLE_NAMES = { wanted: "Required", had: "Actual", shortfall: "Missing" } as const;

function leadFacts(entry: MirrorEntryJson): readonly Fact[] {
  const { side, orderType, leadQuantity, leadPrice, price, stopPrice, leadAt } = entry;
  return [
    fact("At", <Time at={leadAt} />),
    ...(side === null ? [] : [fact("Side", <Side side={side} />)]),
    ...(orderType === null ? [] : [fact("Type", inWords(orderType))]),
    ...(leadQuantity === null ? [] : [fact("Its size", <Price value={leadQuantity} />)]),
    ...(leadPrice === null ? [] : [fact("Its price", <Price value={leadPrice} />)]),
    ...(isSet(price) ? [fact("Limit", <Price value={price} />)] : []),
    ...(isSet(stopPrice) ? [fact("Trigger", <Price value={stopPrice} />)] : []),
  ];
}

function venueFacts(entry: MirrorEntryJson): readonly Fact[] {
  const { quantity, executedQuantity, executedPrice, fee, sentAt, delayMs, sends, queries } = entry;
  return [
    fact("Sent", <Price value={quantity} />),
    fact("Filled", <Price value={executedQuantity} />),
    fact("Filled at", executedPrice && <ExactPrice value={executedPrice} />),
    fact("Fee", <Amount value={fee} asset="USDT" />),
    fact("First sent", <Time at={sentAt} />),
    fact("Acknowledged after", delayMs === null ? null : latencyInWords(delayMs)),
    fact("Sent, queried", <span className="numeric">{`${sends} ×, ${queries} ×`}</span>),
  ];
}

function Ids({ entry, collectiveId }: { entry: MirrorEntryJson; collectiveId: string | null }) {
  const ids = [
    ["Order id of the exchange", entry.venueOrderId],
    ["Client id at the exchange", entry.clientOrderId],
    ["Collective id, the same for all copiers", collectiveId],
  ] as const;
  const known = ids.filter(([, value]) => value !== null);
  if (known.length === 0) return null;
  return (
    <dl className="flex flex-col gap-2">
      {known.map(([label, value]) => (
        <div key={label}>
          <dt className="mb-0.5 text-ink-soft text-xs">{label}</dt>
          <dd>
            <Copyable value={value ?? ""} label={label} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section>
      <h3 className="mb-1.5 font-medium text-sm">{title}</h3>
      {children}
    </section>
  );
}

/** The wire has zero for a price that an order's type has none of. */
function isSet(price: string | null): boolean {
  return price !== null && signOf(price) !== 0;
}
