// A client that retries when the server asks it to: for reads that must succeed, not for the load.
import { setTimeout as pause } from "node:timers/promises";
import type { WireAnswer } from "../../support/signed-client.ts";

const ATTEMPTS_MAX = 20;
const MS_PER_SECOND = 1_000;
const UNAVAILABLE = 503;

/** Asks until the answer is not "come back later", as often as is reasonable; the last answer counts. */
export async function patiently(ask: () => Promise<WireAnswer>): Promise<WireAnswer> {
  let answer = await ask();
  for (let attempts = 1; attempts < ATTEMPTS_MAX && answer.status === UNAVAILABLE; attempts += 1) {
    await pause(Number(answer.headers.get("retry-after")) * MS_PER_SECOND);
    answer = await ask();
  }
  return answer;
}

/**
 * Does the work for each, side by side but for a few at a time, since a burst is refused. Answers in order.
 */
export async function fewAtATime<Each, Done>(
  all: readonly Each[],
  work: (each: Each) => Promise<Done>,
  atATime = AT_A_TIME,
): Promise<Done[]> {
  const done: Done[] = [];
  const left = all.entries();
  const workOn = async () => {
    for (const [index, each] of left) done[index] = await work(each);
  };
  await Promise.all(Array.from({ length: atATime }, workOn));
  return done;
}

const AT_A_TIME = 6;
