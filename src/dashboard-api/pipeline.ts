// The protocol of the dashboard's routes: the steps of the request pipeline as its browser needs them.
// Authentication is by session and charges the person who is signed in, else the address; a request from
// another site's page is rejected before that and charged to nobody. Admission is by role, profile, approved
// identity and an operator's second factor. Invariant: what a client sends ends in an answer or in a refusal
// of `errors.ts`; any other error is a fault of ours, which the server logs without what was sent. A ban of
// the exchange-style routes does not end here: the dashboard shows it.
import { encode } from "zod";
import type { Person } from "../domain/person.ts";
import { isRefusal, type Refusal } from "../domain/refusal.ts";
import {
  type ApiFamily,
  type Gateway,
  methodOfRoute,
  observed,
  type Protocol,
  type Reply,
  type Row,
  respond,
} from "../http/pipeline.ts";
import type { Caller } from "../people/cookies.ts";
import type { SignedInSession } from "../people/sessions.ts";
import { addressHolder } from "../rate-limits/holder.ts";
import { StoreFailure, StoreUnavailable } from "../store/store.ts";
import { DashboardError } from "./errors.ts";
import { compressed, NO_PAGE_POLICY } from "./files.ts";
import { isOfAnotherSite } from "./origin.ts";
import type { DashboardParts } from "./parts.ts";
import { readBody, readQuery } from "./reading.ts";
import {
  CHANGES_PER_ADDRESS_MAX,
  CHANGES_PER_PERSON_MAX,
  KnownSessions,
  REQUESTS_PER_ADDRESS_MAX,
  REQUESTS_PER_PERSON_MAX,
  RequestBudgets,
  STOPS_PER_PERSON_MAX,
  UNKNOWN_SESSIONS_PER_ADDRESS_MAX,
} from "./request-budgets.ts";
import type { DashboardAnswer, DashboardCall, DashboardRoute, TextFile } from "./route.ts";
import { API_PREFIX, routeTable } from "./route-table.ts";
import { ALL_ROUTES } from "./routes.ts";

/** Said with every answer: it is nobody else's to keep, to guess at or to show. */
const HEADERS = {
  "cache-control": "no-store",
  "content-security-policy": NO_PAGE_POLICY,
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
} as const;
/**
 * Said by a page that asks by itself, such as for what has changed, while nobody uses it: the session does
 * not go on for it.
 */
const UNATTENDED_HEADER = "x-lyrebird-unattended";
const JSON_TYPE = "application/json;charset=UTF-8";

/** What the server hands the dashboard's requests to: all that lies under `/dashboard/api`. */
export function createDashboard(parts: DashboardParts, gateway: Gateway): ApiFamily {
  const find = routeTable(ALL_ROUTES);
  const protocol = dashboardProtocol(parts);
  return {
    takes: (path) => path === API_PREFIX || path.startsWith(`${API_PREFIX}/`),
    answer: (request) =>
      observed(request, gateway.observer, async (context) => {
        const found = find(methodOfRoute(request.method), request.path);
        const route = found === null ? null : rowOf(found.route, found.params, parts);
        context.path = found === null ? null : `${API_PREFIX}${found.route.path}`;
        try {
          const reply = await respond(request, { route, protocol, pages: () => null }, gateway, context);
          return found?.route.showsSecrets === true
            ? reply
            : await compressed(reply, request.headers["accept-encoding"]);
        } catch (error) {
          if (error instanceof DashboardError) return refused(error);
          throw error;
        }
      }),
    words: {
      refused: (refusal) => refused(errorOf(refusal)),
      outcomeUnknown: refused(new DashboardError("OUTCOME_UNKNOWN")),
      fault: refused(new DashboardError("FAULT")),
    },
  };
}

