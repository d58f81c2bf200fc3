// The pipeline of the bot family: every step that a request takes, in order, in one function. Nothing else knows the order.
//
//   ban → route → authenticate → charge → admit → carry out → present
//
// Budgets and bans are those of the exchange-style families: a key that is banned there is banned here. What is learned on the way is
// noted in the request's sighting, for the log of requests; nothing is decided by that.
// Source: specification 5.2, 7.2 and 8.2; design, section 6.
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import type { Sighting } from "../../inspection/sighting.ts";
import type { Charged, Usage } from "../../limits/budgets.ts";
import { addressHolder, keyHolder, personHolder } from "../../limits/holder.ts";
import type { Strategy } from "../../store/store.ts";
import { observed } from "../observed.ts";
import {
  type Gateway,
  methodOfRoute,
  orderCountHeaders,
  REPLAY_HEADERS,
  type Reply,
  type Request,
  weightHeader,
} from "../pipeline.ts";
import { authenticate, KEY_HEADER, textOf } from "./authenticate.ts";
import { type BudgetOwner, failure, refusedBot, refusedOverBudget } from "./present.ts";
import type { BotAnswer, BotRoute } from "./route.ts";
import { routeOf } from "./route-table.ts";

/** Whether a path is the bot family's, also one that there is not. */
export function isBotPath(path: string): boolean {
  return path.startsWith("/bot/") || path === "/bot";
}

/** What each kind of route is charged. */
const COSTS = {
  READ: { weight: 0, placesOrder: false, isRead: true },
  SUBMISSION: { weight: 0, placesOrder: true },
  WEIGHT: { weight: 1, placesOrder: false },
} as const satisfies { readonly [Charge in BotRoute["charge"]]: object };

/** Answers a request of the bot family, and has it observed. Rejects only if the store has failed. */
export function handleBot(request: Request, gateway: Gateway): Promise<Reply> {
  return observed(request, gateway.observer, (sighting) => answered(request, gateway, sighting));
}

async function answered(request: Request, gateway: Gateway, sighting: Sighting): Promise<Reply> {
  const { budgets, wallNow } = gateway;
  const { method, path, body, headers, rawHeaders } = request;
  const found = routeOf(methodOfRoute(method), path);
  const address = addressHolder(request.address);
  const named = textOf(request.headers[KEY_HEADER]);
  const owner = found === null || named === "" ? "address" : "key";
  sighting.family = "BOT";
  sighting.path = found?.route.path ?? null;
  sighting.apiKey = named === "" ? request.apiKey : named;
  const ban = budgets.ban(owner === "address" ? address : keyHolder(named), wallNow());
  if (ban !== null) return refusedOverBudget(ban.refusal, owner, ban.retryAfterSeconds);

  if (found === null) return refusedBot({ refusal: "PATH_UNKNOWN", method, path });
  if (isRefusal(body)) return refusedBot(body);
  const { route, params } = found;

  const caller = await authenticate({ ...request, body }, gateway, wallNow(), sighting);
  if ("unauthenticated" in caller) {
    const { unauthenticated, failed, ...more } = caller;
    sighting.failed = failed;
    const flood = budgets.chargeFailure(address, wallNow());
    if (flood !== null) return await refusedByBudget(flood, "address");
    return failure(401, unauthenticated, more);
  }

  const admittedAt = wallNow();
  const cost = COSTS[route.charge];
  sighting.weight = cost.weight;
  const holder = keyHolder(caller.apiKey);
  const person = personHolder(caller.userId);
  const charged = budgets.charge(holder, admittedAt, { ...cost, person });
  const used = usedHeaders(route.charge, charged.usage, budgets.reads(holder, admittedAt));
  const counted = (reply: Reply): Reply => ({ ...reply, headers: { ...used, ...reply.headers } });
  if (charged.refusal !== null) return counted(await refusedByBudget(charged, "key"));

  const unfit = admit(route, caller.strategy);
  if (unfit !== null) return counted(refusedBot(unfit));
  const text = decoded(body);
  if (text === null) return counted(refusedBot({ refusal: "REQUEST_MALFORMED" }));

  return counted(
    present(await route.answer({ gateway, caller, params, body: text, headers, rawHeaders, admittedAt })),
  );
}

/** How much of the budget is used that a kind of route is charged to; what others share is called as it is there. */
function usedHeaders(charge: BotRoute["charge"], usage: Usage, reads: number): Record<string, string> {
  switch (charge) {
    case "READ":
      return { "x-bot-used-reads-10s": String(reads) };
    case "SUBMISSION":
      return orderCountHeaders(usage);
    case "WEIGHT":
      return weightHeader(usage);
  }
}

function admit(route: BotRoute, strategy: Strategy | null): Refusal | null {
  if (route.key === "any") return null;
  if (strategy === null) return { refusal: "KEY_NOT_BOUND" };
  if (strategy.type !== "SPOT") return { refusal: "KEY_OF_OTHER_FAMILY" };
  if (route.writes && strategy.status !== "LIVE") return { refusal: "STRATEGY_NOT_LIVE" };
  return null;
}

/** The text that received bytes, one a character, are in UTF-8; null if they are none. */
function decoded(body: string): string | null {
  try {
    return UTF_8.decode(Buffer.from(body, "latin1"));
  } catch {
    return null;
  }
}

/** A byte order mark stays, and is no JSON. */
const UTF_8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A ban that this refusal began is durable before anybody hears of the refusal. */
async function refusedByBudget(
  { refusal, retryAfterSeconds, banStored }: Charged,
  owner: BudgetOwner,
): Promise<Reply> {
  if (refusal === null) throw new Error("only a refusal is refused");
  await banStored;
  return refusedOverBudget(refusal, owner, retryAfterSeconds);
}

function present(answer: BotAnswer): Reply {
  if (isRefusal(answer)) return refusedBot(answer);
  if ("message" in answer) return failure(answer.status, answer.message);
  const { status, body, isReplay = false } = answer;
  const headers = isReplay ? REPLAY_HEADERS : {};
  return { status, headers, body: typeof body === "string" ? body : JSON.stringify(body), isReplay };
}
