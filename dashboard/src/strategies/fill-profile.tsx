// Fill profiles in words: what each does, its terms, and the badge of strategies that are not standard.
import type { FillProfileJson, QueueModel } from "../../../src/dashboard-api/schemas.ts";
import { Badge } from "../ui/badge.tsx";
import { Card } from "../ui/card.tsx";
import { perCent } from "../ui/figures/decimals.ts";
import { Facts, fact } from "../ui/figures/figures.tsx";

export const PROFILES = {
  standard: {
    name: "Standard",
    says: "Every order is filled whole at the best price, at once, whatever its size.",
  },
  strict: {
    name: "Strict",
    says: "Orders are filled by what the exchange displayed and traded: they take time to arrive, walk the book, and wait in the queue.",
  },
} as const satisfies Record<FillProfileJson["name"], { name: string; says: string }>;

/** What is assumed of orders that others cancel at the price of an open order. */
export const QUEUES: Readonly<Record<QueueModel, string>> = {
  trades: "All were behind yours",
  "power-1": "Spread evenly (power 1)",
  "power-2": "More behind yours (power 2)",
  "power-3": "More behind yours (power 3)",
  "power-4": "More behind yours (power 4)",
  "power-5": "More behind yours (power 5)",
  "power-6": "Most behind yours (power 6)",
  "power-7": "Most behind yours (power 7)",
  "power-8": "Most behind yours (power 8)",
  "power-9": "Nearly all behind yours (power 9)",
};

/** "regular" is "Regular", "vip3" is "VIP 3". */
export function tierInWords(tier: string): string {
  return tier.startsWith("vip") ? `VIP ${tier.slice("vip".length)}` : "Regular";
}

/** "0.02 % as maker, 0.05 % as taker". */
export function ratesInWords({ maker, taker }: { maker: string; taker: string }): string {
  return `${perCent(maker)} % as maker, ${perCent(taker)} % as taker`;
}

/** Nothing for a standard strategy, as most are. */
export function ProfileBadge({ profile }: { profile: FillProfileJson }) {
  return profile.strict === null ? null : <Badge tone="accent">{PROFILES[profile.name].name}</Badge>;
}

export function ProfileCard({ profile }: { profile: FillProfileJson }) {
  const { name, makerFee, takerFee, strict } = profile;
  const rates = ratesInWords({ maker: makerFee, taker: takerFee });
  return (
    <Card title="Fill profile" aside={<ProfileBadge profile={profile} />}>
      <div className="flex flex-col gap-4">
        <p>{PROFILES[name].says} The profile was chosen when the strategy was made, and cannot be changed.</p>
        <Facts
          facts={[
            fact("Profile", PROFILES[name].name),
            fact("Fees", rates),
            ...(strict === null
              ? []
              : [
                  fact(
                    "Fee tier",
                    `${tierInWords(strict.feeTier)}${strict.feeDiscount === "bnb" ? ", with BNB" : ""}`,
                  ),
                  fact("Latency", latencyInWords(strict.latency)),
                  fact("Canceled orders of others", QUEUES[strict.queue]),
                  fact("Refresh", `${strict.refreshMs} ms`),
                ]),
          ]}
        />
      </div>
    </Card>
  );
}

function latencyInWords(latency: NonNullable<FillProfileJson["strict"]>["latency"]): string {
  if (typeof latency === "number") return `${latency} ms`;
  return `${latency.p50} ms in the median, ${latency.p90} ms at 90 %, ${latency.p99} ms at 99 %`;
}
