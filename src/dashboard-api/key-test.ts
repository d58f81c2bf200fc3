// "Test this key": the checks that a request of the key meets, in their order, a signed request of its own,
// and what became of the bot's last one. It costs the key nothing: the request has budgets of its own, is not
// recorded and is no use of the key.
import type { StrategyType } from "../domain/account.ts";
import type { BoundKey } from "../domain/strategy.ts";
import { handle, routeTable } from "../http/exchange.ts";
import type { Gateway, Reply } from "../http/pipeline.ts";
import { ROUTES } from "../http/server.ts";
import { secretOf } from "../keys/api-keys.ts";
import { sign } from "../keys/signatures.ts";
import { UNOBSERVED } from "../observability/request-context.ts";
import type { LoggedRequest } from "../observability/request-log.ts";
import { Budgets } from "../rate-limits/budgets.ts";
import type { DashboardParts } from "./parts.ts";
import type { KeyTestJson } from "./schemas/requests.ts";

type Check = KeyTestJson["checks"][number];
type TestParts = { readonly gateway: Gateway } & Pick<DashboardParts, "observability" | "server">;

/** A route of each type that any strategy answers, whatever its status. */
const ACCOUNT_PATHS: { readonly [T in StrategyType]: string } = {
  SPOT: "/api/v3/account",
  FUTURES: "/fapi/v3/account",
};
const TABLE = routeTable(ROUTES);

/** Tests a key. Rejects only if the store cannot be asked. */
export async function testKey(parts: TestParts, bound: BoundKey, now: number): Promise<KeyTestJson> {
  await parts.observability.explained();
  const checks = [
    banCheck(parts, bound, now),
    liveCheck(bound),
    ...budgetChecks(parts, bound, now),
    boundCheck(bound),
    strategyCheck(bound),
    await signedRequestCheck(parts, bound, now),
    await lastRequestCheck(parts, bound),
  ];
  return { isFine: checks.every(({ outcome }) => outcome !== "FAILED"), checks };
}

function banCheck({ observability }: TestParts, { key }: BoundKey, now: number): Check {
  const name = "Not banned";
  const { bannedUntil } = observability.meters(key.apiKey, now);
  if (bannedUntil === null) return { name, outcome: "PASSED", says: "The key is not banned." };
  return {
    name,
    outcome: "FAILED",
    says: `The key is banned until ${timeText(bannedUntil)}, because it kept sending after 429 responses.`,
    action: "Stop until then. After each 429 response, wait as long as its Retry-After header says.",
  };
}

function liveCheck({ key }: BoundKey): Check {
  const name = "Key is live";
  if (key.revokedAt === null) return { name, outcome: "PASSED", says: "The key exists and was not revoked." };
  return {
    name,
    outcome: "FAILED",
    says: `The key was revoked at ${timeText(key.revokedAt)}.`,
    action: "Create another key and bind it to the strategy.",
  };
}

function budgetChecks({ observability }: TestParts, { key }: BoundKey, now: number): Check[] {
  const { meters } = observability.meters(key.apiKey, now);
  const spent = meters.find(({ used, limit }) => used >= limit);
  const name = "Request limits";
  if (spent === undefined) {
    const [weight] = meters;
    return [
      {
        name,
        outcome: "PASSED",
        says: `${weight?.used} of ${weight?.limit} request weight used in this minute.`,
      },
    ];
  }
  return [
    {
      name,
      outcome: "FAILED",
      says: `${spent.name}: ${spent.used} of ${spent.limit} in ${spent.windowSeconds} s are used.`,
      action:
        "Wait for the next window and send fewer requests: the headers of every response show the used weight.",
    },
  ];
}

function boundCheck({ strategy }: BoundKey): Check {
  const name = "Bound to a strategy";
  if (strategy !== null) {
    const type = strategy.type === "SPOT" ? "spot" : "futures";
    return { name, outcome: "PASSED", says: `The key manages a ${type} strategy.` };
  }
  return {
    name,
    outcome: "FAILED",
    says: "The key is not bound to a strategy: every trading request is answered with -2010.",
    action: "Create a strategy with this key, or bind the key to one that has none.",
  };
}

