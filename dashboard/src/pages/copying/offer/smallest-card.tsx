// How large an account has to be so that what the strategy orders is not too small for the exchange.
import type { SmallestBalances } from "../../../../../src/dashboard-api/schemas.ts";
import { counted } from "../../../copying/words.ts";
import { Card } from "../../../ui/card.tsx";
import { Amount } from "../../../ui/figures/amounts.tsx";

export function SmallestCard({ smallest }: { smallest: SmallestBalances | null }) {
  return (
    <Card title="Smallest balance for the exchange’s order minimums">
      {smallest === null ? (
        <p className="text-ink-soft">The strategy has placed too few orders for this.</p>
      ) : (
        <>
          <dl className="grid grid-cols-[auto_auto] justify-start gap-x-6 gap-y-1">
            {(
              [
                ["all orders large enough", smallest.all],
                ["95 % large enough", smallest.most],
                ["80 % large enough", smallest.many],
              ] as const
            ).map(([label, value]) => (
              <div key={label} className="contents">
                <dt className="text-ink-soft">{label}</dt>
                <dd className="text-right font-medium">
                  <Amount value={value} decimals={2} asset="USDT" />
                </dd>
              </div>
            ))}
          </dl>
          <p className="mt-3 text-ink-soft text-sm">
            Calculated from the strategy’s last {counted(smallest.orders, "order")}, with a share of 100 %.
            With a share of 50 % you need twice as much. An order that is too small for the exchange after
            scaling is skipped and logged, never made larger. A large balance does not guarantee a copy: exits
            of what the strategy held before you started are skipped whatever your balance is.
          </p>
        </>
      )}
    </Card>
  );
}
