// The ladder: asks above, the spread between, bids below, so that the best prices meet in the middle.
import { OrderLink } from "../../../trading/links.tsx";
import { Amount, Price } from "../../../ui/figures/amounts.tsx";
import { signOf } from "../../../ui/figures/decimals.ts";
import type { Ladder, LadderLevel } from "./ladder.ts";

type LadderTableProps = { symbol: string; ladder: Ladder; priceDecimals: number; sizeDecimals: number };
type Decimals = Pick<LadderTableProps, "priceDecimals" | "sizeDecimals">;

export function LadderTable({ symbol, ladder, ...decimals }: LadderTableProps) {
  const { spread, spreadPercent } = ladder;
  return (
    <table className="w-full table-fixed border-collapse text-sm leading-5 md:text-xs md:leading-4">
      <caption className="sr-only">Order book of {symbol}</caption>
      <thead>
        <tr>
          {["Price", "Size", "Total", "Yours"].map((header, index) => (
            <th
              key={header}
              scope="col"
              className={`column-label px-2 py-1.5 text-right first:pl-4 last:pr-4 ${index === 3 ? "w-[22%]" : ""}`}
            >
              {header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {ladder.asks.toReversed().map((level) => (
          <Row key={level.price} level={level} isBid={false} {...decimals} />
        ))}
      </tbody>
      <tbody>
        <tr className="border-line-strong border-y bg-sunken">
          <th scope="row" className="py-1 pr-2 pl-4 text-right font-normal text-ink-soft">
            Spread
          </th>
          <td className="numeric px-2 text-right font-medium">
            <Price value={spread} />
          </td>
          <td className="numeric px-2 text-right text-ink-soft">
            {spreadPercent === null ? "" : `${spreadPercent} %`}
          </td>
          <td />
        </tr>
      </tbody>
      <tbody>
        {ladder.bids.map((level) => (
          <Row key={level.price} level={level} isBid {...decimals} />
        ))}
      </tbody>
    </table>
  );
}

function Row({
  level,
  isBid,
  priceDecimals,
  sizeDecimals,
}: Decimals & { level: LadderLevel; isBid: boolean }) {
  const { price, quantity, cumulated, depthPercent, own } = level;
  const tint = isBid ? "var(--gain-soft)" : "var(--loss-soft)";
  return (
    <tr
      className="h-5 md:h-4"
      style={{
        backgroundImage: `linear-gradient(to left, ${tint} ${depthPercent}%, transparent ${depthPercent}%)`,
      }}
    >
      <th
        scope="row"
        className={`numeric py-0 pr-2 pl-4 text-right font-medium ${isBid ? "text-gain" : "text-loss"}`}
      >
        <span className="sr-only">{isBid ? "bid " : "ask "}</span>
        <Price value={price} decimals={priceDecimals} />
      </th>
      <td className="numeric px-2 text-right">
        {signOf(quantity) === 0 ? "–" : <Amount value={quantity} decimals={sizeDecimals} />}
      </td>
      <td className="numeric px-2 text-right">
        <Amount value={cumulated} decimals={sizeDecimals} />
      </td>
      <td className="numeric pr-4 pl-2 text-right">
        {own?.orderIds[0] !== undefined && (
          <OrderLink orderId={own.orderIds[0]}>
            <span aria-hidden="true">◆ </span>
            {own.quantity}
          </OrderLink>
        )}
      </td>
    </tr>
  );
}
