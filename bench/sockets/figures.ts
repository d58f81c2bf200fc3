// The figures of the exchange's sockets, each against its ceiling.
import {
  against,
  connectionMemory,
  countText,
  type Figure,
  figureOf,
  percent,
  type Section,
  sum,
} from "../figures.ts";
import { median, spreadOf } from "../statistics.ts";
import { STORE_TITLES } from "../stores.ts";
import type { Broadcast } from "../streams/streams.ts";
import type { Loaded } from "../wire/load.ts";
import type { Latency, Probed } from "./probe.ts";
import type {
  ConnectionsMeasured,
  SocketRound,
  SocketsMeasured,
  StoreSockets,
  TradeRound,
} from "./sockets.ts";

const BARE = "bare ws broadcast of trades";
const PER_CORE = "  per second of processor time";
const REST = "the same over REST with nobody subscribed";
/** Above this share of its core the receiving process may be what limits the rate. */
const BUSY_MAX = 0.9;

/** Market messages, what a connection takes, and the figures of each store. */
export function socketSections(measured: SocketsMeasured | null): Section[] {
  if (measured === null) {
    const missing = "not measured: connections come from many loopback addresses, which only Linux has";
    return [{ title: "Sockets", figures: [], missing }];
  }
  const { sizes, trades, stores } = measured;
  return [
    {
      title: `Sockets: trades to ${countText(sizes.connections)} connections, and user data connections`,
      figures: [...tradeFigures(trades), ...connectionFigures(measured)],
      missing: null,
    },
    ...stores.map((store) => storeSection(store, sizes)),
  ];
}

function tradeFigures(rounds: readonly TradeRound[]): Figure[] {
  const bare = { name: BARE, of: ({ bareTrades }: TradeRound) => bareTrades.perSecond };
  const bareCore = { name: BARE, of: ({ bareTrades }: TradeRound) => bareTrades.perProcessorSecond };
  const rate = { unit: "/s", aim: null } as const;
  const name = "trades of the gateway's market streams";
  const [aim, ceiling] = ["0.9 of bare ws", bareCore];
  return [
    figureOf(rounds, { ...rate, ...bare }),
    figureOf(rounds, { ...rate, name: PER_CORE, of: bareCore.of }),
    figureOf(rounds, { ...rate, name, of: ({ trades }) => trades.perSecond, ceiling: bare }),
    figureOf(rounds, {
      ...rate,
      name: PER_CORE,
      of: ({ trades }) => trades.perProcessorSecond,
      aim,
      ceiling,
    }),
    figureOf(rounds, {
      ...{ name: "  of what was sent, arrived", unit: "%", aim: "all" },
      of: ({ trades }) => trades.arrivedShare * 100,
    }),
  ];
}

/**
 * Memory of each connection, many against few, and the time until all that come back together are subscribed.
 */
function connectionFigures({ sizes, gateway, bare }: SocketsMeasured): Figure[] {
  const { returning } = sizes;
  const returned = (name: string, of: (listening: ConnectionsMeasured["returned"][number]) => number) => {
    const ceiling = { name: "bare ws connections, a request each", value: spreadOf(bare.returned.map(of)) };
    return against({ name, unit: "ms", value: spreadOf(gateway.returned.map(of)) }, ceiling);
  };
  return [
    ...connectionMemory("user data connection", sizes, gateway, { ...bare, name: "bare ws connection" }),
    returned(
      `${countText(returning)} connections that come back together, subscribed, p50`,
      ({ p50Ms }) => p50Ms,
    ),
    returned("  p99", ({ p99Ms }) => p99Ms),
    returned("  all", ({ lastMs }) => lastMs),
  ];
}

const restOf = ({ rest }: SocketRound): Loaded => rest;

