// What a real exchange does and another gateway does not: it refuses an exit once, does not show an order
// that it has executed, accepts a client id again, counts request weight by address, and cuts streams.
//
// Each behavior follows a schedule, not chance alone, so that every run meets it. Positions and balances are
// always those of the venue. Partial fills are not among them: the venue fills every order whole.
import { createHmac } from "node:crypto";
import type { StrategyType } from "../../../src/domain/account.ts";
import type { Answer, Passing } from "../../support/servers/fault-proxy.ts";

export const BEHAVIORS = ["REFUSE_EXIT", "HIDE", "REUSE_IDS", "WEIGHT_BY_ADDRESS", "CUT_STREAM"] as const;
export type Behavior = (typeof BEHAVIORS)[number];

export type WayRequest = {
  readonly method: string;
  readonly path: string;
  /** Query and body. */
  readonly parameters: URLSearchParams;
  readonly apiKey: string | null;
};

/** A request that a proxy has taken. */
export function requestOf({ method, path, query, headers, body }: Passing): WayRequest {
  const apiKey = headers["x-mbx-apikey"];
  const parameters = new URLSearchParams([query, body.toString("latin1")].join("&"));
  return { method, path, parameters, apiKey: typeof apiKey === "string" ? apiKey : null };
}

/** The first candidate that is affected, and every so many after it. */
export type Schedule = { readonly first: number; readonly every: number };
export type BehaviorOptions = {
  /** Candidates: orders that only reduce, and spot sales. Each is refused once. */
  readonly refuseExit?: Schedule;
  /** Candidates: orders and legs that the venue accepted. They are hidden for a drawn time, ms. */
  readonly hide?: Schedule & { readonly leastMs: number; readonly mostMs: number };
  /**
   * The secret of a key, with which a request is signed again under another client id. Without it ids are not
   * reused.
   */
  readonly reuseIds?: { readonly secretOf: (apiKey: string) => string | undefined };
  /** Weight per minute that an address has. */
  readonly weightByAddress?: { readonly SPOT: number; readonly FUTURES: number };
  /** Unix ms. */
  readonly now?: () => number;
};

/** Passes a request on to the venue; `isChanged`: with the parameters as they are now. */
export type Forward = (request: WayRequest, isChanged: boolean) => Promise<Answer>;

type Hidden = {
  readonly apiKey: string;
  readonly clientId: string;
  readonly id: string;
  readonly until: number;
};

/** Per minute. Source: reference exchange, section 4. */
export const WEIGHTS_OF_ADDRESS = { SPOT: 6_000, FUTURES: 2_400 };
const MINUTE_MS = 60_000;
const PLACEMENTS = ["/api/v3/order", "/fapi/v1/order", "/fapi/v1/algoOrder"];
const ID_FIELDS = ["orderId", "algoId"];
const CLIENT_ID_NAMES = ["newClientOrderId", "origClientOrderId", "clientAlgoId"];
/** With a symbol, and without. Source: reference exchange, sections 4, 7 and 11. */
const WEIGHTS: Readonly<Record<string, readonly [ofOne: number, ofAll: number]>> = {
  "GET /api/v3/account": [20, 20],
  "GET /api/v3/openOrders": [6, 80],
  "GET /api/v3/order": [4, 4],
  "GET /api/v3/allOrders": [20, 20],
  "GET /api/v3/myTrades": [20, 20],
  "GET /api/v3/ticker/price": [2, 4],
  "GET /api/v3/exchangeInfo": [20, 20],
  "POST /fapi/v1/order": [0, 0],
  "POST /fapi/v1/algoOrder": [0, 0],
  "GET /fapi/v3/account": [5, 5],
  "GET /fapi/v2/account": [5, 5],
  "GET /fapi/v3/positionRisk": [5, 5],
  "GET /fapi/v2/positionRisk": [5, 5],
  "GET /fapi/v1/openOrders": [1, 40],
  "GET /fapi/v1/openAlgoOrders": [1, 40],
  "GET /fapi/v1/allOrders": [5, 5],
  "GET /fapi/v1/userTrades": [5, 5],
  "GET /fapi/v1/premiumIndex": [1, 10],
  "GET /fapi/v1/income": [30, 30],
};

/** `GET /api/v3/myTrades` with `orderId`. */
const TRADES_OF_ORDER = 5;