/** A row of the table with the values of its path, as the pipeline takes it. */
type RequestRow = Row<Asked, SignedIn & { readonly admittedAt: number }, Reply> & {
  readonly route: DashboardRoute;
};
type Asked = { readonly query: string; readonly body: string; readonly contentType: string | undefined };
type SignedIn = { readonly caller: Caller; readonly signedIn: SignedInSession | null };

function rowOf(route: DashboardRoute, params: DashboardCall["params"], parts: DashboardParts): RequestRow {
  return {
    route,
    parse: ({ body, query, contentType }) => ({
      body: readBody(route.body, body, contentType),
      query: readQuery(route.query, query),
    }),
    async answer(read, _ports, { caller, signedIn, admittedAt: now }) {
      const { body, query } = read as Pick<DashboardCall, "body" | "query">;
      try {
        return await route.answer({ parts, caller, signedIn, params, now, body, query });
      } catch (error) {
        // Of a change that takes several steps some may have been done: which, nobody knows here.
        if (!isChange(route) || !(error instanceof StoreUnavailable)) throw error;
        throw new StoreFailure("the database was lost in the middle of a change", { cause: error });
      }
    },
    present: (answer) => encoded(route, answer as DashboardAnswer),
  };
}

/** Its steps throw DashboardError where they refuse. */
function dashboardProtocol(
  parts: DashboardParts,
): Protocol<RequestRow, SignedIn & { readonly asked: Asked }, Reply> {
  const counted: Counted = {
    parts,
    budgets: new RequestBudgets(),
    budgetsOfPeople: new RequestBudgets(),
    knownSessions: new KnownSessions(),
  };
  return {
    heedsBans: false,
    keyOf: () => null,
    async authenticate({ request, body, route: { route } }, { wallNow }) {
      const { headers, address, query } = request;
      const saysNoOrigin = isChange(route) && headers.origin === undefined;
      if (saysNoOrigin || isOfAnotherSite(headers, parts.origins())) {
        throw new DashboardError("ORIGIN_REFUSED");
      }
      const caller = { address, userAgent: headers["user-agent"] ?? "", cookies: headers.cookie ?? null };
      const isUse = headers[UNATTENDED_HEADER] === undefined;
      const signedIn = await charged(route, { caller, isUse }, wallNow(), counted);
      return { caller, signedIn, asked: { query, body, contentType: headers["content-type"] } };
    },
    cost: () => null,
    admit({ route }, { signedIn }) {
      admit(route, signedIn);
      if (route.growsDisk && parts.gateway.desk.isShortOfSpace()) {
        throw new DashboardError("BUSY", { message: "The server is short of disk space." });
      }
      return null;
    },
    usageHeaders: { ofAddress: () => ({}), ofRoute: () => ({}) },
    envelope(answer) {
      if (isRefusal(answer)) throw errorOf(answer);
      return answer;
    },
  };
}

/** What the pipeline and the server refuse by themselves. */
function errorOf({ refusal }: Refusal): DashboardError {
  if (refusal === "PATH_UNKNOWN") return new DashboardError("NOT_FOUND");
  return new DashboardError(refusal === "BODY_TOO_LARGE" ? "BODY_TOO_LARGE" : "BUSY");
}

type Counted = {
  readonly parts: DashboardParts;
  readonly budgets: RequestBudgets;
  /** Apart: however many addresses there are, a person who is signed in is counted alone. */
  readonly budgetsOfPeople: RequestBudgets;
  readonly knownSessions: KnownSessions;
};

/**
 * Charges a request, and answers who is signed in with its cookies; null if nobody is. Throws
 * TOO_MANY_REQUESTS.
 *
 * Whatever the cookies are, the store is asked a bounded number of times: a token that opened a session
 * lately is charged to its person before it is looked up, every other token to the address. The address gets
 * the charge back if the token opens a session whose person may send more, since many people may share it.
 */
