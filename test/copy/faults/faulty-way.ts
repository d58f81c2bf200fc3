// The way from the copier to the venue, on which each request has a fate that is drawn when it comes:
//
//   PASSED         nothing happens to it
//   HELD           it is held back for a moment
//   LATE           it is held back for so long that the venue may find it too old, and its sender may have given up
//   CUT_BEFORE     hung up on; the venue sees nothing of it
//   CUT_AFTER      hung up on when the venue has answered
//   CUT_LATE       hung up on at once; the venue gets it later, while it would still carry it out
//   SILENT         the venue's answer is held back for longer than anybody waits
//   FAULT_BEFORE   answered 503; the venue sees nothing of it
//   FAULT_AFTER    answered 503 when the venue has carried it out
//   LIMITED        answered 429 with Retry-After; the venue sees nothing of it
//   BANNED         answered 418 likewise
//
// A request that the way has taken goes on to the venue whatever becomes of its sender, as on a real network. The way counts which
// client ids the venue has accepted how often. What a real exchange does and the venue does not is in exchange-behavior.ts.
import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type BehaviorOptions,
  ExchangeBehavior,
  signedAgain,
  type WayAnswer,
  type WayRequest,
} from "./exchange-behavior.ts";

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
/** Those that every run meets, however few requests it comes to; the others stop all requests for a second or longer. */
export const SURE_FATES = FATES.filter((fate) => !["PASSED", "SILENT", "LIMITED", "BANNED"].includes(fate));

/**
 * Out of a hundred, of signed requests; the rest passes. Of the last two there are few, since after a ban, and once a second account
 * was limited, nobody is asked anything for a second.
 */
