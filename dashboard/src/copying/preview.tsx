// The strategy's last orders as an account would copy them now, with the settings that are being typed.

import { useQuery } from "@tanstack/react-query";
import type { PreviewJson, PreviewRowJson } from "../../../src/dashboard-api/schemas.ts";
import { type PreviewAsked, previewQuery } from "../api/copying.ts";
import { Badge, inWords, Side } from "../ui/badge.tsx";
import { Card, Dimmed, EmptyState, QueryState } from "../ui/card.tsx";
import { multiply, rounded, signOf, trimZeros } from "../ui/figures/decimals.ts";
import { Amount, Price } from "../ui/figures/figures.tsx";
import { useSettled } from "../ui/hooks.ts";
import { type Column, column, headColumn, numberColumn, Table, timeColumn } from "../ui/table.tsx";
import { counted } from "./words.ts";

/** So long after the last key the account is asked. */
const TYPED_MS = 400;

type PreviewCardProps = {
  /** Of a copy that runs already: what it lacks is on its page of drift. */
  isRunning?: boolean;
  /** Null while the settings can't be used. */
  asked: PreviewAsked | null;
};

export function PreviewCard({ asked, isRunning = false }: PreviewCardProps) {
  const [settled, isSettling] = useSettled(asked, TYPED_MS);
  const query = useQuery(previewQuery(settled));
  const { error, isFetching } = query;
  // What settings before these would do is not shown under them.
  const data = asked === null ? undefined : query.data;
  const isOld = isFetching || isSettling;
  const exits = data?.rows.filter(({ isExit, skip }) => isExit && skip === null).length ?? 0;
  return (
    <Card title="Its last orders, with these settings" isFlush>
      {asked !== null && <QueryState of={query} isInset />}
      {asked === null && <EmptyState title="No preview.">Fix the marked fields.</EmptyState>}
      {error === null && asked !== null && (
        <Dimmed isOld={isOld}>
          {data !== undefined && <AtWorst preview={data} />}
          {data !== undefined && !isRunning && data.holds.length > 0 && (
            <HeldNow holds={data.holds} isCopied={asked?.settings.copyExisting === true} />
          )}
          {data !== undefined && data.rows.length > 0 && (
            <div role="status" className="flex flex-col gap-1.5 px-4 pt-3">
              <p>
                <span className="font-medium">
                  If you had copied this strategy from its beginning, {data.copied} of{" "}
                  {data.copied + data.skipped} would have been copied, {data.skipped} skipped.
                </span>{" "}
                <span className="text-ink-soft">
                  Calculated with <Amount value={data.used} decimals={2} asset={data.asset} /> of the{" "}
                  <Amount value={data.wallet} decimals={2} asset={data.asset} /> that the account has now
                  {signOf(data.held) > 0 && (
                    <>
                      {" "}
                      and the <Amount value={data.held} decimals={2} asset={data.asset} /> that the copy’s
                      holdings are worth
                    </>
                  )}
                  .
                </span>
              </p>
              {exits > 0 && (
                <p>
                  {counted(exits, "of the copied orders is an exit", "of the copied orders are exits")}. An
                  exit is copied only as far as the copy holds what it closes.{" "}
                  {isRunning
                    ? "The preview does not take into account which positions your copy lacks: its page Drift lists them."
                    : asked?.settings.copyExisting
                      ? "Exits of what the strategy holds now are copied as far as the copy has opened it at its start."
                      : "A copy that starts now holds nothing, so exits of what the strategy holds now are skipped."}
                </p>
              )}
            </div>
          )}
          {data?.isRounded === true && (data.rows.length > 0 || data.holds.length > 0) && (
            <p className="px-4 pt-3 text-ink-soft text-sm">
              Sizes are rounded down to two digits. A strategy’s own sizes are shown to those who copy it.
            </p>
          )}
          <Table
            caption="Preview"
            columns={data?.isRounded === false ? EXACT_COLUMNS : ROUNDED_COLUMNS}
            rows={data?.rows}
            rowKey={({ collectiveId }) => collectiveId}
            empty={
              <EmptyState title="The strategy has placed no orders yet.">
                There is nothing to show a preview of. Copying begins with its next order all the same.
              </EmptyState>
            }
          />
        </Dimmed>
      )}
    </Card>
  );
}