function strategyCheck({ strategy }: BoundKey): Check {
  const name = "Strategy is live";
  if (strategy === null) return { name, outcome: "UNKNOWN", says: "There is no strategy to check." };
  if (strategy.status === "LIVE") return { name, outcome: "PASSED", says: "The strategy accepts orders." };
  return {
    name,
    outcome: "FAILED",
    says: `The strategy is ${strategy.status}: it can be read, but accepts no orders.`,
    action: "Create another strategy, with this key if you like. A closed one stays closed.",
  };
}

/** Signs a request as a client would, and sends it through the pipeline that answers clients. */
async function signedRequestCheck(
  { gateway }: TestParts,
  { key, strategy }: BoundKey,
  now: number,
): Promise<Check> {
  const name = "Signed request";
  const path = ACCOUNT_PATHS[strategy?.type ?? "SPOT"];
  if (key.revokedAt !== null || strategy === null) {
    return { name, outcome: "UNKNOWN", says: `GET ${path} was not tried: the checks above say why.` };
  }
  const message = `timestamp=${now}`;
  const query = `${message}&signature=${sign(secretOf(gateway.master, key), message)}`;
  const reply = await handle(
    {
      method: "GET",
      path,
      query,
      target: `${path}?${query}`,
      headers: { "x-mbx-apikey": key.apiKey },
      rawHeaders: ["x-mbx-apikey", key.apiKey],
      body: "",
      apiKey: key.apiKey,
      address: "127.0.0.1",
    },
    { routes: TABLE, pages: () => null },
    { ...gateway, budgets: new Budgets(), observer: UNOBSERVED },
  );
  if (reply.status === 200) {
    return { name, outcome: "PASSED", says: `GET ${path}, signed with the key's secret, was answered 200.` };
  }
  return {
    name,
    outcome: "FAILED",
    says: `GET ${path}, signed with the key's secret, was answered ${saidBy(reply)}.`,
    action: "Your program is not the cause. Try again, and tell the operator if it persists.",
  };
}

/** Statuses of refusals that concern the key, whatever was asked for. */
const KEY_STATUSES = [401, 418, 429];

async function lastRequestCheck(parts: TestParts, { key }: BoundKey): Promise<Check> {
  const name = "Last request of the bot";
  const [last] = parts.observability.requests.requestsOf(key.apiKey);
  if (last === undefined) return await lastUseCheck(parts, key.keyId, name);
  const what = `${last.method} ${last.path} at ${timeText(last.at)}`;
  const answer = saidBy({
    status: last.status,
    refusal: last.message === null ? undefined : { code: last.code, message: last.message },
  });
  if (last.diagnosis === null && !KEY_STATUSES.includes(last.status)) {
    return { name, outcome: "PASSED", says: `${what} was authenticated, and answered ${answer}.` };
  }
  return { name, outcome: "FAILED", says: `${what} was answered ${answer}.`, action: actionFor(last) };
}

function actionFor({ diagnosis, status }: LoggedRequest): string {
  if (diagnosis !== null && diagnosis.hints.length > 0) return diagnosis.hints.join(" ");
  if (status === 418 || status === 429) return "Wait as long as Retry-After says before the next request.";
  return "Open the request on the page Requests: it says which check failed.";
}

/** The last recorded use, for a key without a request in this process: another process may have had one. */
async function lastUseCheck(
  { observability, server }: TestParts,
  keyId: string,
  name: string,
): Promise<Check> {
  const use = (await observability.keyUses.lastUses([keyId])).get(keyId);
  if (use !== undefined) {
    const says = `${use.route} at ${timeText(use.at)} from ${use.address} was authenticated. There was no request since this server started.`;
    return { name, outcome: "PASSED", says };
  }
  return {
    name,
    outcome: "UNKNOWN",
    says: "No request with this key was received yet.",
    action: `Run the code for ccxt, python-binance or curl that the strategy's page shows, with the secret filled in. It connects to ${server.publicUrl}.`,
  };
}

function saidBy({ status, refusal }: { status: number; refusal?: Reply["refusal"] | undefined }): string {
  if (refusal === undefined) return String(status);
  const { code, message } = refusal;
  return `${status}${code === null ? "" : ` (${code})`}: ${message.replace(/\.$/, "")}`;
}

function timeText(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}