const NOT_FOUND = refusal(400, -2013, "Order does not exist.");
const NOT_OPEN = refusal(400, -2011, "Unknown order sent.");
const DUPLICATE = {
  SPOT: refusal(400, -2010, "Duplicate order sent."),
  FUTURES: refusal(400, -4116, "ClientOrderId is duplicated."),
};
const UNKNOWN = refusal(
  503,
  -1007,
  "Timeout waiting for response from backend server. Send status unknown; execution status unknown.",
);
const OVERLOADED = refusal(
  400,
  -1008,
  "Server is currently overloaded with other requests. Please try again in a few minutes.",
);
const FUTURES_EXITS = [
  refusal(400, -4131, "The counterparty's best price does not meet the PERCENT_PRICE filter limit."),
  refusal(400, -4400, "Futures Trading Quantitative Rules violated, only reduceOnly order is allowed."),
  OVERLOADED,
];

export class ExchangeBehavior {
  readonly #options: BehaviorOptions;
  readonly #draw: () => number;
  /** How often each was met. */
  readonly met = Object.fromEntries(BEHAVIORS.map((each) => [each, 0])) as Record<Behavior, number>;
  /** How often the venue has accepted a placement under a client id, by the copier's own id. */
  readonly accepted = new Map<string, number>();
  /** A test's own answer to a request; null lets the request pass. */
  instead: (request: WayRequest) => Answer | null = () => null;
  #now: () => number;
  #isMended = false;
  #exits = 0;
  #placed = 0;
  #refused = new Set<string>();
  #hidden: Hidden[] = [];
  /** The legs that the venue has accepted, by key and id. */
  readonly #legs = new Set<string>();
  /** What the venue knows a reused id by, by key and own id. */
  readonly #renamed = new Map<string, string>();
  #minute = -1;
  /** The weight of the present minute. */
  readonly used = { SPOT: 0, FUTURES: 0 };

  constructor(options: BehaviorOptions, draw: () => number) {
    this.#options = options;
    this.#draw = draw;
    this.#now = options.now ?? (() => Date.now());
  }

  /** The clock of a test. */
  setClock(now: () => number): void {
    this.#now = now;
  }

  /** From now on it behaves as the venue does; reused ids stay what they are. */
  mend(): void {
    this.#isMended = true;
    this.#hidden = [];
  }

  /** A message of a user data stream as the copier gets it; null for one about an order that is hidden. */
  shown(message: string): string | null {
    const named = this.#named(message);
    return this.#stillHidden().some(({ clientId }) => named.includes(clientId)) ? null : named;
  }

