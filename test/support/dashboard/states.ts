// What each row of the dashboard's server that is about something with an id answers its owner in each state
// of that thing: of what is over as of what is live. A row that is not here fails the test of the states, and
// so does one that leaves a state out.

import { randomUUID } from "node:crypto";
import type { DashboardRoute } from "../../../src/dashboard-api/route.ts";
import type { StrategyType } from "../../../src/domain/account.ts";
import { botClient } from "../bot-client.ts";
import { openBeside } from "../servers/database.ts";
import type { Browser } from "./client.ts";
import { catchUp, connectAccount, follow, newLead, recordLine } from "./copying-world.ts";
import { PASSWORD } from "./fixture.ts";
import { newKey, newStrategy, restOrder, tradeOn, type World, waitLeg } from "./world.ts";

/**
 * STRATEGY_CLOSED: a closed strategy with its past orders. ENTRY_OVER: a canceled order, or leg, of a live
 * strategy. OFFER_CLOSED: a strategy of somebody else that takes no copiers any more; OFFER_OVER: one that
 * was closed while it did. COPY_…: the caller's copy, of a strategy that takes no copiers any more. PERSON_…:
 * an account that an operator has locked, or closed. OWNER_UNAPPROVED: the owner's identity is not approved
 * any more.
 */
export const STATE_NAMES = [
  "STRATEGY_CLOSED",
  "ENTRY_OVER",
  "KEY_REVOKED",
  "OFFER_CLOSED",
  "OFFER_OVER",
  "COPY_PAUSED",
  "COPY_CLOSING",
  "COPY_STOPPED",
  "ACCOUNT_FAILED",
  "ACCOUNT_DISCONNECTED",
  "SESSION_ENDED",
  "FORM_DECIDED",
  "PERSON_LOCKED",
  "PERSON_CLOSED",
  "OWNER_UNAPPROVED",
] as const;
export type StateName = (typeof STATE_NAMES)[number];

/**
 * The status, or the code that the row refuses with. HIDDEN: answered with the reason why nothing is shown.
 */
export type Outcome = number | "HIDDEN" | (string & {});

type Outcomes = Readonly<Partial<Record<StateName, Outcome>>>;

const COPY_OF_OFFER = ["OFFER_CLOSED", "OFFER_OVER", "COPY_PAUSED", "COPY_CLOSING", "COPY_STOPPED"] as const;

/** Which states there are of what an id names. */
const STATES_OF: Readonly<Record<string, readonly StateName[]>> = {
  strategyId: ["STRATEGY_CLOSED"],
  orderId: ["ENTRY_OVER"],
  legId: ["ENTRY_OVER"],
  // It never changes.
  tradeId: [],
  // It is over when it is listed, or goes on by itself: nothing can be done to it.
  signalId: [],
  keyId: ["KEY_REVOKED"],
  copyId: ["COPY_PAUSED", "COPY_CLOSING", "COPY_STOPPED"],
  accountId: ["ACCOUNT_FAILED", "ACCOUNT_DISCONNECTED"],
  sessionId: ["SESSION_ENDED"],
  submissionId: ["FORM_DECIDED"],
  personId: ["OWNER_UNAPPROVED", "PERSON_LOCKED", "PERSON_CLOSED"],
  // Of a person, a strategy or a venue that an operator names.
  id: ["OWNER_UNAPPROVED"],
};

/** What is a choice, and nobody's. */
const NO_IDS = ["family"];

/** Names of ids of a row: those of its path, and of an example's body. */
export function idsOf({ path }: DashboardRoute, body: Readonly<Record<string, unknown>> = {}) {
  const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? "");
  const inBody = Object.keys(body).filter((name) => name === "id" || name.endsWith("Id"));
  return [...inPath, ...inBody].filter((name) => !NO_IDS.includes(name));
}

/** The states that a row must say its outcomes in. */
export function statesOf(row: DashboardRoute, body?: Readonly<Record<string, unknown>>): StateName[] {
  const isOfOffer = row.access === "COPIER";
  const states = idsOf(row, body).flatMap((name) => {
    if (name === "strategyId" && isOfOffer) return COPY_OF_OFFER;
    const found = STATES_OF[name];
    if (found === undefined) throw new Error(`say in STATES_OF which states a ${name} may have`);
    return found;
  });
  const isOfOwner = row.access !== "OPERATOR" && !row.path.startsWith("/sessions");
  const wanted = [...states, ...(isOfOwner ? (["OWNER_UNAPPROVED"] as const) : [])];
  return STATE_NAMES.filter((name) => wanted.includes(name));
}

