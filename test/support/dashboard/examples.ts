// An example of each row of the dashboard's server: what tenant A would send, and what is answered when all
// is right. A row that takes a body and has none fails the matrix.
import type { DashboardRoute } from "../../../src/dashboard-api/route.ts";
import type {
  CopyJson,
  KeyJson,
  OrderJson,
  StrategyJson,
  VenueAccountJson,
} from "../../../src/dashboard-api/schemas.ts";
import type { Browser } from "./client.ts";
import { connectAccount, follow, newOffer, newVenueKey } from "./copying-world.ts";
import { PASSWORD } from "./fixture.ts";
import { newKey, restOrder, type World, waitLeg } from "./world.ts";

export type Example = {
  /** Path and query. */
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** The status for an allowed caller; 200 by default. A row of ANYONE may have a rejection of its own. */
  readonly status?: number;
  /** Of SIGNED_IN rows: the role that is excluded on purpose. */
  readonly notFor?: "OPERATOR";
};

type Ids = Readonly<Record<string, string | number>>;
/** What an example has besides its row's path with tenant A's ids; `ids` go before those. */
type Given = Omit<Example, "path"> & { readonly ids?: Ids; readonly query?: string };
/**
 * `caller` is the sender: codes are of its authenticator. What an example uses up is created for each call.
 */
type MakeGiven = (world: World, caller: Browser | null) => Promise<Given> | Given;

const FORM = {
  fullName: "Ada Example",
  birthDate: "1980-02-03",
  country: "DE",
  address: "1 Example Street\nExampletown",
  documentKind: "PASSPORT",
  documentNumber: "X1234567",
} as const;

const SETTINGS = { share: "0.5", maxPerOrder: "250", stopLoss: null } as const;
const REASON = { reason: "Something looks odd." } as const;

const TOKEN = "not-a-token-that-was-sent";

/** What has no more to say than whose code it bears. */
const coded: MakeGiven = (_world, caller) => ({ body: { code: codeOf(caller) } });
const codedByOperator: MakeGiven = async ({ somebody, a }, caller) => ({
  ids: { personId: (await somebody({})).personId },
  body: { code: codeOf(caller ?? a.operator) },
});
const ofSpareCopy =
  (body?: Given["body"]): MakeGiven =>
  async (world) => ({ ids: { copyId: await spareCopy(world) }, ...(body && { body }) });

/**
 * By method and path as the row has them: of rows that take a body, use something up, or answer otherwise.
 */