function storeSection(
  { store, rounds }: StoreSockets,
  { others, traders }: SocketsMeasured["sizes"],
): Section {
  const rates = (name: string, of: (round: SocketRound) => Loaded, aim: string | null = null): Figure[] => {
    const perSecond = (what: typeof of) => (round: SocketRound) => what(round).perSecond;
    const ofCore = (what: typeof of) => (round: SocketRound) =>
      what(round).perSecond / (what(round).serverCores ?? Number.NaN);
    const isKnown = rounds.every(({ rest }) => rest.serverCores !== null);
    const figure = (row: Pick<Figure, "name" | "aim">, measure: typeof perSecond) => {
      const ceiling = of === restOf ? null : { name: REST, of: measure(restOf) };
      return figureOf(rounds, { ...row, unit: "/s", of: measure(of), ceiling });
    };
    return [
      figure({ name, aim }, perSecond),
      ...(isKnown ? [figure({ name: PER_CORE, aim: null }, ofCore)] : []),
    ];
  };
  const latencies = (when: string, of: (round: SocketRound) => Probed): Figure[] =>
    (["p50Ms", "p99Ms"] as const).flatMap((quantile) => {
      const measured = (what: (probed: Probed) => Latency) => (round: SocketRound) =>
        what(of(round))[quantile];
      const name = quantile === "p50Ms" ? "p50" : "p99";
      return [
        figureOf(rounds, {
          ...{ name: `order sent to its event, ${when}, ${name}`, unit: "ms" },
          of: measured(({ event }) => event),
          ceiling: { name: "its answer over REST", of: measured(({ answer }) => answer) },
        }),
        figureOf(rounds, {
          ...{ name: "  from the answer to the event", unit: "ms" },
          of: measured(({ eventAfterAnswer }) => eventAfterAnswer),
          aim: quantile === "p99Ms" ? "below 5 ms" : null,
        }),
      ];
    });
  return {
    title: `Sockets: orders and user data on ${STORE_TITLES[store]}`,
    figures: [
      ...rates("orders over REST with nobody subscribed", restOf),
      ...rates("orders over the WebSocket API", ({ sockets }) => sockets, "above 1.0 of REST"),
      figureOf(rounds, {
        ...{ name: "  the same, against a bare ws echo that verifies them", unit: "/s", aim: null },
        of: ({ sockets }) => sockets.perSecond,
        ceiling: { name: "bare signed ws echo", of: ({ echo }) => echo.perSecond },
      }),
      ...rates(
        `orders over REST, ${countText(others)} other accounts subscribed`,
        ({ besideOthers }) => besideOthers,
        "0.97 of nobody",
      ),
      ...rates(`  the ${countText(traders)} trading accounts subscribed`, ({ ofTraders }) => ofTraders),
      ...latencies("idle", ({ idle }) => idle),
      ...latencies("at half load", ({ half }) => half),
    ],
    missing: null,
  };
}

/** The real and the simulated parts, and the reliability of the rates. */
export function socketNotes(measured: SocketsMeasured | null): string[] {
  if (measured === null) return [];
  const { trades, stores, sizes, gateway } = measured;
  const busy = (of: (round: TradeRound) => Broadcast) =>
    median(trades.map((round) => of(round).receiversBusy));
  const receivers = { bare: busy(({ bareTrades }) => bareTrades), gateway: busy(({ trades: own }) => own) };
  const bytes = median(trades.map(({ trades: own }) => own.bytesPerMessage));
  return [
    `sockets: trades of ${Math.round(bytes)} bytes, raw, in turns as fast as the system takes them; real are the gateway's ` +
      "upgrades, sessions and fan-out, made up is upstream. The receivers' process was busy: bare ws " +
      `${percent(receivers.bare)}, the gateway ${percent(receivers.gateway)}` +
      (Math.max(receivers.bare, receivers.gateway) > BUSY_MAX
        ? ". THE RECEIVERS may be the limit of a rate: read the processor time"
        : ""),
    ...stores.map(({ store, rounds, acknowledged }) => {
      const of = (what: (round: SocketRound) => number) => median(rounds.map(what));
      const senders = [({ sockets }: SocketRound) => sockets, ({ rest }: SocketRound) => rest].map((rate) =>
        percent(of((round) => rate(round).senderBusy)),
      );
      return (
        `sockets on ${STORE_TITLES[store]}: the sender was busy over sockets ${senders[0]}, over REST ${senders[1]}; the traders' ` +
        `subscriptions brought ${countText(of(({ events }) => events))} events a round, read on the sender's core; ` +
        `${countText(of(({ idle }) => idle.orders))} orders a round were timed idle and ${countText(of(({ half }) => half.orders))} at half ` +
        `load, each with the event of its fill; ${acknowledged} orders acknowledged, as many in the database`
      );
    }),
    `memory per user data connection: the program on the simulated market with ${countText(sizes.many)} connections, each subscribed to an ` +
      `account of its own, against the same with ${countText(sizes.few)}, garbage collected; bare ws holds the connections only. ` +
      "Connections that come back connect at once, more than the system's queue of new connections holds, and wait a second each " +
      `time that the server is too busy to subscribe them: ${countText(sum(gateway.returned.map(({ retries }) => retries)))} times at the gateway`,
  ];
}
