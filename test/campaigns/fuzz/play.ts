// One episode: a strategy's requests, one after another, each answer judged and its effect read from the
// database.

import type { StrategyType } from "../../../src/domain/account.ts";
import { methodOfRoute } from "../../../src/http/pipeline.ts";
import type { Credentials } from "../../support/servers/gateway.ts";
import type { Actors } from "./actors.ts";
import { type Fault, type Judged, judge } from "./catalogue.ts";
import { type Draw, drawFor } from "./draw.ts";
import type { Episode } from "./episodes.ts";
import type { Ledger, OwnKey, Snapshot } from "./ledger.ts";
import type { Pair, Pairs } from "./pairs.ts";
import { type DrawnRequest, drawRequest } from "./requests.ts";
import type { Goal } from "./routes.ts";
import type { KnownOrder, Scenario } from "./scenario.ts";
import type { Tally } from "./tally.ts";
import { type Answer, curlOf, type Wire } from "./wire.ts";

export type Fixture = {
  readonly url: string;
  readonly seed: number;
  readonly actors: Actors;
  readonly wire: Wire;
  readonly pairs: Pairs;
  readonly ledger: Ledger;
  readonly tally: Tally;
  /** Called after each answer with the number of answers. */
  readonly onAnswer: (answered: number) => void;
};

/** What became of a strategy. */
export type Played = {
  readonly strategy: Credentials;
  readonly type: StrategyType;
  /** By client id: every placement of an order that was answered 200. */
  readonly orders: ReadonlyMap<string, KnownOrder>;
  /** The same of legs. */
  readonly legs: ReadonlyMap<string, KnownOrder>;
  readonly last: Snapshot;
};

/** A gateway that is broken is not asked for ever. */
const FAULTS_MAX = 500;
/** What strategies start with. */
const SEED_ASSET = "USDT";
/** Requests that come from one client address: few enough for its budget, mostly. */
const REQUESTS_PER_ADDRESS = 8;
const ADDRESSES_PER_EPISODE = 16;

/** Plays an episode to its end, or until the run has found too many faults. */
export async function playEpisode(fixture: Fixture, episode: Episode): Promise<Played> {
  const { seed, actors, pairs, ledger, tally } = fixture;
  const { index, type, mood, first, length } = episode;
  const traded = pairs.all[type];
  const strategy = actors.strategies[index];
  if (strategy === undefined) throw new Error("every episode has a strategy of its own");
  const scenario: Scenario = {
    type,
    strategy,
    others: actors.others,
    pairs: drawPairs(drawFor(seed, -index), traded),
    allPairs: traded,
    orders: new Map(),
    legs: new Map(),
  };
  let last = ledger.read(strategy.strategyId);
  for (let turn = 0; turn < length && tally.faultCount() < FAULTS_MAX; turn += 1) {
    await pairs.refresh();
    const number = first + turn;
    const address = addressOf(index, mood === "FLOODS_PUBLIC" ? 0 : Math.floor(turn / REQUESTS_PER_ADDRESS));
    last = await ask(fixture, drawRequest(drawFor(seed, number), number, { scenario, mood, address }), {
      number,
      scenario,
      before: last,
    });
  }
  return { strategy, type, orders: scenario.orders, legs: scenario.legs, last };
}