async function charged(
  route: DashboardRoute,
  { caller, isUse }: { readonly caller: Caller; readonly isUse: boolean },
  now: number,
  { parts, budgets, budgetsOfPeople, knownSessions }: Counted,
): Promise<SignedInSession | null> {
  const token = parts.people.accounts.sessionTokenOf(caller);
  const address = addressHolder(caller.address);
  const unknown = `${address} unknown sessions`;
  const demand = (retryAfterSeconds: number | null) => {
    if (retryAfterSeconds !== null) throw new DashboardError("TOO_MANY_REQUESTS", { retryAfterSeconds });
  };
  const charge = (holder: string, most: number) => demand(budgets.charge(holder, most, now));
  const chargeAddress = () => {
    charge(address, REQUESTS_PER_ADDRESS_MAX);
    if (isChange(route)) charge(`${address} changes`, CHANGES_PER_ADDRESS_MAX);
  };
  const chargePerson = (personId: string) => {
    const charge = (holder: string, most: number) => demand(budgetsOfPeople.charge(holder, most, now));
    if (route.onlyStops) return charge(`${personId} stops`, STOPS_PER_PERSON_MAX);
    charge(personId, REQUESTS_PER_PERSON_MAX);
    if (isChange(route)) charge(`${personId} changes`, CHANGES_PER_PERSON_MAX);
  };
  const lookUp = () => parts.people.accounts.sessionOf(caller, now, { isUse });

  // Signing in or up is not what a session is for: with one it costs no less.
  const needsNoSession = isChange(route) && route.access === "ANYONE";
  if (token === null || needsNoSession) {
    chargeAddress();
    return await lookUp();
  }
  const known = knownSessions.personOf(token, now);
  if (known !== null) chargePerson(known);
  else charge(unknown, UNKNOWN_SESSIONS_PER_ADDRESS_MAX);
  const signedIn = await lookUp();
  if (signedIn === null) {
    knownSessions.forget(token);
    chargeAddress();
  } else if (known === null) {
    const { personId } = signedIn.person;
    chargePerson(personId);
    budgets.giveBack(unknown, now);
    knownSessions.note(token, personId, now);
  }
  return signedIn;
}

function isChange({ method }: DashboardRoute): boolean {
  return method !== "GET";
}

/**
 * Throws unless the caller may call the row: NOT_SIGNED_IN, NOT_FOR_YOU, SECOND_FACTOR_NEEDED, KYC_NEEDED.
 */
function admit({ access, needsKyc }: DashboardRoute, signedIn: SignedInSession | null): void {
  if (access === "ANYONE") return;
  if (signedIn === null) throw new DashboardError("NOT_SIGNED_IN");
  const { person } = signedIn;
  if (!isFor(person, access)) throw new DashboardError("NOT_FOR_YOU");
  if (access === "OPERATOR" && !person.hasSecondFactor) throw new DashboardError("SECOND_FACTOR_NEEDED");
  if (needsKyc && person.kyc !== "APPROVED") throw new DashboardError("KYC_NEEDED");
}

function isFor({ role, profile }: Person, access: Exclude<DashboardRoute["access"], "ANYONE">): boolean {
  if (access === "SIGNED_IN") return true;
  return role === "OPERATOR" ? access === "OPERATOR" : access === profile;
}

function encoded(
  { output }: DashboardRoute,
  { status = 200, headers, cookies, body }: DashboardAnswer,
): Reply {
  const { text, contentType } =
    output === null
      ? (body as TextFile)
      : { text: JSON.stringify(encode(output, body)), contentType: JSON_TYPE };
  return {
    status,
    headers: {
      ...HEADERS,
      ...headers,
      ...(cookies === undefined || cookies.length === 0 ? {} : { "set-cookie": cookies }),
    },
    contentType,
    body: text,
  };
}

function refused({ status, json }: DashboardError): Reply {
  const { retryAfterSeconds } = json.error;
  const wait = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  return {
    status,
    headers: { ...HEADERS, ...wait },
    contentType: JSON_TYPE,
    body: JSON.stringify(json),
    refusal: { code: null, message: json.error.code },
  };
}
