// The connection from the copier to the venue. Each request has a fate, which is drawn when it arrives. An
// accepted request goes on to the venue even if its sender is gone, as on a real network. The connection
// counts how often the venue has accepted each client id. exchange-behavior.ts adds what a real exchange does
// and the venue does not. WebSockets are cut after a drawn time, and carry nothing about hidden orders.
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import {
  type Answer,
  FaultProxy,
  type Passing,
  type Rule,
  type Send,
} from "../../support/servers/fault-proxy.ts";
import { type Chances, drawFate } from "../harness/fates.ts";
import { type BehaviorOptions, ExchangeBehavior, requestOf, signedAgain } from "./exchange-behavior.ts";

/**
 * The fates of a request:
 *
 *   PASSED         nothing happens to it
 *   HELD           it is delayed for a moment
 *   LATE           it is delayed so long that the venue may find it too old, and its sender may have given up
 *   CUT_BEFORE     the connection is closed; the venue never receives it
 *   CUT_AFTER      the connection is closed when the venue has answered
 *   CUT_LATE       the connection is closed at once; the venue receives it later, in time to execute it
 *   SILENT         the venue's answer is delayed for longer than any sender waits
 *   FAULT_BEFORE   answered 503; the venue never receives it
 *   FAULT_AFTER    answered 503 when the venue has executed it
 *   LIMITED        answered 429 with Retry-After; the venue never receives it
 *   BANNED         answered 418 likewise
 */
export const FATES = [
  "PASSED",
  "HELD",
  "LATE",
  "CUT_BEFORE",
  "CUT_AFTER",
  "CUT_LATE",
  "SILENT",
  "FAULT_BEFORE",
  "FAULT_AFTER",
  "LIMITED",
  "BANNED",
] as const;
export type Fate = (typeof FATES)[number];
/**
 * Those that every run meets, however few requests it comes to; the others stop all requests for a second or
 * longer.
 */
export const SURE_FATES = FATES.filter((fate) => !["PASSED", "SILENT", "LIMITED", "BANNED"].includes(fate));

/**
 * Out of a hundred, of signed requests; the rest passes. Of the last two there are few, since after a ban,
 * and once a second account was limited, nobody is asked anything for a second.
 */
const CHANCES: Chances<Fate> = [
  ["HELD", 8],
  ["LATE", 1],
  ["CUT_BEFORE", 3],
  ["CUT_AFTER", 5],
  ["CUT_LATE", 3],
  ["SILENT", 0.4],
  ["FAULT_BEFORE", 2],
  ["FAULT_AFTER", 4],
  ["LIMITED", 0.12],
  ["BANNED", 0.04],
];
/** So many signed requests after each other one has the next of the fates that no run may miss. */
const EVERY_FATE_STEP = 8;
const HELD_MS_MAX = 250;
/** On both sides of how old the venue lets a request become. */
const LATE_MS_MIN = 1_000;
const LATE_MS_MAX = 6_000;
/** Less than how old the venue lets a request become. */
const CUT_LATE_MS_MAX = 2_700;
const SILENT_MS = 8_000;
/** How long a socket is left alone at most. */
const SOCKET_MS_MAX = 60_000;
/** How long an event is on its way: an order is hidden by the time its first one arrives. */
const EVENT_MS = 50;

/** How an exchange says that it does not know itself, and that it was asked too much. */
const UNKNOWN: Answer = answerOf(503, -1007, "Timeout waiting for response from backend server.");
const LIMITED: Answer = answerOf(429, -1003, "Too many requests; please use less.", { "retry-after": "1" });

export type FaultyWay = Awaited<ReturnType<typeof openFaultyWay>>;

/**
 * Opens a way to a venue on a free port of the loopback address. `draw` decides the fates; those that a run
 * must not miss by chance are in `due`: every eighth signed request has the next of them. Without `cuts`
 * every request passes.
 */
