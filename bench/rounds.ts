// The interleaving: every round measures ceiling and gateway one right after the other, so that a ratio compares what the
// machine could do in the same seconds.
import type { Loaded } from "./load.ts";
import type { Options } from "./options.ts";
import type { Echo, Gateway, Sender } from "./processes.ts";
import { countCores } from "./processor-time.ts";
import type { RequestKind, Target } from "./requests.ts";

/** At saturation, and at half the rate of that. */
export type Pair = {
  readonly full: Loaded;
  readonly half: Loaded;
  /** How much of a core the server got at saturation; null where nobody tells. */
  readonly cores: number | null;
};
export type Round = { readonly [K in RequestKind]: { readonly [T in Target]: Pair } };

export type Parts = { readonly gateway: Gateway; readonly echo: Echo; readonly sender: Sender };

export type Measured = {
  readonly rounds: readonly Round[];
  /** Orders that were answered as filled, those of the warming up included. */
  readonly ordersAcknowledged: number;
};

/** A measurement that is no figure, and why. */
export class MeasurementFailed extends Error {}

const SATURATING_CONNECTIONS = 96;
/** Enough that a request that is due never waits for a connection, unless the server stalls. */
const SCHEDULED_CONNECTIONS = 256;
const WARM_SECONDS = 0.25;
/** The first runs of each kind are the compiler's, not counted. The gateway has more to compile, in the same core. */
const FIRST_SECONDS = { echo: 1, gateway: 4 };
/** After a pause the gateway catches up with its market, ms. */
const CATCH_UP_MS = 400;

export async function measureRounds(
  parts: Parts,
  { rounds, seconds }: Options,
  say: (text: string) => void,
): Promise<Measured> {
  const { gateway, echo, sender } = parts;
  let ordersAcknowledged = 0;

  async function load(target: Target, kind: RequestKind, runSeconds: number, perSecond: number | null) {
    const answer = await sender.run({
      port: target === "gateway" ? gateway.port : echo.port,
      target,
      kind,
      connections: perSecond === null ? SATURATING_CONNECTIONS : SCHEDULED_CONNECTIONS,
      seconds: runSeconds,
      warmSeconds: WARM_SECONDS,
      perSecond,
    });
    if (target === "gateway" && kind === "orders") ordersAcknowledged += answer.goodCount;
    if (answer.failure !== null || answer.loaded === null) {
      const gone = gateway.isRunning() ? "" : " (the gateway has stopped)";
      throw new MeasurementFailed(`${target} ${kind}: ${answer.failure}${gone}`);
    }
    return answer.loaded;
  }
  async function pair(target: Target, kind: RequestKind): Promise<Pair> {
    const coresUsed = countCores((target === "gateway" ? gateway : echo).pid);
    const full = await load(target, kind, seconds, null);
    const cores = coresUsed();
    return { full, half: await load(target, kind, seconds, full.perSecond / 2), cores };
  }

  say("warming up");
  for (const kind of ["orders", "reads"] as const) {
    await load("gateway", kind, FIRST_SECONDS.gateway, null);
    await load("echo", kind, FIRST_SECONDS.echo, null);
  }
  const measured: Round[] = [];
  while (measured.length < rounds) {
    gateway.pause();
    const echoed = { orders: await pair("echo", "orders"), reads: await pair("echo", "reads") };
    gateway.resume();
    await new Promise((resolve) => setTimeout(resolve, CATCH_UP_MS));
    const answered = { orders: await pair("gateway", "orders"), reads: await pair("gateway", "reads") };
    measured.push({
      orders: { echo: echoed.orders, gateway: answered.orders },
      reads: { echo: echoed.reads, gateway: answered.reads },
    });
    const rate = ({ full }: Pair) => Math.round(full.perSecond);
    say(
      `round ${measured.length} of ${rounds}: echo ${rate(echoed.orders)}/s, orders ${rate(answered.orders)}/s, ` +
        `echo ${rate(echoed.reads)}/s, reads ${rate(answered.reads)}/s`,
    );
  }
  return { rounds: measured, ordersAcknowledged };
}
