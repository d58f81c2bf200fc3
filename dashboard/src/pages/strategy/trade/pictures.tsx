// The evidence of a fill as pictures: the levels that an order took from, and the queue in front of an order,
// at three moments and over time. Widths and heights are shares of exact amounts.
import { ReceiptLink } from "../../../trading/links.tsx";
import { add, compare, percentOf, signOf, subtract } from "../../../ui/figures/decimals.ts";
import { Amount, Price, Time } from "../../../ui/figures/figures.tsx";
import { queueMoves, queueSteps } from "./queue-moves.ts";
import type { Receipt } from "./receipt-words.ts";

type WalkedBookProps = {
  walk: Receipt["walk"];
  side: "BUY" | "SELL";
  /** The fill that the page is about. */
  tradeId: number;
};

/** A small book of the levels that the order took from, the best level first. */
export function WalkedBook({ walk, side, tradeId }: WalkedBookProps) {
  const most = walk.reduce((max, { displayed }) => (compare(displayed, max) > 0 ? displayed : max), "0");
  return (
    <table className="w-full border-collapse text-sm">
      <caption className="sr-only">Levels that the order took from</caption>
      <thead>
        <tr>
          {[side === "BUY" ? "Ask" : "Bid", "Displayed", "Own before", "Taken", ""].map((header, column) => (
            <th
              key={header}
              scope="col"
              className={`column-label px-2 py-1.5 first:pl-4 last:pr-4 ${column === 4 ? "w-2/5 text-left" : "text-right"}`}
            >
              {header === "" ? <span className="sr-only">Picture</span> : header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {walk.map((level) => (
          <tr key={level.tradeId} className={level.tradeId === tradeId ? "bg-accent-soft" : ""}>
            <th scope="row" className="numeric py-1 pr-2 pl-4 text-right font-medium">
              {level.tradeId === tradeId ? (
                <Price value={level.price} />
              ) : (
                <ReceiptLink tradeId={level.tradeId}>
                  <Price value={level.price} />
                </ReceiptLink>
              )}
            </th>
            <td className="px-2 text-right">
              <Amount value={level.displayed} />
            </td>
            <td className="px-2 text-right">
              {signOf(level.ownConsumed) === 0 ? "–" : <Amount value={level.ownConsumed} />}
            </td>
            <td className="px-2 text-right font-medium">
              <Amount value={level.taken} />
            </td>
            <td className="py-1 pr-4 pl-2">
              <Bar
                whole={most}
                parts={[
                  { key: "taken", amount: level.taken, color: "fill-accent" },
                  { key: "own", amount: least(level.ownConsumed, level.displayed), color: "fill-warn" },
                  {
                    key: "left",
                    amount: leftOf(level),
                    color: "fill-line",
                  },
                ]}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type QueueBarProps = {
  queue: NonNullable<Receipt["queue"]>;
  /** What the fill was of. */
  filled: string;
};

/** The queue in front of an order from its placement to the fill. */
export function QueueBar({ queue, filled }: QueueBarProps) {
  const { aheadAtPlacement, aheadBefore, ahead } = queue;
  const start = aheadAtPlacement ?? aheadBefore;
  if (start === null) return null;
  const before = aheadBefore ?? "0";
  const rows = [
    { label: "At placement", ahead: aheadAtPlacement, gone: "0", filled: "0" },
    { label: "Before the trade", ahead: before, gone: larger(subtract(start, before), "0"), filled: "0" },
    { label: "After the trade", ahead, gone: larger(subtract(start, ahead), "0"), filled },
  ];
  const whole = add(larger(start, before), filled);
  return (
    <table className="w-full border-collapse text-sm">
      <caption className="sr-only">The queue in front of the order</caption>
      <thead>
        <tr>
          {["When", "In front", "Filled", ""].map((header, column) => (
            <th
              key={header}
              scope="col"
              className={`column-label px-2 py-1.5 first:pl-4 last:pr-4 ${column === 1 || column === 2 ? "text-right" : "text-left"} ${column === 3 ? "w-1/2" : ""}`}
            >
              {header === "" ? <span className="sr-only">Picture</span> : header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.label}>
            <th scope="row" className="py-1 pr-2 pl-4 text-left font-normal">
              {row.label}
            </th>
            <td className="px-2 text-right">
              <Amount value={row.ahead} />
            </td>
            <td className="px-2 text-right font-medium">
              {signOf(row.filled) === 0 ? "–" : <Amount value={row.filled} />}
            </td>
            <td className="py-1 pr-4 pl-2">
              <Bar
                whole={whole}
                parts={[
                  { key: "filled", amount: row.filled, color: "fill-accent" },
                  { key: "ahead", amount: row.ahead ?? "0", color: "fill-warn" },
                  { key: "gone", amount: row.gone, color: "fill-hover" },
                ]}
              />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type Size = { readonly width: number; readonly height: number };
const STEPS: Size = { width: 400, height: 80 };

/** What was in front of an order over time, as a line of steps, with its figures as a table. */
export function QueueOverTime({
  history,
}: {
  history: NonNullable<NonNullable<Receipt["queue"]>["history"]>;
}) {
  const steps = queueSteps(history, STEPS);
  return (
    <>
      {steps !== null && (
        <svg
          viewBox={`0 -2 ${STEPS.width} ${STEPS.height + 4}`}
          preserveAspectRatio="none"
          aria-hidden="true"
          className="block h-24 w-full border-line border-b px-4 pt-3 text-warn"
        >
          <polyline
            points={steps}
            fill="none"
            stroke="currentColor"
            strokeWidth={1.5}
            vectorEffect="non-scaling-stroke"
          />
        </svg>
      )}
      <table className="w-full border-collapse text-sm">
        <caption className="sr-only">How the queue moved</caption>
        <thead>
          <tr>
            {["Time", "In front", "Traded", "Canceled"].map((header, column) => (
              <th
                key={header}
                scope="col"
                className={`column-label px-2 py-1.5 first:pl-4 last:pr-4 ${column === 0 ? "text-left" : "text-right"}`}
              >
                {header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {queueMoves(history).map(({ time, ahead, traded, canceled }, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: several moves may have one time, and rows never change.
            <tr key={index}>
              <th scope="row" className="py-1 pr-2 pl-4 text-left font-normal">
                <Time at={time} format="milliseconds" />
              </th>
              <td className="px-2 text-right font-medium">
                <Amount value={ahead} />
              </td>
              <td className="px-2 text-right">
                <Moved amount={traded} />
              </td>
              <td className="py-1 pr-4 pl-2 text-right">
                <Moved amount={canceled} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function Moved({ amount }: { amount: string | null }) {
  return amount === null || signOf(amount) === 0 ? "–" : <Amount value={amount} />;
}

type BarProps = {
  whole: string;
  parts: readonly { readonly key: string; readonly amount: string; readonly color: string }[];
};

/** The figures stand beside it, so it says nothing to a reader of the page. */
function Bar({ whole, parts }: BarProps) {
  let from = 0;
  return (
    <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" className="block h-3 w-full">
      {parts.map(({ key, amount, color }) => {
        const width = Number(percentOf(amount, whole) ?? "0");
        const x = from;
        from += width;
        return <rect key={key} x={x} y={0} width={width} height={8} className={color} />;
      })}
    </svg>
  );
}

function leftOf({ displayed, taken, ownConsumed }: Receipt["walk"][number]): string {
  return larger(subtract(subtract(displayed, taken), least(ownConsumed, displayed)), "0");
}

function least(one: string, other: string): string {
  return compare(one, other) < 0 ? one : other;
}

function larger(one: string, other: string): string {
  return compare(one, other) > 0 ? one : other;
}
