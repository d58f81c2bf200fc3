// Sends signals concurrently, each repeatedly under its key, until its bot has an answer or gives up. In
// between, the target is killed.
import { setTimeout as pause } from "node:timers/promises";
import type { FaultProxy } from "../../support/servers/fault-proxy.ts";
import { GatewayFault } from "../harness/faults.ts";
import { quotesOf } from "../harness/markets.ts";
import type { Bot, Sent, Told } from "./bot.ts";
import { drawOrder, plainOrder } from "./orders.ts";
import type { Target } from "./target.ts";

export type Counts = {
  /** Requests that were sent, and those of them that were sent before. */
  requests: number;
  retries: number;
  /** Signals that were sent twice at once, and those whose key was tried with another order. */
  twins: number;
  mismatches: number;
  /** Requests that had no answer. */
  unanswered: number;
};

/** Signals in flight at once. */
const WORKERS = 24;
const ATTEMPTS_MAX = 6;
/** Of a bot that does not give up. */
const PLAIN_ATTEMPTS_MAX = 200;
const PAUSE_MS_MAX = 120;
/** Of a signal: that it is sent twice at once, and, in the end, that its key is tried with another order. */
const TWIN_CHANCE = 0.15;
const MISMATCH_CHANCE = 0.08;
/**
 * Chances after each attempt: that a bot without an answer gives up, and that one with an answer sends again.
 */
const GIVE_UP_CHANCE = 0.25;
const AGAIN_CHANCE = 0.15;

type Sending = {
  readonly signals: number;
  /** Whether every order can be taken and no bot gives up. */
  readonly isPlain: boolean;
  /** The number of kills during the run. */
  readonly kills: number;
  readonly signal?: AbortSignal | undefined;
  readonly onKill: (begun: number, kills: number) => void;
  readonly bots: readonly Bot[];
  readonly target: Target;
  readonly proxy: FaultProxy;
  readonly counts: Counts;
  readonly draw: () => number;
};

/** Lets the bots send their signals in rotation, and kills the target in between. */
export async function sendAll(sending: Sending): Promise<void> {
  const { bots, target, signals, isPlain, kills, draw, signal, onKill } = sending;
  const { SPOT: touch } = await quotesOf((await target.serving()).url);
  // The last one leaves time for signals that are sent afterwards.
  const strikes = Array.from({ length: kills }, (_, index) =>
    Math.floor((signals * (index + 0.5 + 0.5 * draw())) / (kills + 1)),
  );
  let begun = 0;
  let striking: Promise<void> = Promise.resolve();
  let failure: unknown = null;
  const worker = async () => {
    while (begun < signals && failure === null && signal?.aborted !== true) {
      const bot = bots[begun % bots.length];
      if (bot === undefined) throw new Error("there are bots");
      begun += 1;
      const sent = bot.add(isPlain ? plainOrder() : drawOrder(draw, touch, bot.signals.size === 0));
      if (strikes.includes(begun)) {
        striking = striking.then(() => target.strike());
        striking.then(
          () => onKill(begun, strikes.filter((at) => at <= begun).length),
          (error) => {
            failure ??= error;
          },
        );
      }
      try {
        await submitUntilTold(sending, bot, sent);
      } catch (error) {
        failure ??= error;
      }
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
  await striking;
  if (failure !== null) throw failure;
}

/** Sends a signal repeatedly until its bot has an answer, or gives up. */
async function submitUntilTold(sending: Sending, bot: Bot, sent: Sent): Promise<void> {
  const { target, proxy, counts, draw, isPlain } = sending;
  const isTwin = draw() < TWIN_CHANCE;
  const attempt = async (send: () => Promise<Told>) => {
    counts.requests += 1;
    try {
      const { comeAgainMs } = await send();
      if (comeAgainMs !== null) await pause(comeAgainMs);
      return comeAgainMs === null;
    } catch (error) {
      if (error instanceof GatewayFault) throw error;
      counts.unanswered += 1;
      return false;
    }
  };
  const submit = () => attempt(() => bot.submit(proxy.url, sent));
  if (isTwin) counts.twins += 1;
  for (let attempts = 1; attempts <= (isPlain ? PLAIN_ATTEMPTS_MAX : ATTEMPTS_MAX); attempts += 1) {
    await target.serving();
    if (attempts > 1) counts.retries += 1;
    const told = await Promise.all(isTwin ? [submit(), submit()] : [submit()]);
    const isOver = told.includes(true) && draw() >= AGAIN_CHANCE;
    if (isOver || (!told.includes(true) && !isPlain && draw() < GIVE_UP_CHANCE)) break;
    await pause(Math.floor(draw() * PAUSE_MS_MAX));
  }
  if (sent.shown === null || draw() >= MISMATCH_CHANCE) return;
  counts.mismatches += 1;
  await attempt(() => bot.submitOther(proxy.url, sent));
}
