// What an answer may be: data, or a refusal of the catalogue in its exact shape, with the headers that belong
// to it. The catalogue is the program's own table, so that a refusal that is added there is known here.

import { methodOfRoute } from "../../../src/http/pipeline.ts";
import { CONTRACT_FILTERS, REFUSALS } from "../../../src/http/refusals.ts";
import { type Goal, START_PATH } from "./routes.ts";
import type { Answer } from "./wire.ts";

/** The three things that must never happen. */
export type FaultKind = "SERVER_ERROR" | "OUTSIDE_CATALOGUE" | "STATE_CHANGED";

export type Fault = { readonly kind: FaultKind; readonly what: string };

/** What an answer says in short: 200, or its code; null if it has none. */
export type Judged = {
  readonly code: number | null;
  readonly body: unknown;
  readonly faults: readonly Fault[];
};

/** Whatever a row of the table may ask for; the status and the code do not depend on it. */
const ARGUMENTS = {
  method: "",
  path: "",
  parameter: "",
  only: "",
  parameters: ["", ""],
  legalRange: "",
  limit: 0,
  interval: "",
  until: 0,
  orderType: "MARKET",
  filter: "LOT_SIZE",
  fault: "TOO_LOW",
  leverage: 0,
  workingType: "",
  days: 0,
  minNotional: 0n,
  readCount: 0,
  sentCount: 0,
};

/** Every status and code that there is, as `400 -1102`. */
export const CATALOGUE: ReadonlySet<string> = new Set(
  [
    ...Object.values(REFUSALS).map((row) => (typeof row === "function" ? row(ARGUMENTS as never) : row)),
    ...Object.values(CONTRACT_FILTERS).flatMap((faults) => Object.values(faults)),
  ].map(({ status, code }) => `${status} ${code}`),
);

/**
 * The one answer of 5xx that may be: the market is silent or the gateway full, nothing was executed, come
 * again.
 */
const UNAVAILABLE = "503 -1008";

const ORDERS_EXHAUSTED_CODE = -1015;

/** How many different refusals there are. */
export const CATALOGUE_SIZE = CATALOGUE.size;

/** Judges the answer to a request that went to a goal. */
export function judge(goal: Goal, { status, headers, text }: Answer): Judged {
  const faults: Fault[] = [];
  const wrong = (what: string) => faults.push({ kind: "OUTSIDE_CATALOGUE", what });
  if (isPage(goal) && /^text\/html(;|$)/.test(headers["content-type"] ?? "")) {
    // Where the application has not been built, a page says so.
    if (status !== 200 && status !== 404) wrong(`a page is answered ${status}`);
    return { code: status, body: null, faults };
  }
  if (!/^application\/json(;|$)/.test(headers["content-type"] ?? "")) {
    wrong(`the content type is ${headers["content-type"]}`);
  }
  // An answer to HEAD has no body, whatever it would say.
  const body = goal.method === "HEAD" ? null : parsed(text);
  if (body === undefined) wrong("the body is not JSON");

  const code = status === 200 ? 200 : codeOf(body);
  const name = `${status} ${code}`;
  if (goal.method === "HEAD") {
    if (status >= 500 && status !== 503) wrong(`HEAD is answered ${status}`);
  } else if (status >= 500 && name !== UNAVAILABLE)
    faults.push({ kind: "SERVER_ERROR", what: `the answer is ${name}` });
  else if (status === 200) {
    if (typeof body !== "object" || body === null) wrong("the body is neither an object nor a list");
  } else if (isOfBots(goal.path)) {
    if (status !== 404 || !isExactly(body, { status: false, message: "" })) {
      wrong("under /bot a path that there is not is 404 and { status, message }");
    }
  } else if (!CATALOGUE.has(name)) wrong(`${name} is not in the catalogue`);
  else if (!isExactly(body, { code: 0, msg: "" })) wrong("a refusal is { code, msg } and nothing else");
  for (const what of headerFaults(goal, { status, code }, headers)) wrong(what);
  return { code, body, faults };
}

function headerFaults(
  { route, path }: Goal,
  { status, code }: { readonly status: number; readonly code: number | null },
  headers: Answer["headers"],
): string[] {
  const faults: string[] = [];
  const isCount = (name: string) => /^[0-9]+$/.test(String(headers[name]));
  const mustHave = (name: string) => {
    if (!isCount(name)) faults.push(`the header ${name} is ${headers[name]}`);
  };
  // Answers to paths under /bot carry no used weight, nor does what a full gateway refuses before it charges
  // anything.
  const isUncharged = status === 503 && headers["x-mbx-used-weight-1m"] === undefined;
  if (!isOfBots(path) && !isUncharged) mustHave("x-mbx-used-weight-1m");
  // An unsigned request learns nothing of a key's orders.
  const hasPlaced = status === 200 && route?.access === "signed" && route.placesOrder;
  if (hasPlaced || code === ORDERS_EXHAUSTED_CODE) {
    mustHave("x-mbx-order-count-10s");
    mustHave("x-mbx-order-count-1m");
  }
  const mustWait = status === 429 || status === 418 || status === 503;
  if (mustWait && !(isCount("retry-after") && headers["retry-after"] !== "0")) {
    faults.push(`the header retry-after is ${headers["retry-after"]}`);
  }
  return faults;
}

function isPage({ method, path }: Goal): boolean {
  return methodOfRoute(method) === "GET" && path === START_PATH;
}

function isOfBots(path: string): boolean {
  return /^\/bot(\/|$)/.test(path);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function codeOf(body: unknown): number | null {
  if (typeof body !== "object" || body === null || !("code" in body)) return null;
  return typeof body.code === "number" ? body.code : null;
}

/** Whether a body has exactly the keys of an example, each of the same type. */
function isExactly(body: unknown, example: Readonly<Record<string, unknown>>): boolean {
  if (typeof body !== "object" || body === null) return false;
  const fields = Object.entries(body);
  return (
    fields.length === Object.keys(example).length &&
    fields.every(([name, value]) => name in example && typeof value === typeof example[name])
  );
}