export async function openFaultyWay(
  venueUrl: string,
  draw: () => number,
  {
    due = [],
    behavior = {},
    cuts = true,
  }: {
    readonly due?: readonly Fate[];
    readonly behavior?: BehaviorOptions;
    readonly cuts?: boolean;
  } = {},
) {
  const fates = Object.fromEntries(FATES.map((fate) => [fate, 0])) as Record<Fate, number>;
  const exchange = new ExchangeBehavior(behavior, draw);
  let isMended = !cuts;
  let signed = 0;
  let isWithholding = false;
  let withheld = 0;

  function nextFate(): Fate {
    const drawn = drawFate(CHANCES, draw) ?? "PASSED";
    signed += 1;
    return (signed % EVERY_FATE_STEP === 0 && due[signed / EVERY_FATE_STEP - 1]) || drawn;
  }

  /** What the exchange says to a request. */
  async function through(passing: Passing, send: Send): Promise<Answer> {
    const { path, query, headers } = passing;
    const answered = await exchange.answer(requestOf(passing), async (asked, isChanged) => {
      if (!isChanged) return await send(passing);
      const text = signedAgain(asked.parameters, behavior.reuseIds?.secretOf(asked.apiKey ?? "") ?? "");
      const isBody = asked.method === "POST" && query === "";
      const [newQuery, body] = isBody ? ["", text] : [text, ""];
      return await send({ method: asked.method, path, query: newQuery, headers, body: Buffer.from(body) });
    });
    if (isWithholding && passing.method === "POST") {
      withheld += 1;
      return await new Promise(() => {});
    }
    return answered;
  }

  const acceptor = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  /** Takes a socket to the venue's. */
  function join(incoming: IncomingMessage, socket: Duplex, head: Buffer): true {
    acceptor.handleUpgrade(incoming, socket, head, (client) => {
      const server = new WebSocket(`${venueUrl.replace(/^http/, "ws")}${incoming.url}`);
      const opened = new Promise<void>((resolve) => void server.once("open", () => resolve()));
      client.on("message", (data) => void opened.then(() => server.send(String(data))));
      server.on("message", (data) => {
        setTimeout(() => {
          const text = exchange.shown(String(data));
          if (text !== null) client.send(text);
        }, EVENT_MS).unref();
      });
      const cut = setTimeout(() => {
        if (isMended) return;
        exchange.met.CUT_STREAM += 1;
        client.terminate();
      }, draw() * SOCKET_MS_MAX);
      client.on("error", () => {});
      server.on("error", () => {});
      client.once("close", () => {
        clearTimeout(cut);
        server.terminate();
      });
      server.once("close", () => client.terminate());
    });
    return true;
  }

  const proxy = await FaultProxy.open(venueUrl, {
    join,
    through,
    rule({ headers }) {
      if (headers["x-mbx-apikey"] === undefined) return {};
      const fate = isMended ? "PASSED" : nextFate();
      fates[fate] += 1;
      return RULES[fate](draw);
    },
  });
  return {
    /** What the copier takes for the venue. */
    url: proxy.url,
    /** How many requests had each fate. */
    fates,
    /** How often the venue has answered a placement under a client id with success. */
    accepted: exchange.accepted as ReadonlyMap<string, number>,
    /** What the exchange does beside what the venue does. */
    exchange,
    /** From now on placements are carried out and never answered, until `answerAgain`. */
    withhold(): void {
      isWithholding = true;
    },
    answerAgain(): void {
      isWithholding = false;
    },
    /** Placements that were carried out and not answered. */
    get withheld(): number {
      return withheld;
    },
    /** From now on everything passes. */
    mend(): void {
      isMended = true;
      exchange.mend();
    },
    close: () => proxy[Symbol.asyncDispose](),
  };
}

const RULES: Readonly<Record<Fate, (draw: () => number) => Rule>> = {
  PASSED: () => ({}),
  HELD: (draw) => ({ hold: draw() * HELD_MS_MAX }),
  LATE: (draw) => ({ hold: LATE_MS_MIN + draw() * (LATE_MS_MAX - LATE_MS_MIN) }),
  CUT_BEFORE: () => ({ cut: "BEFORE" }),
  CUT_AFTER: () => ({ cut: "AFTER" }),
  CUT_LATE: (draw) => ({ cut: "AT_ONCE", hold: draw() * CUT_LATE_MS_MAX }),
  SILENT: () => ({ delayMs: SILENT_MS }),
  FAULT_BEFORE: () => ({ answer: UNKNOWN }),
  FAULT_AFTER: () => ({ answer: UNKNOWN, isForwarded: true }),
  LIMITED: () => ({ answer: LIMITED }),
  BANNED: () => ({ answer: { ...LIMITED, status: 418 } }),
};

function answerOf(status: number, code: number, msg: string, headers: Answer["headers"] = {}): Answer {
  return { status, headers, body: JSON.stringify({ code, msg }) };
}
