// An example of each row of the dashboard's server: what tenant A would send, and what is answered when all
// is right. A row without one fails the matrix.
import type {
  CopyJson,
  KeyJson,
  OrderJson,
  StrategyJson,
  VenueAccountJson,
} from "../../src/dashboard-api/schemas.ts";
import { connectAccount, follow, newOffer, newVenueKey } from "./copying-world.ts";
import type { Browser } from "./dashboard-client.ts";
import { PASSWORD } from "./dashboard-stage.ts";
import { newKey, restOrder, type World, waitLeg } from "./dashboard-world.ts";

export type Example = {
  /** Path and query. */
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** The status for an allowed caller; 200 by default. A row of ANYONE may have a rejection of its own. */
  readonly status?: number;
  /** Of SIGNED_IN rows: the role that is excluded on purpose. */
  readonly notFor?: "OPERATOR";
};

/**
 * `caller` is the sender: codes are of its authenticator. What an example uses up is created for each call.
 */
export type MakeExample = (world: World, caller: Browser | null) => Promise<Example> | Example;

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

/** By method and path as the row has them. */
export const EXAMPLES: Readonly<Record<string, MakeExample>> = {
  "GET /session": () => ({ path: "/session" }),
  "POST /sign-up": () => ({
    path: "/sign-up",
    body: { email: "new@example.org" },
    status: 202,
  }),
  "POST /verify-email": () => ({
    path: "/verify-email",
    body: { token: TOKEN, name: "New", password: "a long enough password" },
    status: 400,
  }),
  "POST /session": () => ({
    path: "/session",
    body: { email: "nobody@example.org", password: "not the password" },
    status: 401,
  }),
  "DELETE /session": () => ({ path: "/session" }),
  "POST /password-reset": () => ({
    path: "/password-reset",
    body: { email: "nobody@example.org" },
    status: 202,
  }),
  "POST /password-reset/finish": () => ({
    path: "/password-reset/finish",
    body: { token: TOKEN, password: "a long enough password" },
    status: 400,
  }),

  "POST /password": (_world, caller) => ({
    path: "/password",
    body: { current: PASSWORD, password: "another long password", code: codeOf(caller) },
  }),
  "GET /sessions": () => ({ path: "/sessions" }),
  "POST /sessions/end": async ({ a }, caller) => ({
    path: "/sessions/end",
    body: { sessionId: await sessionOf(caller, a.sessionId), password: PASSWORD, code: codeOf(caller) },
  }),
  "GET /account": () => ({ path: "/account" }),
  "POST /account/close": () => ({
    path: "/account/close",
    // A right one would leave nobody to call the other rows.
    body: { password: "not the password" },
    status: 401,
    notFor: "OPERATOR",
  }),
  "PUT /profile": () => ({ path: "/profile", body: { profile: "TRADER" }, notFor: "OPERATOR" }),
  "GET /activity": () => ({ path: "/activity" }),

  "GET /second-factor": () => ({ path: "/second-factor" }),
  "POST /second-factor": () => ({ path: "/second-factor", body: { password: PASSWORD }, status: 409 }),
  "POST /second-factor/confirm": () => ({
    path: "/second-factor/confirm",
    body: { code: "000000" },
    status: 403,
  }),
  "POST /second-factor/disable": (_world, caller) => ({
    path: "/second-factor/disable",
    body: { code: codeOf(caller) },
  }),
  "POST /second-factor/recovery-codes": (_world, caller) => ({
    path: "/second-factor/recovery-codes",
    body: { code: codeOf(caller) },
  }),

  "GET /kyc": () => ({ path: "/kyc" }),
  "POST /kyc": () => ({ path: "/kyc", body: FORM, notFor: "OPERATOR" }),

  "GET /keys": () => ({ path: "/keys" }),
  "POST /keys": (_world, caller) => ({
    path: "/keys",
    body: { label: "another", code: codeOf(caller) },
    status: 201,
  }),
  "POST /keys/:keyId/revoke": async ({ a }, caller) => ({
    path: `/keys/${await spareKey(a.trader)}/revoke`,
    body: { code: codeOf(caller) },
  }),
  "GET /keys/:keyId/requests": ({ a }) => ({ path: `/keys/${a.spot.keyId}/requests` }),
  "POST /keys/:keyId/test": ({ a }) => ({ path: `/keys/${a.spot.keyId}/test` }),

  "GET /strategies": () => ({ path: "/strategies" }),
  "POST /strategies": async ({ a }) => ({
    path: "/strategies",
    body: { name: "Another", type: "SPOT", keyId: await spareKey(a.trader) },
    status: 201,
  }),
  "GET /strategies/sparklines": () => ({ path: "/strategies/sparklines" }),
  "GET /strategies/:strategyId": ({ a }) => ({ path: `/strategies/${a.spot.strategyId}` }),
  "PUT /strategies/:strategyId/name": ({ a }) => ({
    path: `/strategies/${a.spot.strategyId}/name`,
    body: { name: "Renamed" },
  }),
  "PUT /strategies/:strategyId/key": async ({ a }, caller) => {
    const strategyId = await keylessStrategy(a.trader);
    const keyId = await spareKey(a.trader);
    return { path: `/strategies/${strategyId}/key`, body: { keyId, code: codeOf(caller) } };
  },
  "GET /strategies/:strategyId/close-preview": ({ a }) => ({
    path: `/strategies/${a.spot.strategyId}/close-preview`,
  }),
  "POST /strategies/:strategyId/close": async ({ a }) => ({
    path: `/strategies/${await keylessStrategy(a.trader)}/close`,
    body: { confirmation: KEYLESS },
  }),
  "GET /strategies/:strategyId/orders": ({ a }) => ({
    path: `/strategies/${a.spot.strategyId}/orders?state=all&symbol=BTCUSDT`,
  }),
  "GET /strategies/:strategyId/orders/:orderId": ({ a }) => ({
    path: `/strategies/${a.spot.strategyId}/orders/${a.orderId}`,
  }),
  "DELETE /strategies/:strategyId/orders/:orderId": async ({ stage, a }) => {
    const { rows } = await a.trader.get(`/strategies/${a.spot.strategyId}/orders`);
    const other = rows.find(({ orderId }: OrderJson) => orderId !== a.orderId);
    const orderId = other?.orderId ?? (await restOrder(stage, a.spot));
    return { path: `/strategies/${a.spot.strategyId}/orders/${orderId}` };
  },
  "GET /strategies/:strategyId/legs": ({ a }) => ({
    path: `/strategies/${a.futures.strategyId}/legs?state=open`,
  }),
  "DELETE /strategies/:strategyId/legs/:legId": async ({ stage, a }) => {
    const { rows } = await a.trader.get(`/strategies/${a.futures.strategyId}/legs`);
    const legId = rows[0]?.legId ?? (await waitLeg(stage, a.futures));
    return { path: `/strategies/${a.futures.strategyId}/legs/${legId}` };
  },
  "GET /strategies/:strategyId/trades": ({ a }) => ({ path: `/strategies/${a.spot.strategyId}/trades` }),
  "GET /strategies/:strategyId/balances": ({ a }) => ({ path: `/strategies/${a.spot.strategyId}/balances` }),
  "GET /strategies/:strategyId/positions": ({ a }) => ({
    path: `/strategies/${a.futures.strategyId}/positions`,
  }),
  "GET /strategies/:strategyId/incomes": ({ a }) => ({
    path: `/strategies/${a.futures.strategyId}/incomes`,
  }),
  "GET /strategies/:strategyId/signals": ({ a }) => ({ path: `/strategies/${a.spot.strategyId}/signals` }),
  "GET /strategies/:strategyId/signals/:signalId": ({ a }) => ({
    path: `/strategies/${a.spot.strategyId}/signals/${a.signalId}`,
  }),
  "GET /strategies/:strategyId/performance": ({ a }) => ({
    path: `/strategies/${a.spot.strategyId}/performance?range=24h`,
  }),
  "GET /strategies/:strategyId/performance.csv": ({ a }) => ({
    path: `/strategies/${a.spot.strategyId}/performance.csv?range=all`,
  }),
  "GET /strategies/:strategyId/trades.csv": ({ a }) => ({
    path: `/strategies/${a.spot.strategyId}/trades.csv`,
  }),
  "GET /strategies/:strategyId/requests": ({ a }) => ({ path: `/strategies/${a.spot.strategyId}/requests` }),

  "GET /markets/:family/symbols": () => ({ path: "/markets/SPOT/symbols" }),
  "GET /markets/:family/candles": () => ({
    path: "/markets/FUTURES/candles?symbol=BTCUSDT&interval=1m&limit=10",
  }),

  "GET /copying/venues": () => ({ path: "/copying/venues" }),
  "GET /copying/accounts": () => ({ path: "/copying/accounts" }),
  "POST /copying/accounts": async ({ stage }, caller) => ({
    path: "/copying/accounts",
    body: {
      ...{ family: "FUTURES", venue: stage.url, label: "Another", code: codeOf(caller) },
      ...(await newVenueKey(stage, "FUTURES")),
    },
    status: 201,
  }),
  "POST /copying/accounts/:accountId/check": ({ a }) => ({ path: `/copying/accounts/${a.accountId}/check` }),
  "PUT /copying/accounts/:accountId/credentials": async ({ stage, a }, caller) => ({
    path: `/copying/accounts/${a.accountId}/credentials`,
    body: { ...(await newVenueKey(stage, "SPOT")), code: codeOf(caller) },
  }),
  "DELETE /copying/accounts/:accountId": async (world, caller) => ({
    path: `/copying/accounts/${await spareAccount(world)}`,
    body: { code: codeOf(caller) },
  }),
  "GET /copying/offers": () => ({ path: "/copying/offers?type=SPOT" }),
  "GET /copying/offers/:strategyId": ({ offerId }) => ({ path: `/copying/offers/${offerId}` }),
  "POST /copying/preview": ({ offerId, a }) => ({
    path: "/copying/preview",
    body: { strategyId: offerId, accountId: a.accountId, settings: SETTINGS },
  }),
  "GET /copies": () => ({ path: "/copies" }),
  "POST /copies": async (world) => ({
    path: "/copies",
    body: {
      strategyId: await newOffer(world.stage),
      accountId: await spareAccount(world),
      settings: SETTINGS,
    },
    status: 201,
  }),
  "GET /copies/:copyId": ({ a }) => ({ path: `/copies/${a.copyId}` }),
  "PUT /copies/:copyId/settings": ({ a }) => ({ path: `/copies/${a.copyId}/settings`, body: SETTINGS }),
  "POST /copies/:copyId/pause": async (world) => ({ path: `/copies/${await spareCopy(world)}/pause` }),
  "POST /copies/:copyId/resume": async (world) => ({ path: `/copies/${await spareCopy(world)}/resume` }),
  "POST /copies/:copyId/stop": async (world) => ({
    path: `/copies/${await spareCopy(world)}/stop`,
    body: { closesAll: true },
  }),
  "POST /copies/:copyId/repair": ({ a }) => ({
    path: `/copies/${a.copyId}/repair`,
    body: { mayIncrease: false },
  }),
  "POST /copies/:copyId/look": ({ a }) => ({ path: `/copies/${a.copyId}/look` }),
  "GET /copies/:copyId/entries": ({ a }) => ({ path: `/copies/${a.copyId}/entries?status=SKIPPED` }),
  "GET /copies/:copyId/profit-shares": ({ a }) => ({ path: `/copies/${a.copyId}/profit-shares` }),
  "GET /copies/:copyId/drift": ({ a }) => ({ path: `/copies/${a.copyId}/drift` }),
  "POST /copies/:copyId/halt": ({ a }) => ({ path: `/copies/${a.copyId}/halt`, body: REASON }),
  "DELETE /copies/:copyId/halt": ({ a }) => ({ path: `/copies/${a.copyId}/halt` }),
  "GET /strategies/:strategyId/copying": ({ a }) => ({ path: `/strategies/${a.spot.strategyId}/copying` }),
  "PUT /strategies/:strategyId/copying": ({ a }) => ({
    path: `/strategies/${a.spot.strategyId}/copying`,
    body: { isOpen: false },
  }),
  "POST /strategies/:strategyId/copying/halt": ({ a }) => ({
    path: `/strategies/${a.spot.strategyId}/copying/halt`,
    body: REASON,
  }),
  "DELETE /strategies/:strategyId/copying/halt": ({ a }) => ({
    path: `/strategies/${a.spot.strategyId}/copying/halt`,
  }),

  "GET /operator/copying": () => ({ path: "/operator/copying" }),
  "POST /operator/copying/switches": async ({ somebody }) => ({
    path: "/operator/copying/switches",
    body: { kind: "COPIER", id: (await somebody({ profile: "COPIER" })).email, ...REASON },
  }),
  "POST /operator/copying/switches/clear": async ({ a, somebody }) => {
    const { personId, email } = await somebody({ profile: "COPIER" });
    const set = { kind: "COPIER", id: personId, ...REASON } as const;
    await a.operator.send("POST", "/operator/copying/switches", set);
    return { path: "/operator/copying/switches/clear", body: { kind: "COPIER", id: email } };
  },

  "GET /operator/kyc": () => ({ path: "/operator/kyc?status=PENDING" }),
  "GET /operator/kyc/:submissionId": async (world) => ({
    path: `/operator/kyc/${await newSubmission(world)}`,
  }),
  "POST /operator/kyc/:submissionId/decision": async (world) => ({
    path: `/operator/kyc/${await newSubmission(world)}/decision`,
    body: { status: "REJECTED", reason: "The document cannot be read." },
  }),
  "GET /operator/people": () => ({ path: "/operator/people?search=example" }),
  "GET /operator/people/:personId": ({ a }) => ({ path: `/operator/people/${a.trader.personId}` }),
  "POST /operator/people/:personId/end-sessions": async ({ somebody }) => ({
    path: `/operator/people/${(await somebody({})).personId}/end-sessions`,
  }),
  "POST /operator/people/:personId/lock": async ({ somebody }) => ({
    path: `/operator/people/${(await somebody({})).personId}/lock`,
    body: REASON,
  }),
  "POST /operator/people/:personId/unlock": async ({ a, somebody }) => {
    const { personId } = await somebody({});
    await a.operator.send("POST", `/operator/people/${personId}/lock`, REASON);
    return { path: `/operator/people/${personId}/unlock` };
  },
  "POST /operator/people/:personId/reset-second-factor": async ({ stage, a }, caller) => {
    const { personId } = (await (await stage.somebody({})).get("/session")).person;
    return {
      path: `/operator/people/${personId}/reset-second-factor`,
      body: { code: codeOf(caller ?? a.operator) },
    };
  },
  "POST /operator/people/:personId/keys/:keyId/revoke": async ({ stage }) => {
    const person = await stage.somebody({});
    const { personId } = (await person.get("/session")).person;
    const { key } = await person.send("POST", "/keys", { label: "Lost", code: person.code() });
    return { path: `/operator/people/${personId}/keys/${key.keyId}/revoke` };
  },
  "POST /operator/people/:personId/close": async ({ somebody, a }, caller) => ({
    path: `/operator/people/${(await somebody({})).personId}/close`,
    body: { code: codeOf(caller ?? a.operator) },
  }),
  "GET /operator/audit": () => ({ path: "/operator/audit" }),
  "GET /operator/health": () => ({ path: "/operator/health" }),
  "GET /operator/security": () => ({ path: "/operator/security" }),
  "GET /operator/traffic": () => ({ path: "/operator/traffic" }),
  "GET /operator/fidelity": () => ({ path: "/operator/fidelity" }),
};

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
async function spareAccount({ stage, a }: World): Promise<string> {
  const { rows } = await a.copier.get("/copying/accounts");
  const spare = rows.find(
    ({ family, status, copyId }: VenueAccountJson) =>
      family === "SPOT" && status === "CONNECTED" && copyId === null,
  );
  return spare?.accountId ?? (await connectAccount(stage, a.copier, "SPOT")).accountId;
}

/** Another copy of tenant A's that is not being closed: the one that there is, or a new one. */
async function spareCopy(world: World): Promise<string> {
  const { a, stage } = world;
  const { rows } = await a.copier.get("/copies");
  const spare = rows.find(
    ({ copyId, status }: CopyJson) => copyId !== a.copyId && (status === "FOLLOWING" || status === "PAUSED"),
  );
  return spare?.copyId ?? (await follow(a.copier, await newOffer(stage), await spareAccount(world)));
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

async function newSubmission({ stage, somebody, a }: World): Promise<string> {
  const person = await somebody({ kyc: "NONE" });
  await person.send("POST", "/kyc", FORM);
  const { body } = await a.operator.call("GET", "/operator/kyc?status=PENDING");
  const found = body.rows.find(
    (row: { person: { personId: string } }) => row.person.personId === person.personId,
  );
  if (found === undefined) throw new Error(`the form is queued: ${stage.url}`);
  return found.submissionId;
}