const IS_READ = { STRATEGY_CLOSED: 200, OWNER_UNAPPROVED: 200 } as const;
const IS_READ_OF_COPY = {
  ...{ COPY_PAUSED: 200, COPY_CLOSING: 200, COPY_STOPPED: 200, OWNER_UNAPPROVED: 200 },
} as const;
const IS_READ_OF_PERSON = { OWNER_UNAPPROVED: 200, PERSON_LOCKED: 200, PERSON_CLOSED: 200 } as const;
const ENDED = "STATE_CHANGED";

export const OUTCOMES: Readonly<Record<string, Outcomes>> = {
  "POST /sessions/end": { SESSION_ENDED: "NOT_FOUND" },

  "POST /keys/:keyId/revoke": { KEY_REVOKED: 200, OWNER_UNAPPROVED: 200 },
  "GET /keys/:keyId/requests": { KEY_REVOKED: 200, OWNER_UNAPPROVED: 200 },
  "POST /keys/:keyId/test": { KEY_REVOKED: 200, OWNER_UNAPPROVED: 200 },

  // What was traded stays its owner's to read. Nothing is changed of what is closed.
  "POST /strategies": { KEY_REVOKED: "BODY_UNFIT", OWNER_UNAPPROVED: "KYC_NEEDED" },
  "GET /strategies/:strategyId": IS_READ,
  "PUT /strategies/:strategyId/name": { STRATEGY_CLOSED: ENDED, OWNER_UNAPPROVED: 200 },
  "PUT /strategies/:strategyId/key": {
    ...{ STRATEGY_CLOSED: ENDED, KEY_REVOKED: "BODY_UNFIT", OWNER_UNAPPROVED: "KYC_NEEDED" },
  },
  "GET /strategies/:strategyId/close-preview": { STRATEGY_CLOSED: ENDED, OWNER_UNAPPROVED: 200 },
  "POST /strategies/:strategyId/close": { STRATEGY_CLOSED: ENDED, OWNER_UNAPPROVED: 200 },
  "GET /strategies/:strategyId/orders": IS_READ,
  "GET /strategies/:strategyId/orders/:orderId": { ...IS_READ, ENTRY_OVER: 200 },
  "GET /strategies/:strategyId/orders/:orderId/counterfactual": { ...IS_READ, ENTRY_OVER: 200 },
  "GET /strategies/:strategyId/counterfactuals": IS_READ,
  "DELETE /strategies/:strategyId/orders/:orderId": {
    ...{ STRATEGY_CLOSED: ENDED, ENTRY_OVER: ENDED, OWNER_UNAPPROVED: 200 },
  },
  "GET /strategies/:strategyId/legs": IS_READ,
  "DELETE /strategies/:strategyId/legs/:legId": {
    ...{ STRATEGY_CLOSED: ENDED, ENTRY_OVER: ENDED, OWNER_UNAPPROVED: 200 },
  },
  "GET /strategies/:strategyId/trades": IS_READ,
  "GET /strategies/:strategyId/trades/:tradeId": IS_READ,
  "GET /strategies/:strategyId/balances": IS_READ,
  "GET /strategies/:strategyId/positions": IS_READ,
  "GET /strategies/:strategyId/incomes": IS_READ,
  "GET /strategies/:strategyId/signals": IS_READ,
  "GET /strategies/:strategyId/signals/:signalId": IS_READ,
  "GET /strategies/:strategyId/performance": IS_READ,
  "GET /strategies/:strategyId/performance.csv": IS_READ,
  "GET /strategies/:strategyId/trades.csv": IS_READ,
  "GET /strategies/:strategyId/requests": IS_READ,

  // Only the owner may see the copiers of a strategy; copies of a closed one may still be closing.
  "GET /strategies/:strategyId/copying": IS_READ,
  "PUT /strategies/:strategyId/copying": { STRATEGY_CLOSED: ENDED, OWNER_UNAPPROVED: "KYC_NEEDED" },
  "POST /strategies/:strategyId/copying/halt": IS_READ,
  "DELETE /strategies/:strategyId/copying/halt": { STRATEGY_CLOSED: 200, OWNER_UNAPPROVED: "KYC_NEEDED" },

  "POST /copying/accounts/:accountId/check": {
    ...{ ACCOUNT_FAILED: 200, ACCOUNT_DISCONNECTED: ENDED, OWNER_UNAPPROVED: "KYC_NEEDED" },
  },
  "PUT /copying/accounts/:accountId/credentials": {
    ...{ ACCOUNT_FAILED: 200, ACCOUNT_DISCONNECTED: ENDED, OWNER_UNAPPROVED: "KYC_NEEDED" },
  },
  "DELETE /copying/accounts/:accountId": {
    ...{ ACCOUNT_FAILED: 200, ACCOUNT_DISCONNECTED: ENDED, OWNER_UNAPPROVED: 200 },
  },

  // A strategy closed to copiers is visible to its present copiers only, not to those who have stopped.
  "GET /copying/offers/:strategyId": {
    ...{ OFFER_CLOSED: "NOT_FOUND", OFFER_OVER: "NOT_FOUND", OWNER_UNAPPROVED: 200 },
    ...{ COPY_PAUSED: 200, COPY_CLOSING: "NOT_FOUND", COPY_STOPPED: "NOT_FOUND" },
  },
  "POST /copying/preview": {
    ...{ OFFER_CLOSED: "NOT_FOUND", OFFER_OVER: "NOT_FOUND", OWNER_UNAPPROVED: "KYC_NEEDED" },
    ...{ COPY_PAUSED: 200, COPY_CLOSING: "NOT_FOUND", COPY_STOPPED: "NOT_FOUND" },
    ...{ ACCOUNT_FAILED: 200, ACCOUNT_DISCONNECTED: ENDED },
  },
  "POST /copies": {
    ...{ OFFER_CLOSED: "NOT_FOUND", OFFER_OVER: ENDED, OWNER_UNAPPROVED: "KYC_NEEDED" },
    ...{ COPY_PAUSED: "NOT_FOUND", COPY_CLOSING: "NOT_FOUND", COPY_STOPPED: "NOT_FOUND" },
    ...{ ACCOUNT_FAILED: ENDED, ACCOUNT_DISCONNECTED: ENDED },
  },

  "GET /copies/:copyId": IS_READ_OF_COPY,
  "PUT /copies/:copyId/settings": {
    ...{ COPY_PAUSED: 200, COPY_CLOSING: 200, COPY_STOPPED: ENDED, OWNER_UNAPPROVED: "KYC_NEEDED" },
  },
  "POST /copies/:copyId/pause": {
    ...{ COPY_PAUSED: 200, COPY_CLOSING: ENDED, COPY_STOPPED: ENDED, OWNER_UNAPPROVED: 200 },
  },
  "POST /copies/:copyId/repair": {
    ...{ COPY_PAUSED: 200, COPY_CLOSING: ENDED, COPY_STOPPED: ENDED, OWNER_UNAPPROVED: "KYC_NEEDED" },
  },
  "POST /copies/:copyId/look": {
    ...{ COPY_PAUSED: 200, COPY_CLOSING: 200, COPY_STOPPED: ENDED, OWNER_UNAPPROVED: "KYC_NEEDED" },
  },
  // What the copy itself did stays its owner's to read.
  "GET /copies/:copyId/entries": IS_READ_OF_COPY,
  "GET /copies/:copyId/profit-shares": IS_READ_OF_COPY,
  // It shows what the strategy holds at this moment.
  "GET /copies/:copyId/drift": { ...IS_READ_OF_COPY, COPY_CLOSING: "HIDDEN", COPY_STOPPED: "HIDDEN" },
  "POST /copies/:copyId/halt": IS_READ_OF_COPY,
  "DELETE /copies/:copyId/halt": { ...IS_READ_OF_COPY, OWNER_UNAPPROVED: "KYC_NEEDED" },
  // Last, since they change the state of what is asked about.
  "POST /copies/:copyId/resume": {
    ...{ COPY_PAUSED: 200, COPY_CLOSING: ENDED, COPY_STOPPED: ENDED, OWNER_UNAPPROVED: "KYC_NEEDED" },
  },
  "POST /copies/:copyId/stop": {
    ...{ COPY_PAUSED: 200, COPY_CLOSING: 200, COPY_STOPPED: ENDED, OWNER_UNAPPROVED: 200 },
  },

  "POST /operator/copying/switches": { OWNER_UNAPPROVED: 200 },
  "POST /operator/copying/switches/clear": { OWNER_UNAPPROVED: 200 },
  "GET /operator/kyc/:submissionId": { FORM_DECIDED: 200 },
  "POST /operator/kyc/:submissionId/decision": { FORM_DECIDED: ENDED },
  "GET /operator/people/:personId": IS_READ_OF_PERSON,
  "POST /operator/people/:personId/end-sessions": IS_READ_OF_PERSON,
  "POST /operator/people/:personId/lock": {
    ...IS_READ_OF_PERSON,
    PERSON_LOCKED: ENDED,
    PERSON_CLOSED: ENDED,
  },
  "POST /operator/people/:personId/unlock": { ...IS_READ_OF_PERSON, PERSON_CLOSED: ENDED },
  "POST /operator/people/:personId/reset-second-factor": { ...IS_READ_OF_PERSON, PERSON_CLOSED: ENDED },
  "POST /operator/people/:personId/keys/:keyId/revoke": { ...IS_READ_OF_PERSON, KEY_REVOKED: "NOT_FOUND" },
  "POST /operator/people/:personId/close": { ...IS_READ_OF_PERSON, PERSON_CLOSED: ENDED },
};

