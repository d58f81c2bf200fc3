// The figures of the rounds: the bare echo, and every gateway against it.
import { type Figure, figureOf, percent, type Section, type Unit } from "../figures.ts";
import {
  ECHO_KINDS,
  type EchoKind,
  type GatewayPairs,
  KINDS,
  type Kind,
  type Pair,
  type Round,
} from "../rounds.ts";
import { median } from "../statistics.ts";
import { STORE_TITLES, type StoreName } from "../stores.ts";
import type { RequestKind } from "./requests.ts";

export const ECHO_NAMES: { readonly [K in EchoKind]: string } = {
  orders: "bare signed echo, POST",
  reads: "bare signed echo, GET",
};
export const REQUEST_NAMES: { readonly [K in RequestKind]: string } = {
  orders: "durable orders, POST /api/v3/order",
  futures: "durable futures orders, POST /fapi/v1/order",
  strict: "durable orders under strict",
  signals: "signals to EXECUTED, POST /bot/v1/spot/orders",
  reads: "signed reads, GET /api/v3/account",
};

/** The value of the echo that a request is compared with. */
const CEILINGS: { readonly [K in Kind]: EchoKind } = {
  orders: "orders",
  futures: "orders",
  signals: "orders",
  reads: "reads",
};
/** The rows of a store's own table; signals have a table of their own. */
const EXCHANGE_KINDS = ["orders", "futures", "reads"] as const satisfies readonly Kind[];

type Measure = {
  readonly name: string;
  readonly unit: Unit;
  readonly of: (pair: Pair) => number;
  readonly aim: string | null;
};

type Aims = { readonly rate: string | null; readonly p99: string | null };

const AIMS: Readonly<Record<Kind, Aims>> = {
  orders: { rate: "0.4 of the echo", p99: "below 15 ms" },
  futures: { rate: "0.33 of the echo", p99: "below 15 ms" },
  signals: { rate: "0.2 of the echo", p99: "below 15 ms" },
  reads: { rate: "0.5 of the echo", p99: "below 15 ms" },
};
export const NO_AIMS: Aims = { rate: null, p99: null };

/** A ceiling of each kind of request. */
export function echoSection(rounds: readonly Round[]): Section {
  const figures = ECHO_KINDS.flatMap((kind) =>
    measuresOf(rounds, ECHO_NAMES[kind], NO_AIMS).map((measure) =>
      figureOf(rounds, { ...measure, of: ({ echo }) => measure.of(echo[kind]) }),
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

function figuresOf(rounds: readonly Round[], store: StoreName, kind: Kind): Figure[] {
  const echoed = CEILINGS[kind];
  return measuresOf(rounds, REQUEST_NAMES[kind], AIMS[kind]).map((measure) =>
    figureOf(rounds, {
      ...measure,
      of: (round) => measure.of(gatewayOf(round, store)[kind]),
      ceiling: {
        name: ECHO_NAMES[echoed] + (measure.unit === "ms" ? " at half its load" : ""),
        of: ({ echo }) => measure.of(echo[echoed]),
      },
    }),
  );
}

function measuresOf(rounds: readonly Round[], name: string, aims: Aims): readonly Measure[] {
  return measures(
    name,
    aims,
    rounds.every(({ echo }) => echo.orders.cores !== null),
  );
}

export function measures(name: string, aims: Aims, isProcessorTimeKnown: boolean): readonly Measure[] {
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

export function gatewayOf({ gateways }: Round, store: StoreName): GatewayPairs {
  const pairs = gateways.get(store);
  if (pairs === undefined) throw new Error(`every round measures every store: ${store}`);
  return pairs;
}

/** Below this share of its core a saturated server was kept from it by others. */
const CORES_MIN = 0.9;
/** Above this share of its core the sender may be what limits a closed loop. */
const SENDER_BUSY_MAX = 0.9;
/** Above this the sender's own lateness shows in an open loop's latencies, ms. */
const SENDER_LATE_MS_MAX = 1;

/** More than this refused at saturation, and the rate is that of a server which defends itself. */
const SHED_SHARE_MAX = 0.01;

/** One line for each kind of load, with a warning for every figure that should not be trusted. */
export function loadNotes(rounds: readonly Round[], stores: readonly StoreName[]): string[] {
  const ofEcho = ECHO_KINDS.map((kind) =>
    loadNote(
      ECHO_NAMES[kind],
      rounds.map(({ echo }) => echo[kind]),
    ),
  );
  const ofGateways = KINDS.flatMap((kind) =>
    stores.map((store) =>
      loadNote(
        `${REQUEST_NAMES[kind]} on ${STORE_TITLES[store]}`,
        rounds.map((round) => gatewayOf(round, store)[kind]),
      ),
    ),
  );
  return [...ofEcho, ...ofGateways];
}

function loadNote(name: string, pairs: readonly Pair[]): string {
  const cores = median(pairs.map((pair) => pair.cores ?? Number.NaN));
  const busy = median(pairs.map(({ full }) => full.senderBusy));
  const capacity = median(pairs.map(({ full }) => full.perSecond / full.senderBusy));
  const late = median(pairs.map(({ half }) => half.senderLateP99Ms));
  const shed = median(pairs.map(({ full }) => full.shedShare));
  const shedAtHalf = Math.max(...pairs.map(({ half }) => half.shedShare));
  return [
    `${name}: ${Number.isNaN(cores) ? "" : `the server used ${percent(cores)} of a core, `}the sender ` +
      `${percent(busy)} (good for about ${Math.round(capacity / 1_000)},000/s) and was ${late.toFixed(2)} ms late at p99`,
    ...(cores < CORES_MIN
      ? ["NOISY: a saturated server was kept from its core by others, or waited for its database"]
      : []),
    ...(shed > SHED_SHARE_MAX ? [`SHED: ${percent(shed)} of the answers at saturation were 429 or 503`] : []),
    ...(shedAtHalf > 0 ? [`SHED: up to ${(shedAtHalf * 100).toFixed(2)} % at half load`] : []),
    ...(busy > SENDER_BUSY_MAX ? ["THE SENDER may be the limit of this rate"] : []),
    ...(late > SENDER_LATE_MS_MAX ? ["THE SENDER'S own lateness is in these latencies"] : []),
  ].join(". ");
}