export const EXAMPLES: Readonly<Record<string, Given | MakeGiven>> = {
  "POST /sign-up": { body: { email: "new@example.org" }, status: 202 },
  "POST /verify-email": {
    body: { token: TOKEN, name: "New", password: "a long enough password" },
    status: 400,
  },
  "POST /session": { body: { email: "nobody@example.org", password: "not the password" }, status: 401 },
  "POST /password-reset": { body: { email: "nobody@example.org" }, status: 202 },
  "POST /password-reset/finish": { body: { token: TOKEN, password: "a long enough password" }, status: 400 },

  "POST /password": (_world, caller) => ({
    body: { current: PASSWORD, password: "another long password", code: codeOf(caller) },
  }),
  "POST /sessions/end": async ({ a }, caller) => ({
    body: { sessionId: await sessionOf(caller, a.sessionId), password: PASSWORD, code: codeOf(caller) },
  }),
  // A right password would leave nobody to call the other rows.
  "POST /account/close": { body: { password: "not the password" }, status: 401, notFor: "OPERATOR" },
  "PUT /profile": { body: { profile: "TRADER" }, notFor: "OPERATOR" },

  "POST /second-factor": { body: { password: PASSWORD }, status: 409 },
  "POST /second-factor/confirm": { body: { code: "000000" }, status: 403 },
  "POST /second-factor/disable": coded,
  "POST /second-factor/recovery-codes": coded,

  "POST /kyc": { body: FORM, notFor: "OPERATOR" },

  "POST /keys": (_world, caller) => ({ body: { label: "another", code: codeOf(caller) }, status: 201 }),
  "POST /keys/:keyId/revoke": async ({ a }, caller) => ({
    ids: { keyId: await spareKey(a.trader) },
    body: { code: codeOf(caller) },
  }),

  "POST /strategies": async ({ a }) => ({
    body: { name: "Another", type: "SPOT", keyId: await spareKey(a.trader) },
    status: 201,
  }),
  "PUT /strategies/:strategyId/name": { body: { name: "Renamed" } },
  "PUT /strategies/:strategyId/key": async ({ a }, caller) => ({
    ids: { strategyId: await keylessStrategy(a.trader) },
    body: { keyId: await spareKey(a.trader), code: codeOf(caller) },
  }),
  "POST /strategies/:strategyId/close": async ({ a }) => ({
    ids: { strategyId: await keylessStrategy(a.trader) },
    body: { confirmation: KEYLESS },
  }),
  "GET /strategies/:strategyId/trades/:tradeId": { ids: { tradeId: 1 } },
  "GET /strategies/:strategyId/orders": { query: "state=all&symbol=BTCUSDT" },
  "DELETE /strategies/:strategyId/orders/:orderId": async ({ fixture, a }) => {
    const { rows } = await a.trader.get(`/strategies/${a.spot.strategyId}/orders`);
    const other = rows.find(({ orderId }: OrderJson) => orderId !== a.orderId);
    return { ids: { orderId: other?.orderId ?? (await restOrder(fixture, a.spot)) } };
  },
  "GET /strategies/:strategyId/legs": ({ a }) => ({ ids: a.futures, query: "state=open" }),
  "DELETE /strategies/:strategyId/legs/:legId": async ({ fixture, a }) => {
    const { strategyId } = a.futures;
    const { rows } = await a.trader.get(`/strategies/${strategyId}/legs`);
    return { ids: { strategyId, legId: rows[0]?.legId ?? (await waitLeg(fixture, a.futures)) } };
  },
  "GET /strategies/:strategyId/positions": ({ a }) => ({ ids: a.futures }),
  "GET /strategies/:strategyId/incomes": ({ a }) => ({ ids: a.futures }),
  "GET /strategies/:strategyId/performance": { query: "range=24h" },
  "GET /strategies/:strategyId/performance.csv": { query: "range=all" },

  "GET /markets/:family/symbols": { ids: { family: "SPOT" } },
  "GET /markets/:family/candles": {
    ids: { family: "FUTURES" },
    query: "symbol=BTCUSDT&interval=1m&limit=10",
  },

  "POST /copying/accounts": async ({ fixture }, caller) => ({
    body: {
      ...{ family: "FUTURES", venue: fixture.url, label: "Another", code: codeOf(caller) },
      ...(await newVenueKey(fixture, "FUTURES")),
    },
    status: 201,
  }),
  "PUT /copying/accounts/:accountId/credentials": async ({ fixture }, caller) => ({
    body: { ...(await newVenueKey(fixture, "SPOT")), code: codeOf(caller) },
  }),
  "DELETE /copying/accounts/:accountId": async (world, caller) => ({
    ids: { accountId: await spareAccount(world) },
    body: { code: codeOf(caller) },
  }),
  "GET /copying/offers": { query: "type=SPOT" },
  "GET /copying/offers/:strategyId": ({ offerId }) => ({ ids: { strategyId: offerId } }),
  "POST /copying/preview": ({ offerId, a }) => ({
    body: { strategyId: offerId, accountId: a.accountId, settings: SETTINGS },
  }),
  "POST /copies": async (world) => ({
    body: {
      strategyId: await newOffer(world.fixture),
      accountId: await spareAccount(world),
      settings: SETTINGS,
    },
    status: 201,
  }),
  "PUT /copies/:copyId/settings": { body: SETTINGS },
  "POST /copies/:copyId/pause": ofSpareCopy(),
  "POST /copies/:copyId/resume": ofSpareCopy(),
  "POST /copies/:copyId/stop": ofSpareCopy({ closesAll: true }),
  "POST /copies/:copyId/repair": { body: { mayIncrease: false } },
  "GET /copies/:copyId/entries": { query: "status=SKIPPED" },
  "POST /copies/:copyId/halt": { body: REASON },
  "PUT /strategies/:strategyId/copying": { body: { isOpen: false } },
  "POST /strategies/:strategyId/copying/halt": { body: REASON },

  "POST /operator/copying/switches": async ({ somebody }) => ({
    body: { kind: "COPIER", id: (await somebody({ profile: "COPIER" })).email, ...REASON },
  }),
  "POST /operator/copying/switches/clear": async ({ a, somebody }) => {
    const { personId, email } = await somebody({ profile: "COPIER" });
    const set = { kind: "COPIER", id: personId, ...REASON } as const;
    await a.operator.send("POST", "/operator/copying/switches", set);
    return { body: { kind: "COPIER", id: email } };
  },

  "GET /operator/kyc": { query: "status=PENDING" },
  "GET /operator/kyc/:submissionId": async (world) => ({ ids: { submissionId: await newSubmission(world) } }),
  "POST /operator/kyc/:submissionId/decision": async (world) => ({
    ids: { submissionId: await newSubmission(world) },
    body: { status: "REJECTED", reason: "The document cannot be read." },
  }),
  "GET /operator/people": { query: "search=example" },
  "POST /operator/people/:personId/end-sessions": async ({ somebody }) => ({
    ids: { personId: (await somebody({})).personId },
  }),
  "POST /operator/people/:personId/lock": async ({ somebody }) => ({
    ids: { personId: (await somebody({})).personId },
    body: REASON,
  }),
  "POST /operator/people/:personId/unlock": async ({ a, somebody }) => {
    const { personId } = await somebody({});
    await a.operator.send("POST", `/operator/people/${personId}/lock`, REASON);
    return { ids: { personId } };
  },
  "POST /operator/people/:personId/reset-second-factor": codedByOperator,
  "POST /operator/people/:personId/keys/:keyId/revoke": async ({ fixture }) => {
    const person = await fixture.somebody({});
    return { ids: { personId: person.personId, keyId: (await newKey(person)).keyId } };
  },
  "POST /operator/people/:personId/close": codedByOperator,
};

