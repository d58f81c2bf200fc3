// Three ways to load a server within its capacity; `overload.ts` exceeds it.
//   saturate   closed loop: every connection sends its next request when the last one is answered. Finds the
//              maximum; its latencies mean little, since a slow server receives fewer requests.
//   schedule   open loop: requests are due at times that do not depend on answers (exponential intervals).
//              Latency counts from the due time, so a stall delays everything that was due in it.
//   count      closed loop, until so many answers were good; nothing is measured.

import { type Exchange, type Load, type Loaded, Run } from "../run.ts";
import { Samples } from "../statistics.ts";
import { exponentialGaps } from "./arrivals.ts";
import type { WireConnection } from "./wire.ts";

/** An open-loop server that is so much of its load behind cannot carry it, s. */
const BACKLOG_SECONDS_MAX = 2;

export async function saturate(load: Load, exchange: Exchange): Promise<Loaded> {
  const run = await Run.open(load);
  run.waitsForAnswers();
  const { until, latencies } = run;
  let underWay = 0;
  const next = (connection: WireConnection): void => {
    const sentAt = performance.now();
    if (sentAt >= until) return;
    underWay += 1;
    exchange(connection, (isGood) => {
      underWay -= 1;
      const now = performance.now();
      if (run.counts(now)) {
        if (isGood) latencies.add(now - sentAt);
        else run.shedCount += 1;
      }
      if (now < until) next(connection);
      else if (underWay === 0) run.end();
    });
  };
  for (const connection of run.connections) next(connection);
  return await run.result(new Samples());
}

export async function schedule(
  load: Load & { readonly perSecond: number },
  exchange: Exchange,
): Promise<Loaded> {
  const run = await Run.open(load);
  const { from, until, latencies } = run;
  const late = new Samples();
  const idle = [...run.connections];
  const gap = exponentialGaps(1_000 / load.perSecond);
  const backlogMax = load.perSecond * BACKLOG_SECONDS_MAX;
  let due: number[] = [];
  let nextAt = performance.now();
  let underWay = 0;

  const send = (connection: WireConnection, dueAt: number): void => {
    underWay += 1;
    exchange(connection, (isGood) => {
      underWay -= 1;
      run.hasWorked = true;
      if (dueAt >= from) {
        if (isGood) latencies.add(performance.now() - dueAt);
        else run.shedCount += 1;
      }
      idle.push(connection);
    });
  };
  const poll = (): void => {
    if (run.hasEnded) return;
    const now = performance.now();
    run.heed(now);
    for (; nextAt <= now && nextAt < until; nextAt += gap()) {
      due.push(nextAt);
      if (nextAt >= from) late.add(now - nextAt);
    }
    let sent = 0;
    for (const dueAt of due) {
      const connection = idle.pop();
      if (connection === undefined) break;
      send(connection, dueAt);
      sent += 1;
    }
    if (sent > 0) {
      due = due.slice(sent);
      run.hasWorked = true;
    }
    if (due.length > backlogMax) run.fail(`the server could not carry ${Math.round(load.perSecond)}/s`);
    else if (now >= until && due.length === 0 && underWay === 0) run.end();
    else setImmediate(poll);
  };
  poll();
  return await run.result(late);
}

/** Takes `seconds` at most. */
export async function count(load: Load & { readonly requests: number }, exchange: Exchange): Promise<void> {
  const run = await Run.open(load);
  let unsent = load.requests;
  let underWay = 0;
  const next = (connection: WireConnection): void => {
    if (unsent === 0) {
      if (underWay === 0) run.end();
      return;
    }
    unsent -= 1;
    underWay += 1;
    exchange(connection, (isGood) => {
      underWay -= 1;
      if (!isGood) unsent += 1;
      next(connection);
    });
  };
  for (const connection of run.connections) next(connection);
  await run.whenEnded();
}