const CHANCES: readonly (readonly [Exclude<Fate, "PASSED">, number])[] = [
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
const RETRY_AFTER_SECONDS = "1";

/** An answer of exchangeInfo is the longest. */
const BODY_BYTES_MAX = 8 * 1_024 * 1_024;
const KEEP_ALIVE_MS = 75_000;
const REQUESTS_MAX = 2_000;

/** How an exchange says that it does not know itself. */
const UNKNOWN_BODY = JSON.stringify({
  code: -1007,
  msg: "Timeout waiting for response from backend server.",
});
const LIMITED_BODY = JSON.stringify({ code: -1003, msg: "Too many requests; please use less." });

export type FaultyWay = {
  /** What the copier takes for the venue. */
  readonly url: string;
  /** How many requests had each fate. */
  readonly fates: Readonly<Record<Fate, number>>;
  /** How often the venue has answered a placement under a client id with success. */
  readonly accepted: ReadonlyMap<string, number>;
  /** What the exchange does beside what the venue does. */
  readonly exchange: ExchangeBehavior;
  /** From now on placements are carried out and never answered, until `answerAgain`. */
  withhold(): void;
  answerAgain(): void;
  /** Placements that were carried out and not answered. */
  readonly withheld: number;
  /** From now on everything passes. */
  mend(): void;
  close(): Promise<void>;
};

/**
 * Opens a way to a venue on a free port of the loopback address. `draw` decides the fates; those that a run must not miss by chance
 * are in `due`: every eighth signed request has the next of them. Without `cuts` every request passes.
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
): Promise<FaultyWay> {
  const target = new URL(venueUrl);
  const agent = new Agent({ keepAlive: true });
  const fates = Object.fromEntries(FATES.map((fate) => [fate, 0])) as Record<Fate, number>;
  const exchange = new ExchangeBehavior(behavior, draw);
  let isMended = !cuts;
  let underWay = 0;
  let signed = 0;
  let isWithholding = false;
  let withheld = 0;

  const server = createServer(async (incoming, answer) => {
    const isSigned = incoming.headers["x-mbx-apikey"] !== undefined;
    const body = await bodyOf(incoming).catch(() => null);
    if (body === null || underWay > REQUESTS_MAX) return void answer.destroy();
    const fate = isSigned && !isMended ? nextFate() : "PASSED";
    if (isSigned) fates[fate] += 1;
    underWay += 1;
    try {
      await meet(fate, { incoming, body, answer });
    } catch {
      // The venue has hung up, or the way is closed: so is its sender.
      answer.destroy();
    } finally {
      underWay -= 1;
    }
  });

  function nextFate(): Fate {
    const drawn = drawFate(draw);
    signed += 1;
    return (signed % EVERY_FATE_STEP === 0 && due[signed / EVERY_FATE_STEP - 1]) || drawn;
  }

  type Message = {
    readonly incoming: IncomingMessage;
    readonly body: Buffer;
    readonly answer: ServerResponse;
  };

  async function meet(fate: Fate, message: Message): Promise<void> {
    const { answer } = message;
    switch (fate) {
      case "CUT_BEFORE":
        answer.destroy();
        return;
      case "FAULT_BEFORE":
        end(answer, 503, UNKNOWN_BODY);
        return;
      case "LIMITED":
        end(answer, 429, LIMITED_BODY, { "retry-after": RETRY_AFTER_SECONDS });
        return;
      case "BANNED":
        end(answer, 418, LIMITED_BODY, { "retry-after": RETRY_AFTER_SECONDS });
        return;
      case "CUT_LATE":
        answer.destroy();
        await pause(draw() * CUT_LATE_MS_MAX);
        break;
      case "HELD":
        await pause(draw() * HELD_MS_MAX);
        break;
      case "LATE":
        await pause(LATE_MS_MIN + draw() * (LATE_MS_MAX - LATE_MS_MIN));
        break;
      default:
    }
    const answered = await forward(message);
    if (isWithholding && message.incoming.method === "POST") withheld += 1;
    else if (fate === "CUT_AFTER") answer.destroy();
    else if (fate === "FAULT_AFTER") end(answer, 503, UNKNOWN_BODY);
    else {
      if (fate === "SILENT") await pause(SILENT_MS);
      end(answer, answered.status, answered.body, answered.headers);
    }
  }

  /** What the exchange says to it. */
  async function forward({ incoming, body }: Message): Promise<WayAnswer> {
    const { method = "GET", url: target = "/" } = incoming;
    const [path = "", query = ""] = target.split("?", 2);
    const apiKey = incoming.headers["x-mbx-apikey"];
    const request: WayRequest = {
      ...{ method, path, parameters: new URLSearchParams([query, body.toString("latin1")].join("&")) },
      apiKey: typeof apiKey === "string" ? apiKey : null,
    };
    return await exchange.answer(request, async (asked, isChanged) => {
      if (!isChanged) return await send(incoming, { method, target, body });
      const text = signedAgain(asked.parameters, behavior.reuseIds?.secretOf(asked.apiKey ?? "") ?? "");
      const isBody = asked.method === "POST" && query === "";
      return await send(incoming, {
        ...{ method: asked.method, target: isBody ? path : `${path}?${text}` },
        body: Buffer.from(isBody ? text : ""),
      });
    });
  }

  async function send(
    { headers }: IncomingMessage,
    {
      method,
      target: path,
      body,
    }: { readonly method: string; readonly target: string; readonly body: Buffer },
  ): Promise<WayAnswer> {
    const { connection: _connection, host: _host, "transfer-encoding": _coding, ...kept } = headers;
    // Of what is hidden the text has to be read.
    const { "accept-encoding": _encoding, ...plain } = kept;
    const sent = request({
      ...{ agent, host: target.hostname, port: target.port, method, path },
      headers: { ...plain, "content-length": body.length },
    });
    sent.end(body);
    const [answered] = (await once(sent, "response")) as [IncomingMessage];
    const text = await bodyOf(answered);
    const {
      connection: _closing,
      "transfer-encoding": _chunks,
      "keep-alive": _kept,
      ...told
    } = answered.headers;
    return { status: answered.statusCode ?? 0, body: text, headers: told };
  }

  // Longer than the copier keeps an idle connection: what is cut is cut by the faults alone.
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    fates,
    accepted: exchange.accepted,
    exchange,
    withhold() {
      isWithholding = true;
    },
    answerAgain() {
      isWithholding = false;
    },
    get withheld() {
      return withheld;
    },
    mend() {
      isMended = true;
      exchange.mend();
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      agent.destroy();
      await closed;
    },
  };
}

function drawFate(draw: () => number): Fate {
  let drawn = draw() * 100;
  for (const [fate, chance] of CHANCES) {
    if (drawn < chance) return fate;
    drawn -= chance;
  }
  return "PASSED";
}

function end(
  answer: ServerResponse,
  status: number,
  body: string | Buffer,
  headers: Readonly<Record<string, string | string[] | undefined>> = {},
): void {
  if (answer.destroyed) return;
  const told = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
  answer.writeHead(status, {
    "content-type": "application/json;charset=UTF-8",
    ...(told as Record<string, string | string[]>),
    "content-length": Buffer.byteLength(body),
  });
  answer.end(body);
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of message as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > BODY_BYTES_MAX) throw new Error("what is sent here has a bound");
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}