function AtWorst({ preview: { worst } }: { preview: PreviewJson }) {
  const { liquidation } = worst;
  return (
    <section aria-label="At worst" className="px-4 pt-3">
      <h3 className="font-medium">
        At worst
        {liquidation !== null && (
          <>
            : liquidated by a move of{" "}
            <span className="numeric">{trimZeros(rounded(multiply(liquidation.move, "100"), 1))} %</span>
          </>
        )}
      </h3>
      <ul className="mt-1 list-disc pl-5 text-sm">
        {worst.words.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </section>
  );
}

function HeldNow({ holds, isCopied }: { holds: PreviewJson["holds"]; isCopied: boolean }) {
  return (
    <section aria-label="Held now" className="px-4 pt-3">
      <h3 className="font-medium">What the strategy holds now</h3>
      <ul className="mt-1 list-disc pl-5 text-sm">
        {holds.map(({ symbol, side, quantity, notional }) => (
          <li key={symbol}>
            <Side side={side} /> {symbol}:{" "}
            {quantity === null ? (
              "nothing would be opened: too little, or above your limits."
            ) : (
              <>
                {isCopied ? "opens about " : "would open about "}
                <Price value={quantity} />
                {notional !== null && (
                  <>
                    {" "}
                    (<Amount value={notional} decimals={2} asset="USDT" />)
                  </>
                )}
                {isCopied ? " when the copy starts." : ", if you chose to open what it holds."}
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

const FIRST_COLUMNS: readonly Column<PreviewRowJson>[] = [
  timeColumn({ header: "Time", width: "w-[14%]" }, ({ at }) => at),
  headColumn({ header: "Order", width: "w-[20%]" }, ({ symbol, side, orderType }) => (
    <span>
      <Side side={side} /> {symbol}
      <span className="block font-normal text-ink-soft text-xs">{inWords(orderType)}</span>
    </span>
  )),
];

const SCALED_COLUMNS: readonly Column<PreviewRowJson>[] = [
  numberColumn("Strategy", ({ leadQuantity }) => sizeOf(leadQuantity)),
  numberColumn("Scaled", ({ scaledQuantity }) => sizeOf(scaledQuantity)),
];

const LAST_COLUMNS: readonly Column<PreviewRowJson>[] = [
  numberColumn("You", ({ quantity, notional }) =>
    quantity === null ? null : (
      <span className="inline-flex flex-col items-end">
        <Price value={quantity} />
        {notional !== null && (
          <span className="text-ink-soft text-xs">
            <Amount value={notional} decimals={2} asset="USDT" />
          </span>
        )}
      </span>
    ),
  ),
  column({ header: "Outcome", width: "w-[32%]" }, ({ skip, isExit }) =>
    skip === null ? (
      <span className="inline-flex flex-col items-start gap-0.5 max-md:items-end">
        <Badge tone="gain">
          <span aria-hidden="true">✓</span>Copied
        </Badge>
        {isExit && <span className="whitespace-normal text-sm">if the copy holds what it closes</span>}
      </span>
    ) : (
      <span className="inline-flex flex-col items-start gap-0.5 max-md:items-end">
        <Badge tone="warn">
          <span aria-hidden="true">–</span>Skipped
        </Badge>
        <span className="whitespace-normal text-sm">{skip.words}</span>
      </span>
    ),
  ),
];

const ROUNDED_COLUMNS = [...FIRST_COLUMNS, ...LAST_COLUMNS];
const EXACT_COLUMNS = [...FIRST_COLUMNS, ...SCALED_COLUMNS, ...LAST_COLUMNS];

function sizeOf(quantity: string | null) {
  return quantity === null ? null : <Price value={quantity} />;
}