/** A row's example, about what tenant A has unless its own says otherwise. */
export async function exampleOf(
  world: World,
  { method, path, body }: DashboardRoute,
  caller: Browser | null,
): Promise<Example> {
  const own = EXAMPLES[`${method} ${path}`];
  if (own === undefined && body !== null) throw new Error(`${method} ${path} has no example: add one here`);
  const { ids = {}, query, ...rest } = typeof own === "function" ? await own(world, caller) : (own ?? {});
  const { spot, orderId, signalId, accountId, copyId, trader } = world.a;
  const all: Ids = { ...spot, orderId, signalId, accountId, copyId, personId: trader.personId, ...ids };
  const filled = path.replace(/:(\w+)/g, (_all, name: string) => {
    const id = all[name];
    if (id === undefined) throw new Error(`${method} ${path} has no ${name}`);
    return String(id);
  });
  return { path: query === undefined ? filled : `${filled}?${query}`, ...rest };
}

/** A key that manages nothing yet: the one that there is, or a new one. */
async function spareKey(trader: Browser): Promise<string> {
  const { rows } = await trader.get("/keys");
  const spare = rows.find((key: KeyJson) => key.revokedAt === null && key.strategy === null);
  return spare?.keyId ?? (await newKey(trader)).keyId;
}

const KEYLESS = "One without a key";

/** A strategy whose key was ended: the one that there is, or a new one. */
async function keylessStrategy(trader: Browser): Promise<string> {
  const { rows } = await trader.get("/strategies");
  const keyless = rows.find(
    ({ name, key, status }: StrategyJson) => name === KEYLESS && key === null && status === "LIVE",
  );
  if (keyless !== undefined) return keyless.strategyId;
  const { keyId } = await newKey(trader);
  const made = await trader.send("POST", "/strategies", { name: KEYLESS, type: "SPOT", keyId });
  await trader.send("POST", `/keys/${keyId}/revoke`, { code: trader.code() });
  return made.strategyId;
}

/** An account of tenant A's that no copy uses: the one that there is, or a new one. */
async function spareAccount({ fixture, a }: World): Promise<string> {
  const { rows } = await a.copier.get("/copying/accounts");
  const spare = rows.find(
    ({ family: type, status, copyId }: VenueAccountJson) =>
      type === "SPOT" && status === "CONNECTED" && copyId === null,
  );
  return spare?.accountId ?? (await connectAccount(fixture, a.copier, "SPOT")).accountId;
}

/** Another copy of tenant A's that is not being closed: the one that there is, or a new one. */
async function spareCopy(world: World): Promise<string> {
  const { a, fixture } = world;
  const { rows } = await a.copier.get("/copies");
  const spare = rows.find(
    ({ copyId, status }: CopyJson) => copyId !== a.copyId && (status === "FOLLOWING" || status === "PAUSED"),
  );
  return spare?.copyId ?? (await follow(a.copier, await newOffer(fixture), await spareAccount(world)));
}

/** A code of the caller's authenticator; without an authenticator, something that looks like a code. */
function codeOf(caller: Browser | null): string {
  return caller?.hasAuthenticator() === true ? caller.code() : "000000";
}

/** The caller's own session, or, of a stranger, tenant A's. */
async function sessionOf(caller: Browser | null, other: string): Promise<string> {
  if (caller === null) return other;
  const { status, body } = await caller.call("GET", "/sessions");
  return status === 200 ? body.rows[0].sessionId : other;
}

async function newSubmission({ fixture, somebody, a }: World): Promise<string> {
  const person = await somebody({ kyc: "NONE" });
  await person.send("POST", "/kyc", FORM);
  const { body } = await a.operator.call("GET", "/operator/kyc?status=PENDING");
  const found = body.rows.find(
    (row: { person: { personId: string } }) => row.person.personId === person.personId,
  );
  if (found === undefined) throw new Error(`the form is queued: ${fixture.url}`);
  return found.submissionId;
}
