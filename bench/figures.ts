// From measurements to figures: each with the ceiling that it is held against, and their ratio.
import type { InProcess } from "./in-process.ts";
import type { RequestKind } from "./requests.ts";
import type { Pair, Round } from "./rounds.ts";
import { type Spread, spreadOf } from "./statistics.ts";

export type Figure = {
  readonly name: string;
  readonly unit: "/s" | "ms" | "ns";
  readonly value: Spread;
  /** Null for a figure that is itself a ceiling. */
  readonly ceiling: { readonly name: string; readonly value: Spread; readonly ratio: Spread } | null;
};

export const ECHO_NAMES = {
  orders: "bare signed echo, POST",
  reads: "bare signed echo, GET",
} as const;
export const REQUEST_NAMES = {
  orders: "durable orders, POST /api/v3/order",
  reads: "signed reads, GET /api/v3/account",
} as const;

export function wireFigures(rounds: readonly Round[]): Figure[] {
  const isProcessorTimeKnown = rounds.every(({ orders }) => orders.echo.cores !== null);
  return (["orders", "reads"] as const).flatMap((kind) => {
    const perSecond = (pair: Pair) => pair.full.perSecond;
    return [
      {
        name: ECHO_NAMES[kind],
        unit: "/s",
        value: spreadOf(rounds.map((round) => perSecond(round[kind].echo))),
        ceiling: null,
      },
      againstEcho(rounds, kind, { name: REQUEST_NAMES[kind], unit: "/s", of: perSecond }),
      ...(isProcessorTimeKnown
        ? [
            againstEcho(rounds, kind, {
              name: "  per second of processor time",
              unit: "/s",
              of: ({ full, cores }) => full.perSecond / (cores ?? Number.NaN),
            }),
          ]
        : []),
      againstEcho(rounds, kind, {
        name: "  p50 at half that load",
        unit: "ms",
        of: ({ half }) => half.p50Ms,
      }),
      againstEcho(rounds, kind, {
        name: "  p99 at half that load",
        unit: "ms",
        of: ({ half }) => half.p99Ms,
      }),
    ];
  });
}

export function inProcessFigures(measured: InProcess): Figure[] {
  const { decisionsPerSecond, signaturesPerSecond, tickNs, bareTickNs } = measured;
  return [
    against("engine decisions, decided and applied", "/s", decisionsPerSecond, {
      name: "bare HMAC-SHA256 signatures",
      value: signaturesPerSecond,
    }),
    against("tick that crosses nothing, 100,000 resting", "ns", tickNs, {
      name: "a look-up and two comparisons",
      value: bareTickNs,
    }),
  ];
}

export function startUpFigure(startUp: { readonly gateway: Spread; readonly echo: Spread }): Figure {
  return against("start to first answer, new data directory", "ms", startUp.gateway, {
    name: "bare signed echo, start",
    value: startUp.echo,
  });
}

/** The ratio is taken round by round: both sides of it were measured in the same seconds. */
function againstEcho(
  rounds: readonly Round[],
  kind: RequestKind,
  { name, unit, of }: { name: string; unit: Figure["unit"]; of: (pair: Pair) => number },
): Figure {
  const half = unit === "ms" ? " at half its load" : "";
  return {
    name,
    unit,
    value: spreadOf(rounds.map((round) => of(round[kind].gateway))),
    ceiling: {
      name: ECHO_NAMES[kind] + half,
      value: spreadOf(rounds.map((round) => of(round[kind].echo))),
      ratio: spreadOf(rounds.map((round) => of(round[kind].gateway) / of(round[kind].echo))),
    },
  };
}

function against(
  name: string,
  unit: Figure["unit"],
  value: Spread,
  ceiling: { readonly name: string; readonly value: Spread },
): Figure {
  const ratio = {
    median: value.median / ceiling.value.median,
    min: value.min / ceiling.value.max,
    max: value.max / ceiling.value.min,
  };
  return { name, unit, value, ceiling: { ...ceiling, ratio } };
}