async function ask(
  { url, wire, ledger, tally, onAnswer }: Fixture,
  { goal, sent, isForged }: DrawnRequest,
  {
    number,
    scenario,
    before,
  }: { readonly number: number; readonly scenario: Scenario; readonly before: Snapshot },
): Promise<Snapshot> {
  const answer = await wire.send(sent).catch((error: Error) => error);
  const judged = answer instanceof Error ? unanswered(answer) : judge(goal, answer);
  const { after, faults } = ledger.follow(before, ownKeyOf(goal, answer, judged));
  const found: readonly Fault[] = [
    ...judged.faults,
    ...faults.map((what): Fault => ({ kind: "STATE_CHANGED", what })),
    ...learnOrder(goal, answer, judged, scenario),
    ...(isForged && goal.route?.access === "signed" && isGranted(answer) ? [FORGED] : []),
  ];
  for (const fault of found) {
    const said = answer instanceof Error ? String(answer) : `${answer.status} ${answer.text}`;
    const exchange = `${curlOf(url, sent)}\n→ ${said}`;
    tally.add({ ...fault, requestNumber: number, strategyId: scenario.strategy.strategyId, exchange });
  }
  onAnswer(tally.count(goal.name, labelOf(answer, judged)));
  return after;
}

const FORGED: Fault = {
  kind: "OUTSIDE_CATALOGUE",
  what: "a request without a good key and its signature is carried out",
};

function isGranted(answer: Answer | Error): boolean {
  return !(answer instanceof Error) && answer.status === 200;
}

function unanswered(error: Error): Judged {
  return {
    code: null,
    body: null,
    faults: [{ kind: "OUTSIDE_CATALOGUE", what: `no answer: ${error.message}` }],
  };
}

/** What the request may have added to the journal: nothing unless it was a write that was answered 200. */
function ownKeyOf(goal: Goal, answer: Answer | Error, { body }: Judged): OwnKey {
  if (!isGranted(answer) || goal.route === null || methodOfRoute(goal.method) === "GET") return undefined;
  if (!isPlacement(goal)) return null;
  const { clientOrderId } = placedOf(goal, body);
  return isOfLeg(goal) ? `algo:${clientOrderId}` : `order:${clientOrderId}`;
}

/** Takes note of a placement that was answered; one client id must always name one order. */
function learnOrder(
  goal: Goal,
  answer: Answer | Error,
  { body }: Judged,
  { orders, legs }: Scenario,
): Fault[] {
  if (!isPlacement(goal) || !isGranted(answer)) return [];
  const { orderId, clientOrderId, symbol } = placedOf(goal, body);
  const all = isOfLeg(goal) ? legs : orders;
  const known = all.get(clientOrderId);
  if (known === undefined) all.set(clientOrderId, { orderId, clientOrderId, symbol });
  if (known === undefined || (known.orderId === orderId && known.symbol === symbol)) return [];
  return [{ kind: "STATE_CHANGED", what: `${clientOrderId} was order ${known.orderId} of ${known.symbol}` }];
}

function isPlacement({ route }: Goal): boolean {
  return route?.access === "signed" && route.placesOrder;
}

function isOfLeg({ path }: Goal): boolean {
  return path.endsWith("/algoOrder");
}

/** What an answer to a placement names. */
function placedOf(goal: Goal, body: unknown): KnownOrder {
  if (!isOfLeg(goal)) return body as KnownOrder;
  const { algoId, clientAlgoId, symbol } = body as { algoId: number; clientAlgoId: string; symbol: string };
  return { orderId: algoId, clientOrderId: clientAlgoId, symbol };
}

/** `200`, or status and code. */
function labelOf(answer: Answer | Error, { code }: Judged): string {
  if (answer instanceof Error) return "no answer";
  if (answer.status === 200) return "200";
  return code === null ? String(answer.status) : `${answer.status} ${code}`;
}

/**
 * Two pairs; the first is one that a strategy can buy at its start, and brings what the second is paid in.
 */
function drawPairs(draw: Draw, all: readonly Pair[]): Pair[] {
  const second = draw.pick(all);
  const affordable = all.filter(({ quote }) => quote === SEED_ASSET);
  const payable = affordable.filter(({ base }) => base === second.quote);
  return [draw.pick(payable.length > 0 ? payable : affordable), second];
}

/** A client address that no other episode uses. */
function addressOf(episode: number, turn: number): string {
  const number = episode * ADDRESSES_PER_EPISODE + turn;
  return `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
}
