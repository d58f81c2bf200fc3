// A proxy to a gateway that cuts connections. Each connection has a fate, which is drawn when it is opened.
// While the proxy has no target it closes every connection. A connection serves one request, and has a
// maximum duration.
import type { Socket } from "node:net";
import { FaultProxy, type Rule } from "../../support/servers/fault-proxy.ts";
import { type Chances, drawFate } from "../harness/fates.ts";

/**
 * The fates of a connection:
 *
 *   PASSED       nothing happens to it
 *   DELAYED      every piece is delayed for a while, in both directions
 *   REFUSED      closed at once
 *   CUT_BEFORE   closed when the request has arrived; the gateway never receives it
 *   CUT_WITHIN   cut when the gateway has a part of the request
 *   CUT_AFTER    cut when the gateway has all of it: before, while or after it answers
 *   CUT_ANSWER   cut when the client has a part of the answer
 *
 * The client cannot tell the last three apart: it does not know whether its request took effect.
 */
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
const CHANCES: Chances<Fate> = [
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

const RULES: Readonly<Record<Fate, (draw: () => number) => Rule>> = {
  PASSED: () => ({}),
  DELAYED(draw) {
    const delayMs = Math.floor(draw() * DELAY_MS_MAX);
    return { hold: delayMs, delayMs };
  },
  // Its connection is not taken.
  REFUSED: () => ({ cut: "BEFORE" }),
  CUT_BEFORE: () => ({ cut: "BEFORE" }),
  CUT_WITHIN: (draw) => ({ cut: "WITHIN", part: draw() }),
  CUT_AFTER: (draw) => ({ cut: "FORWARDED", cutMs: Math.floor(draw() * CUT_AFTER_MS_MAX) }),
  CUT_ANSWER: (draw) => ({ cut: "ANSWERING", part: draw() }),
};

export type CuttingProxy = {
  readonly proxy: FaultProxy;
  /** How many connections had each fate. */
  readonly fates: Readonly<Record<Fate, number>>;
};

/** Opens a proxy that aims at nobody yet. Without `cuts` every connection passes. */
export async function openCuttingProxy(draw: () => number, cuts: boolean): Promise<CuttingProxy> {
  const fates = Object.fromEntries(FATES.map((fate) => [fate, 0])) as Record<Fate, number>;
  const drawn = new WeakMap<Socket, Fate>();
  const proxy = await FaultProxy.open(null, {
    admits(socket) {
      const fate = (cuts ? drawFate(CHANCES, draw) : null) ?? "PASSED";
      fates[fate] += 1;
      drawn.set(socket, fate);
      return fate !== "REFUSED";
    },
    rule: ({ socket }) => RULES[drawn.get(socket) ?? "PASSED"](draw),
  });
  return { proxy, fates };
}