  /** What the exchange answers. */
  async answer(request: WayRequest, forward: Forward): Promise<Answer> {
    const own = this.#overWeight(request) ?? this.instead(request) ?? this.#refusedExit(request);
    const answered = own ?? (await this.#shown(request, forward));
    const limits = this.#options.weightByAddress;
    if (limits === undefined || this.#isMended) return answered;
    const type = typeOf(request);
    const isRules = request.path.endsWith("/exchangeInfo") && answered.status === 200;
    return {
      ...{ status: answered.status, body: isRules ? published(answered, limits[type]) : answered.body },
      headers: { ...answered.headers, "x-mbx-used-weight-1m": String(this.used[type]) },
    };
  }

  #overWeight({ method, path, parameters }: WayRequest): Answer | null {
    const limits = this.#options.weightByAddress;
    if (limits === undefined || this.#isMended) return null;
    const minute = Math.floor(this.#now() / MINUTE_MS);
    if (minute !== this.#minute) Object.assign(this.used, { SPOT: 0, FUTURES: 0 });
    this.#minute = minute;
    const type = typeOf({ path });
    const [ofOne, ofAll] = WEIGHTS[`${method} ${path}`] ?? [1, 1];
    const isOfOrder = path === "/api/v3/myTrades" && parameters.has("orderId");
    this.used[type] += isOfOrder ? TRADES_OF_ORDER : parameters.has("symbol") ? ofOne : ofAll;
    if (this.used[type] <= limits[type]) return null;
    this.met.WEIGHT_BY_ADDRESS += 1;
    const seconds = Math.ceil((MINUTE_MS - (this.#now() % MINUTE_MS)) / 1_000);
    const { status, body } = refusal(429, -1003, "Too many requests.");
    return { status, body, headers: { "retry-after": String(seconds) } };
  }

  #refusedExit(request: WayRequest): Answer | null {
    const schedule = this.#options.refuseExit;
    if (schedule === undefined || this.#isMended || !isExit(request)) return null;
    const account = `${request.apiKey} ${request.parameters.get("symbol")}`;
    // The next exit of the position passes: an exit is refused once.
    if (this.#refused.delete(account)) return null;
    this.#exits += 1;
    if (!isDue(schedule, this.#exits)) return null;
    this.#refused.add(account);
    const nth = this.met.REFUSE_EXIT;
    this.met.REFUSE_EXIT += 1;
    const isSpot = typeOf(request) === "SPOT";
    return (isSpot ? OVERLOADED : FUTURES_EXITS[nth % FUTURES_EXITS.length]) ?? OVERLOADED;
  }

  /** Forwards the request, and leaves hidden orders out of the answer. */
  async #shown(request: WayRequest, forward: Forward): Promise<Answer> {
    if (isPlacement(request)) return await this.#placement(request, forward);
    const { method, apiKey } = request;
    const isOne = PLACEMENTS.includes(request.path);
    if (isOne && method === "DELETE" && this.#isHidden(request)) return NOT_OPEN;
    if (isOne && method === "GET" && this.#isHidden(request)) return NOT_FOUND;
    const isRenamed = this.#rename(request);
    const answered = await forward(request, isRenamed);
    if (answered.status !== 200 || method !== "GET" || apiKey === null) return this.#ownNames(answered);
    const hidden = this.#hiddenIds(apiKey);
    if (hidden.size === 0) return this.#ownNames(answered);
    const body: unknown = JSON.parse(String(answered.body));
    if (!Array.isArray(body)) return this.#ownNames(answered);
    const shown = body.filter((row) => !ID_FIELDS.some((field) => hidden.has(String(row?.[field]))));
    if (shown.length === body.length) return this.#ownNames(answered);
    return this.#ownNames({ ...answered, body: JSON.stringify(shown) });
  }

  async #placement(request: WayRequest, forward: Forward): Promise<Answer> {
    const { parameters, apiKey } = request;
    const clientId = clientIdOf(parameters) ?? "";
    const again = await this.#reuse(request, clientId, forward);
    if (again?.kind === "REFUSED") return again.answer;
    const forgetReuse = () => again !== null && this.#forgetReuse(`${apiKey} ${clientId}`, again.before);
    const answered = await forward(request, again !== null).then(
      (forwarded) => this.#ownNames(forwarded),
      (error) => {
        forgetReuse();
        throw error;
      },
    );
    if (answered.status !== 200) {
      forgetReuse();
      return answered;
    }
    const body = JSON.parse(String(answered.body));
    // A venue may answer a leg that is sent again with the one that it has.
    const leg = `${apiKey} ${body.algoId}`;
    if (body.algoId === undefined || !this.#legs.has(leg)) {
      this.accepted.set(clientId, (this.accepted.get(clientId) ?? 0) + 1);
      this.#legs.add(leg);
    }
    if (again !== null) this.met.REUSE_IDS += 1;
    const schedule = this.#options.hide;
    if (schedule === undefined || this.#isMended || apiKey === null) return answered;
    this.#placed += 1;
    if (!isDue(schedule, this.#placed)) return answered;
    const id = String(body.orderId ?? body.algoId);
    const { leastMs, mostMs } = schedule;
    const until = this.#now() + leastMs + this.#draw() * (mostMs - leastMs);
    this.#hidden.push({ apiKey, clientId, id, until });
    this.met.HIDE += 1;
    return UNKNOWN;
  }

  /**
   * A client id that was accepted before is accepted again, under a name of its own, unless its order is
   * known to be open.
   */
  async #reuse(
    request: WayRequest,
    clientId: string,
    forward: Forward,
  ): Promise<
    | { readonly kind: "RENAMED"; readonly before: string | null }
    | { readonly kind: "REFUSED"; readonly answer: Answer }
    | null
  > {
    const { reuseIds } = this.#options;
    const times = this.accepted.get(clientId) ?? 0;
    const { apiKey, parameters, path } = request;
    if (reuseIds === undefined || times === 0 || apiKey === null) return null;
    const isLeg = path.endsWith("/algoOrder");
    if (!this.#isHidden(request)) {
      const named = isLeg ? { clientAlgoId: clientId } : { origClientOrderId: clientId };
      const symbol = parameters.get("symbol") ?? "";
      const timestamp = parameters.get("timestamp") ?? "";
      const asked = new URLSearchParams({ symbol, timestamp, recvWindow: "60000", ...named });
      this.#rename({ ...request, parameters: asked });
      const found = await forward({ ...request, method: "GET", parameters: asked }, true);
      const body = JSON.parse(String(found.body));
      const status = body.status ?? body.algoStatus;
      if (status === "NEW" || status === "PARTIALLY_FILLED")
        return { kind: "REFUSED", answer: DUPLICATE[typeOf(request)] };
    }
    const suffix = `x${times + 1}`;
    const renamed = clientId.slice(0, 36 - suffix.length) + suffix;
    const before = this.#renamed.get(`${apiKey} ${clientId}`) ?? null;
    this.#renamed.set(`${apiKey} ${clientId}`, renamed);
    parameters.set(isLeg ? "clientAlgoId" : "newClientOrderId", renamed);
    return { kind: "RENAMED", before };
  }

  /** The venue did not accept it under its new name. */
  #forgetReuse(key: string, before: string | null): void {
    if (before === null) this.#renamed.delete(key);
    else this.#renamed.set(key, before);
  }

  /** Asks for the newest order under a reused id. */
  #rename({ parameters, apiKey }: WayRequest): boolean {
    let isChanged = false;
    for (const name of CLIENT_ID_NAMES) {
      const renamed = this.#renamed.get(`${apiKey} ${parameters.get(name)}`);
      if (renamed === undefined) continue;
      parameters.set(name, renamed);
      isChanged = true;
    }
    return isChanged;
  }

  /** The answer under the ids that the copier has sent. */
  #ownNames(answered: Answer): Answer {
    return this.#renamed.size === 0 ? answered : { ...answered, body: this.#named(String(answered.body)) };
  }

  #named(text: string): string {
    let named = text;
    for (const [key, renamed] of this.#renamed) named = named.replaceAll(renamed, key.split(" ")[1] ?? "");
    return named;
  }

  #isHidden({ apiKey, parameters }: WayRequest): boolean {
    const clientId = clientIdOf(parameters);
    const id = parameters.get("orderId") ?? parameters.get("algoId");
    return this.#stillHidden().some(
      (each) => each.apiKey === apiKey && (each.clientId === clientId || each.id === id),
    );
  }

  #hiddenIds(apiKey: string): ReadonlySet<string> {
    return new Set(
      this.#stillHidden()
        .filter((each) => each.apiKey === apiKey)
        .map(({ id }) => id),
    );
  }

  #stillHidden(): readonly Hidden[] {
    const now = this.#now();
    this.#hidden = this.#hidden.filter(({ until }) => until > now);
    return this.#hidden;
  }
}

/** The parameters with a new signature; `secret` is the account's. */
export function signedAgain(parameters: URLSearchParams, secret: string): string {
  const unsigned = new URLSearchParams(parameters);
  unsigned.delete("signature");
  const text = unsigned.toString();
  return `${text}&signature=${createHmac("sha256", secret).update(text).digest("hex")}`;
}

function isPlacement({ method, path }: WayRequest): boolean {
  return method === "POST" && PLACEMENTS.includes(path);
}

/** Whether it can only make a position smaller. */
function isExit(request: WayRequest): boolean {
  const { path, parameters } = request;
  if (!isPlacement(request) || path.endsWith("/algoOrder")) return false;
  return path.startsWith("/api")
    ? parameters.get("side") === "SELL"
    : parameters.get("reduceOnly") === "true";
}

function clientIdOf(parameters: URLSearchParams): string | null {
  const named = CLIENT_ID_NAMES.map((name) => parameters.get(name));
  return named.find((each) => each !== null) ?? null;
}

function typeOf({ path }: Pick<WayRequest, "path">): StrategyType {
  return path.startsWith("/api") ? "SPOT" : "FUTURES";
}

function isDue({ first, every }: Schedule, nth: number): boolean {
  return nth >= first && (nth - first) % every === 0;
}

/** The rules of the exchange with the weight that an address has. */
function published({ body }: Answer, limit: number): string {
  const rules = JSON.parse(String(body));
  for (const each of rules.rateLimits) if (each.rateLimitType === "REQUEST_WEIGHT") each.limit = limit;
  return JSON.stringify(rules);
}

function refusal(status: number, code: number, msg: string): Answer {
  return { status, body: JSON.stringify({ code, msg }) };
}