/** Something in a state: whose it is, and its ids in the place of an example's. */
export type InState = {
  readonly caller: Browser;
  readonly ids: Readonly<Record<string, string | number>>;
};

/** Things in every state but OWNER_UNAPPROVED, which is that of a person. */
export async function openStates(world: World) {
  const { fixture } = world;
  const trader = await fixture.somebody({});
  const copier = await fixture.somebody({ profile: "COPIER" });
  const close = (strategyId: string, name: string) =>
    trader.send("POST", `/strategies/${strategyId}/close`, { confirmation: name });

  const spot = await newStrategy(trader, "SPOT");
  const orderId = await restOrder(fixture, spot);
  fixture.pass(1_000);
  const order = { symbol: "BTCUSDT", tradeType: "BUY", orderType: "MARKET", quoteOrderQty: "20" };
  const { body } = await botClient(fixture.url, spot, () => fixture.wallNow()).submit(order, randomUUID());
  const futures = await newStrategy(trader, "FUTURES");
  await tradeOn(fixture, futures)("POST", "/fapi/v1/order", {
    ...{ symbol: "BTCUSDT", side: "BUY", type: "MARKET", quantity: "0.002" },
  });
  const legId = await waitLeg(fixture, futures);
  await close(spot.strategyId, "A SPOT strategy");
  await close(futures.strategyId, "A FUTURES strategy");

  const live = await newStrategy(trader, "SPOT");
  const over = await restOrder(fixture, live);
  await trader.send("DELETE", `/strategies/${live.strategyId}/orders/${over}`);
  const held = await newStrategy(trader, "FUTURES");
  await tradeOn(fixture, held)("POST", "/fapi/v1/order", {
    ...{ symbol: "BTCUSDT", side: "BUY", type: "MARKET", quantity: "0.002" },
  });
  const overLeg = await waitLeg(fixture, held);
  await trader.send("DELETE", `/strategies/${held.strategyId}/legs/${overLeg}`);

  const { keyId } = await newKey(trader);
  await trader.send("POST", `/keys/${keyId}/revoke`, { code: trader.code() });
  const keyless = await newStrategy(trader, "SPOT");
  await trader.send("POST", `/keys/${keyless.keyId}/revoke`, { code: trader.code() });

  const leadOf = async () => {
    const lead = await newLead(fixture, "SPOT", trader.personId);
    await tradeOn(fixture, { ...lead, keyId: "" })("POST", "/api/v3/order", {
      ...{ symbol: "BTCUSDT", side: "BUY", type: "MARKET", quoteOrderQty: "50" },
    });
    return lead.strategyId;
  };
  const closeOffer = (strategyId: string) =>
    trader.send("PUT", `/strategies/${strategyId}/copying`, { isOpen: false });
  const closed = await leadOf();
  await closeOffer(closed);
  const overOffer = await leadOf();
  await close(overOffer, "On offer (SPOT)");

  const spare = (await connectAccount(fixture, copier, "SPOT")).accountId;
  const copyIn = async (status: "PAUSED" | "CLOSING" | "STOPPED") => {
    const strategyId = await leadOf();
    const { accountId } = await connectAccount(fixture, copier, "SPOT");
    const copyId = await follow(copier, strategyId, accountId);
    await recordLine(fixture, copyId);
    const path = `/copies/${copyId}`;
    if (status === "PAUSED") await copier.send("POST", `${path}/pause`);
    else await copier.send("POST", `${path}/stop`, { closesAll: status === "CLOSING" });
    await catchUp(fixture, strategyId);
    await closeOffer(strategyId);
    return {
      caller: copier,
      ids: { copyId, strategyId, accountId: status === "STOPPED" ? spare : accountId },
    };
  };
  const copies = {
    paused: await copyIn("PAUSED"),
    closing: await copyIn("CLOSING"),
    stopped: await copyIn("STOPPED"),
  };

  // A new one each time, since a check mends it.
  const failedAccount = async () => {
    const { accountId } = await connectAccount(fixture, copier, "SPOT");
    await fixture.gateway.store.copying.noteAccountChecked(accountId, {
      ...({ status: "FAILED", failure: "was refused", at: fixture.wallNow() } as const),
    });
    return accountId;
  };
  const gone = (await connectAccount(fixture, copier, "SPOT")).accountId;
  await copier.send("DELETE", `/copying/accounts/${gone}`, { code: copier.code() });

  const person = await fixture.somebody({ hasSecondFactor: false });
  const browser = fixture.browser();
  await browser.signIn(person.email, PASSWORD);
  const session = (await browser.get("/sessions")).rows.find(
    (row: { isOwn?: boolean }) => row.isOwn !== false,
  );
  await browser.send("DELETE", "/session");

  const applicant = await world.somebody({ kyc: "NONE" });
  await applicant.send("POST", "/kyc", {
    ...{ fullName: "Ada Example", birthDate: "1980-02-03", country: "DE", address: "1 Example Street" },
    ...{ documentKind: "PASSPORT", documentNumber: "X1234567" },
  });
  const { operator } = world.a;
  const pending = (await operator.get("/operator/kyc?status=PENDING")).rows;
  const submission = pending.find(
    (row: { person: { personId: string } }) => row.person.personId === applicant.personId,
  );
  await operator.send("POST", `/operator/kyc/${submission.submissionId}/decision`, { status: "APPROVED" });

  const personWho = async (is: "PERSON_LOCKED" | "PERSON_CLOSED") => {
    const someone = await fixture.somebody({});
    const { personId } = (await someone.get("/session")).person;
    const { key } = await someone.send("POST", "/keys", { label: "Theirs", code: someone.code() });
    const path = `/operator/people/${personId}`;
    if (is === "PERSON_LOCKED") await operator.send("POST", `${path}/lock`, { reason: "SUSPECTED" });
    else await operator.send("POST", `${path}/close`, { code: operator.code() });
    return { personId, keyId: key.keyId };
  };
  const offer = { strategyId: world.offerId, accountId: spare };
  /** `type` says which strategy a row about a closed one is about. */
  return async (name: Exclude<StateName, "OWNER_UNAPPROVED">, type: StrategyType): Promise<InState> => {
    const isSpot = type === "SPOT";
    switch (name) {
      case "STRATEGY_CLOSED":
        return {
          caller: trader,
          ids: {
            ...{ strategyId: isSpot ? spot.strategyId : futures.strategyId, keyId: live.keyId },
            ...{ orderId, legId, tradeId: 1, signalId: body.signalId },
          },
        };
      case "ENTRY_OVER":
        return {
          caller: trader,
          ids: { strategyId: isSpot ? live.strategyId : held.strategyId, orderId: over, legId: overLeg },
        };
      case "KEY_REVOKED":
        return {
          caller: trader,
          ids: { strategyId: keyless.strategyId, keyId, personId: world.a.trader.personId },
        };
      case "OFFER_CLOSED":
        return { caller: copier, ids: { ...offer, strategyId: closed } };
      case "OFFER_OVER":
        return { caller: copier, ids: { ...offer, strategyId: overOffer } };
      case "COPY_PAUSED":
        return copies.paused;
      case "COPY_CLOSING":
        return copies.closing;
      case "COPY_STOPPED":
        return copies.stopped;
      case "ACCOUNT_FAILED":
        return { caller: copier, ids: { ...offer, accountId: await failedAccount() } };
      case "ACCOUNT_DISCONNECTED":
        return { caller: copier, ids: { ...offer, accountId: gone } };
      case "SESSION_ENDED":
        return { caller: person, ids: { sessionId: session.sessionId } };
      case "FORM_DECIDED":
        return { caller: operator, ids: { submissionId: submission.submissionId } };
      case "PERSON_LOCKED":
      case "PERSON_CLOSED":
        return { caller: operator, ids: await personWho(name) };
    }
  };
}

/**
 * Has an operator's approval be taken back, or given again: nothing in the service does, but somebody at the
 * database may.
 */
export function setApproved({ fixture }: World, personId: string, isApproved: boolean): void {
  const database = openBeside(fixture.dataDir);
  database
    .prepare("UPDATE people SET kyc = ? WHERE id = ?")
    .run(isApproved ? "APPROVED" : "REJECTED", personId);
  database.close();
}
