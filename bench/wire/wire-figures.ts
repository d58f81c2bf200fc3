// The figures of the rounds: the bare echo, and every gateway against it.
import type { Figure, Section, Unit } from "../figures.ts";
import { ECHO_KINDS, type EchoKind, type GatewayPairs, type Pair, type Round } from "../rounds.ts";
import { spreadOf } from "../statistics.ts";
import { STORE_TITLES, type StoreName } from "../stores.ts";
import type { RequestKind } from "./requests.ts";

export const ECHO_NAMES: { readonly [K in EchoKind]: string } = {
  orders: "bare signed echo, POST",
  reads: "bare signed echo, GET",
};
export const REQUEST_NAMES: { readonly [K in RequestKind]: string } = {
  orders: "durable orders, POST /api/v3/order",
  futures: "durable futures orders, POST /fapi/v1/order",
  signals: "signals to EXECUTED, POST /bot/v1/spot/orders",
  reads: "signed reads, GET /api/v3/account",
};

/** The value of the echo that a request is compared with. */
const CEILINGS: { readonly [K in RequestKind]: EchoKind } = {
  orders: "orders",
  futures: "orders",
  signals: "orders",
  reads: "reads",
};
/** The rows of a store's own table; signals have a table of their own. */
const EXCHANGE_KINDS = ["orders", "futures", "reads"] as const satisfies readonly RequestKind[];

type Measure = {
  readonly name: string;
  readonly unit: Unit;
  readonly of: (pair: Pair) => number;
  readonly aim: string | null;
};

type Aims = { readonly rate: string | null; readonly p99: string | null };

const AIMS: Readonly<Record<RequestKind, Aims>> = {
  orders: { rate: "0.4 of the echo", p99: "below 15 ms" },
  futures: { rate: "0.4 of the echo", p99: "below 15 ms" },
  signals: { rate: null, p99: null },
  reads: { rate: null, p99: null },
};
const NO_AIMS: Aims = { rate: null, p99: null };

/** A ceiling of each kind of request. */
export function echoSection(rounds: readonly Round[]): Section {
  const figures = ECHO_KINDS.flatMap((kind) =>
    measuresOf(rounds, ECHO_NAMES[kind], NO_AIMS).map(
      ({ name, unit, of, aim }): Figure => ({
        name,
        unit,
        value: spreadOf(rounds.map(({ echo }) => of(echo[kind]))),
        aim,
        against: null,
      }),
    ),
  );
  return { title: "The ceiling: a bare node:http server", figures, missing: null };
}

export function storeSection(rounds: readonly Round[], store: StoreName): Section {
  const figures = EXCHANGE_KINDS.flatMap((kind) => figuresOf(rounds, store, kind));
  return { title: `The gateway on ${STORE_TITLES[store]}`, figures, missing: null };
}

/** Signals, each answered once it is executed. */
export function signalSection(rounds: readonly Round[], store: StoreName): Section {
  return {
    title: `Signals on ${STORE_TITLES[store]}`,
    figures: figuresOf(rounds, store, "signals"),
    missing: null,
  };
}

function figuresOf(rounds: readonly Round[], store: StoreName, kind: RequestKind): Figure[] {
  return measuresOf(rounds, REQUEST_NAMES[kind], AIMS[kind]).map((measure) =>
    againstEcho(rounds, { store, kind, measure }),
  );
}

function measuresOf(rounds: readonly Round[], name: string, aims: Aims): readonly Measure[] {
  const isProcessorTimeKnown = rounds.every(({ echo }) => echo.orders.cores !== null);
  const perProcessorSecond: Measure = {
    name: "  per second of processor time",
    unit: "/s",
    of: ({ full, cores }) => full.perSecond / (cores ?? Number.NaN),
    aim: null,
  };
  return [
    { name, unit: "/s", of: ({ full }) => full.perSecond, aim: aims.rate },
    ...(isProcessorTimeKnown ? [perProcessorSecond] : []),
    { name: "  p50 at half that load", unit: "ms", of: ({ half }) => half.p50Ms, aim: null },
    { name: "  p99 at half that load", unit: "ms", of: ({ half }) => half.p99Ms, aim: aims.p99 },
  ];
}

/** The ratio is taken round by round: both sides of it were measured in the same seconds. */
function againstEcho(
  rounds: readonly Round[],
  { store, kind, measure }: { store: StoreName; kind: RequestKind; measure: Measure },
): Figure {
  const { name, unit, of, aim } = measure;
  const measured = rounds.map((round) => of(gatewayOf(round, store)[kind]));
  const ceiling = CEILINGS[kind];
  const echoed = rounds.map((round) => of(round.echo[ceiling]));
  return {
    name,
    unit,
    value: spreadOf(measured),
    aim,
    against: {
      name: ECHO_NAMES[ceiling] + (unit === "ms" ? " at half its load" : ""),
      value: spreadOf(echoed),
      ratio: spreadOf(measured.map((value, index) => value / (echoed[index] ?? Number.NaN))),
    },
  };
}

export function gatewayOf({ gateways }: Round, store: StoreName): GatewayPairs {
  const pairs = gateways.get(store);
  if (pairs === undefined) throw new Error(`every round measures every store: ${store}`);
  return pairs;
}
