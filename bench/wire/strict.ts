// Orders under `strict` against the same orders under `standard`, by turns on one gateway.
import { figureOf, type Section } from "../figures.ts";
import type { Options } from "../options.ts";
import { alone, measurePair, type Pair, type Subject } from "../rounds.ts";
import { STORE_TITLES, type StoreName } from "../stores.ts";
import { measures, NO_AIMS, REQUEST_NAMES } from "./wire-figures.ts";

export type StrictRound = { readonly standard: Pair; readonly strict: Pair };

export async function measureStrict(
  subject: Subject,
  subjects: readonly Subject[],
  { rounds, seconds, firstSeconds }: Options,
  say: (text: string) => void,
): Promise<readonly StrictRound[]> {
  const { trial, store } = subject;
  const measured: StrictRound[] = [];
  await alone(subject, subjects, () => trial.saturate("strict", firstSeconds.gateway));
  while (measured.length < rounds) {
    const round = await alone(subject, subjects, async () => ({
      standard: await measurePair(trial, "orders", seconds),
      strict: await measurePair(trial, "strict", seconds),
    }));
    measured.push(round);
    const [standard, strict] = [round.standard, round.strict].map(({ full }) => Math.round(full.perSecond));
    say(`strict ${measured.length} of ${rounds}, ${store}: ${strict}/s, standard ${standard}/s`);
  }
  return measured;
}

export function strictOrdersSection(rounds: readonly StrictRound[], store: StoreName): Section {
  const isProcessorTimeKnown = rounds.every(({ standard }) => standard.cores !== null);
  const figures = measures(REQUEST_NAMES.strict, NO_AIMS, isProcessorTimeKnown).map((measure) =>
    figureOf(rounds, {
      ...measure,
      of: ({ strict }) => measure.of(strict),
      ceiling: {
        name: `the same under standard${measure.unit === "ms" ? " at half its load" : ""}`,
        of: ({ standard }) => measure.of(standard),
      },
    }),
  );
  return { title: `Orders under strict on ${STORE_TITLES[store]}`, figures, missing: null };
}
