// How much of its limits the key has used, and whether it is banned.

import type { RequestsJson } from "../../../../../src/dashboard-api/schemas.ts";
import { Card } from "../../../ui/card.tsx";
import { grouped } from "../../../ui/figures/decimals.ts";
import { durationInWords } from "../../../ui/figures/duration.ts";
import { Meter } from "../../../ui/figures/meter.tsx";
import { Countdown } from "../../../ui/figures/time.tsx";
import { useNow } from "../../../ui/hooks.ts";
import { Note } from "../../../ui/note.tsx";
import { Placeholder } from "../../../ui/query.tsx";
import { toneOfMeter } from "./diagnosis-words.ts";

export function Limits({ data }: { data: RequestsJson | undefined }) {
  return (
    <Card title="Limits">
      {data === undefined ? (
        <Placeholder lines={4} isBare />
      ) : (
        <div className="grid gap-x-8 gap-y-4 sm:grid-cols-2">
          {data.meters.map(({ name, used, limit, windowSeconds }) => {
            const tone = toneOfMeter(used, limit);
            const isUsedUp = tone === "loss";
            return (
              <Meter
                key={`${name} ${windowSeconds}`}
                label={`${name} in ${inWindow(windowSeconds)}`}
                filled={limit === 0 ? 0 : used / limit}
                value={`${grouped(String(used))} of ${grouped(String(limit))}`}
                tone={tone}
              >
                {tone !== "accent" && (
                  <p className={`mt-1 text-xs ${isUsedUp ? "text-loss" : "text-warn"}`}>
                    {isUsedUp ? "Used up: further requests are refused." : "Nearly used up."}
                  </p>
                )}
              </Meter>
            );
          })}
        </div>
      )}
    </Card>
  );
}

export function Ban({ until }: { until: number }) {
  const isOver = useNow() >= until;
  return isOver ? (
    <Note tone="gain" title="The ban of this key is over.">
      Its next request is accepted.
    </Note>
  ) : (
    <Note tone="warn" title="This key is banned.">
      <p>
        Every request with it is rejected for another <Countdown until={until} />, because it kept sending
        after 429 responses. Let the bot wait as long as Retry-After says: more requests lengthen the ban.
      </p>
    </Note>
  );
}

function inWindow(seconds: number): string {
  return seconds === 60 ? "1 min" : durationInWords(seconds);
}
