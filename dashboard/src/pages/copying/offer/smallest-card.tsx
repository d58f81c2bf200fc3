// How large an account has to be so that what the strategy orders is not too small for the exchange.
import type { SmallestBalances } from "../../../../../src/dashboard/shapes.ts";
import { counted } from "../../../copying/words.ts";
import { Amount } from "../../../ui/amounts.tsx";
import { Card } from "../../../ui/card.tsx";

export function SmallestCard({ smallest }: { smallest: SmallestBalances | null }) {
  return (
    <Card title="Smallest balance">
      {smallest === null ? (
        <p className="text-ink-soft">It has placed too few orders to tell.</p>
      ) : (
        <>
          <dl className="grid grid-cols-[auto_auto] justify-start gap-x-6 gap-y-1">
            {(
              [
                ["to copy all of them", smallest.all],
                ["to copy 95 %", smallest.most],
                ["to copy 80 %", smallest.many],
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
            Reckoned from its last {counted(smallest.orders, "order")}, with all of your balance used. An
            order that is too small for the exchange once it is scaled to your account is skipped and logged,
            never made larger. With a share of 50 % you need twice as much.
          </p>
        </>
      )}
    </Card>
  );
}
