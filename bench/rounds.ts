// The interleaving: every round measures the ceiling and every gateway one right after the other, so that a
// ratio compares what the machine could do in the same seconds. Gateways that are not measured are stopped.
import { setTimeout as wait } from "node:timers/promises";
import type { Options } from "./options.ts";
import { countCores } from "./processes/machine.ts";
import type { Gateway } from "./processes/processes.ts";
import type { StoreName } from "./stores.ts";
import type { Trial } from "./trial.ts";
import type { Loaded } from "./wire/load.ts";
import type { RequestKind } from "./wire/requests.ts";

/** At saturation, and at half the rate of that. */
export type Pair = {
  readonly full: Loaded;
  readonly half: Loaded;
  /** Share of a core that the server had at saturation; null where the system does not report it. */
  readonly cores: number | null;
};
/** The echo knows no types: its orders are the ceiling of both. */
export const ECHO_KINDS = ["orders", "reads"] as const satisfies readonly RequestKind[];
export type EchoKind = (typeof ECHO_KINDS)[number];
export const KINDS = ["orders", "futures", "signals", "reads"] as const satisfies readonly RequestKind[];
export type Kind = (typeof KINDS)[number];

type Pairs<Kinds extends RequestKind> = { readonly [K in Kinds]: Pair };
export type GatewayPairs = Pairs<Kind>;
export type Round = {
  readonly echo: Pairs<EchoKind>;
  readonly gateways: ReadonlyMap<StoreName, GatewayPairs>;
};

/** A gateway that is measured, on its store. */
export type Subject = { readonly store: StoreName; readonly gateway: Gateway; readonly trial: Trial };

/** After a pause the gateway catches up with its market, ms: a long one takes over a second. */
const CATCH_UP_MS = 2_000;
const BREATH_MS = 200;

export async function measurePair(trial: Trial, kind: RequestKind, seconds: number): Promise<Pair> {
  const coresUsed = countCores(trial.server.pid);
  const full = await trial.saturate(kind, seconds);
  const cores = coresUsed();
  return { full, half: await trial.schedule(kind, seconds, full.perSecond / 2), cores };
}

export async function measureRounds(
  { echo, subjects }: { readonly echo: Trial; readonly subjects: readonly Subject[] },
  { rounds, seconds, firstSeconds }: Options,
  say: (text: string) => void,
): Promise<readonly Round[]> {
  const pair = (trial: Trial, kind: RequestKind) => measurePair(trial, kind, seconds);
  const pairsOfEcho = async () => ({
    orders: await pair(echo, "orders"),
    reads: await pair(echo, "reads"),
  });
  const pairsOfGateway = async ({ trial }: Subject): Promise<GatewayPairs> => ({
    orders: await pair(trial, "orders"),
    futures: await pair(trial, "futures"),
    signals: await pair(trial, "signals"),
    reads: await pair(trial, "reads"),
  });

  say("warming up");
  for (const kind of ECHO_KINDS) await echo.saturate(kind, firstSeconds.echo);
  for (const subject of subjects) {
    await alone(subject, subjects, async () => {
      for (const kind of KINDS) {
        await subject.trial.saturate(kind, firstSeconds.gateway);
      }
    });
  }
  const measured: Round[] = [];
  while (measured.length < rounds) {
    const echoed = await alone(null, subjects, pairsOfEcho);
    const gateways = new Map<StoreName, GatewayPairs>();
    for (const subject of subjects) {
      gateways.set(subject.store, await alone(subject, subjects, () => pairsOfGateway(subject)));
    }
    measured.push({ echo: echoed, gateways });
    const each = [...gateways].map(([store, answered]) => `${store}: ${ratesText(answered)}`);
    say(`round ${measured.length} of ${rounds}: ${[`echo: ${ratesText(echoed)}`, ...each].join("; ")}`);
  }
  return measured;
}

function ratesText(pairs: Readonly<Record<string, Pair>>): string {
  return Object.entries(pairs)
    .map(([kind, { full }]) => `${kind} ${Math.round(full.perSecond)}/s`)
    .join(", ");
}

/**
 * Stops all other gateways, so that they take no time from the measurement; null measures something else.
 * They run for a moment before, so that none is disconnected from its database for longer than one
 * measurement.
 */
export async function alone<Result>(
  subject: Subject | null,
  subjects: readonly Subject[],
  measure: () => Promise<Result>,
): Promise<Result> {
  const others = subjects.filter((each) => each !== subject);
  if (others.length > 0) await wait(BREATH_MS);
  for (const { gateway } of others) gateway.pause();
  try {
    if (subject !== null) await wait(CATCH_UP_MS);
    return await measure();
  } finally {
    for (const { gateway } of others) gateway.resume();
  }
}
