// A way to a gateway on which connections are cut: each has a fate that is drawn when it is opened.
//
//   PASSED       nothing happens to it
//   DELAYED      every piece is held back for a while, each way
//   REFUSED      hung up on at once
//   CUT_BEFORE   hung up on when the request has come, of which the gateway sees nothing
//   CUT_WITHIN   cut when the gateway has a part of the request
//   CUT_AFTER    cut when the gateway has all of it: before it answers, while it does, or when its answer is there
//   CUT_ANSWER   cut when the client has a part of the answer
//
// The client cannot tell the last three apart: whether its request took effect it does not know. While the proxy aims at
// nobody every connection is hung up on. A connection is for one request, and nobody's lasts longer than its bound.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export const FATES = [
  "PASSED",
  "DELAYED",
  "REFUSED",
  "CUT_BEFORE",
  "CUT_WITHIN",
  "CUT_AFTER",
  "CUT_ANSWER",
] as const;
export type Fate = (typeof FATES)[number];

/** Out of a hundred; the rest passes. */
const CHANCES: readonly (readonly [Exclude<Fate, "PASSED">, number])[] = [
  ["DELAYED", 8],
  ["REFUSED", 4],
  ["CUT_BEFORE", 5],
  ["CUT_WITHIN", 5],
  ["CUT_AFTER", 12],
  ["CUT_ANSWER", 6],
];
const DELAY_MS_MAX = 250;
/** From the last byte of a request to the cut at most, ms: longer than an answer takes. */
const CUT_AFTER_MS_MAX = 12;
const CONNECTIONS_MAX = 1_000;
const CONNECTION_MS_MAX = 30_000;

export type CuttingProxy = {
  /** Where clients connect to. */
  readonly url: string;
  /** Forwards to this address from now on, or to nobody; connections that are open stay as they are. */
  aim(url: string | null): void;
  /** How many connections had each fate. */
  readonly fates: Readonly<Record<Fate, number>>;
  close(): Promise<void>;
};

/** Opens a proxy on a free port of the loopback address. Without `cuts` every connection passes. */
export async function openCuttingProxy(options: {
  readonly draw: () => number;
  readonly cuts: boolean;
}): Promise<CuttingProxy> {
  const { draw, cuts } = options;
  let target: URL | null = null;
  const open = new Set<Socket>();
  const fates: Record<Fate, number> = {
    ...{ PASSED: 0, DELAYED: 0, REFUSED: 0 },
    ...{ CUT_BEFORE: 0, CUT_WITHIN: 0, CUT_AFTER: 0, CUT_ANSWER: 0 },
  };
  const server = createServer((client) => {
    keep(client, open);
    if (target === null || open.size > CONNECTIONS_MAX) {
      client.destroy();
      return;
    }
    const fate = cuts ? drawFate(draw) : "PASSED";
    fates[fate] += 1;
    if (fate === "REFUSED") {
      client.destroy();
      return;
    }
    const gateway = connect(Number(target.port), target.hostname);
    keep(gateway, open);
    join(client, gateway, fate, draw);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    aim(url) {
      target = url === null ? null : new URL(url);
    },
    fates,
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of open) socket.destroy();
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

/** Has two sockets forward to each other until the fate of the connection is fulfilled. */
function join(client: Socket, gateway: Socket, fate: Fate, draw: () => number): void {
  const cut = () => {
    client.destroy();
    gateway.destroy();
  };
  client.on("close", cut);
  gateway.on("close", cut);
  if (fate === "DELAYED") {
    const delayMs = Math.floor(draw() * DELAY_MS_MAX);
    forwardLater(client, gateway, delayMs);
    forwardLater(gateway, client, delayMs);
    return;
  }
  switch (fate) {
    case "CUT_BEFORE":
      client.once("data", cut);
      break;
    case "CUT_WITHIN":
      forwardPart(client, gateway, draw, cut);
      break;
    case "CUT_AFTER": {
      const cutAfterMs = Math.floor(draw() * CUT_AFTER_MS_MAX);
      client.once("data", () => setTimeout(cut, cutAfterMs));
      client.pipe(gateway);
      gateway.once("data", cut);
      break;
    }
    case "CUT_ANSWER":
      client.pipe(gateway);
      forwardPart(gateway, client, draw, cut);
      break;
    default:
      client.pipe(gateway);
      gateway.pipe(client);
  }
}

/** Forwards a part of the first piece, which is at least a byte short, and cuts. */
function forwardPart(source: Socket, target: Socket, draw: () => number, cut: () => void): void {
  source.once("data", (piece: Buffer) => {
    target.write(piece.subarray(0, Math.floor(draw() * piece.length)), cut);
  });
}

function forwardLater(source: Socket, target: Socket, delayMs: number): void {
  source.on("data", (piece: Buffer) => {
    setTimeout(() => {
      if (!target.destroyed) target.write(piece);
    }, delayMs);
  });
  source.on("end", () => setTimeout(() => target.end(), delayMs));
}

/** Takes note of a socket until it is closed, and bounds its life. */
function keep(socket: Socket, open: Set<Socket>): void {
  open.add(socket);
  const bound = setTimeout(() => socket.destroy(), CONNECTION_MS_MAX);
  // Whoever is cut off is closed next, which is all there is to know.
  socket.on("error", () => {});
  socket.on("close", () => {
    clearTimeout(bound);
    open.delete(socket);
  });
}
