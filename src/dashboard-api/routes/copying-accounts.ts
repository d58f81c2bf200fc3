// A copier's accounts at venues: connecting one with a fresh code after the venue has accepted the key,
// checking it again, replacing its credentials, and disconnecting it, which destroys them. No answer contains
// a key or a secret.
import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { AccountCheck, VenueCredentials } from "../../copy/venue/venue.ts";
import type { VenueAccount } from "../../domain/copying.ts";
import { codeText, demandCode } from "../codes.ts";
import { checkAnswer, unfitWords } from "../copying/account-check.ts";
import type { AccountPlace } from "../copying/copying.ts";
import { connectedAccount, ownVenueAccount } from "../copying/own-copies.ts";
import { answerOf, keyFaultOf, silence } from "../copying/venue-words.ts";
import { DashboardError } from "../errors.ts";
import { lineField } from "../reading.ts";
import { audited, copyingOf, type DashboardCall, personOf, route } from "../route.ts";
import { accountCheckSchema, accountSchema } from "../schemas/copies.ts";
import { rows, text } from "../schemas/fields.ts";

/** Accounts of one person that are not disconnected. */
export const ACCOUNTS_MAX = 20;
const LABEL_LENGTH_MAX = 60;
const ORIGIN_LENGTH_MAX = 300;
/** Keys and secrets are printable and of one word; real ones have 64 characters. */
const CREDENTIAL = /^[\x21-\x7e]{8,300}$/;
/** The length of the part of a key by which its owner recognizes it, */
const KEY_HINT_LENGTH = 12;
/** at most this fraction of the key. */
const KEY_HINT_PART = 3;

const TOO_MANY_ACCOUNTS = {
  message: `You have ${ACCOUNTS_MAX} accounts connected, the maximum.`,
  action: "Disconnect one that you do not need.",
};

const KEY_TAKEN = {
  message: "The key is connected already.",
  action: "Use the key of another account: one exchange account cannot serve two copies.",
  fields: { apiKey: "is connected already" },
};

const credential = z
  .string()
  .trim()
  .regex(CREDENTIAL, "does not look like an exchange's key or secret: copy it again");
const credentials = { apiKey: credential, apiSecret: credential };

export const COPYING_ACCOUNT_ROUTES = [
  route("GET /copying/venues", "COPIER", rows(z.object({ origin: text })), async ({ parts }) => ({
    body: { rows: parts.copying.venues.map((origin) => ({ origin })) },
  })),

  route("GET /copying/accounts", "COPIER", rows(accountSchema), async (call) => {
    const accounts = await copyingOf(call).listAccountsOf(personOf(call).personId);
    const copies = await liveCopies(call);
    const rows = accounts.map((account) => accountJson(account, copies));
    return { body: { rows } };
  }),

  route("POST /copying/accounts", "COPIER", accountCheckSchema, {
    growsDisk: true,
    needsKyc: true,
    body: z.strictObject({
      family: z.enum(["SPOT", "FUTURES"]),
      venue: z.string().max(ORIGIN_LENGTH_MAX),
      label: lineField(LABEL_LENGTH_MAX),
      ...credentials,
      code: codeText,
    }),
    async answer(call) {
      const { family: type, venue, label, code, ...keys } = call.body;
      const { personId } = personOf(call);
      call.parts.copying.demand();
      if (!call.parts.copying.venues.includes(venue)) {
        throw new DashboardError("BODY_UNFIT", {
          fields: { venue: "is not an exchange that this server allows" },
        });
      }
      const accounts = await copyingOf(call).listAccountsOf(personId);
      if (accounts.filter(({ status }) => status !== "DISCONNECTED").length >= ACCOUNTS_MAX) {
        throw new DashboardError("BODY_UNFIT", TOO_MANY_ACCOUNTS);
      }
      await demandCode(call, code);
      const accountId = randomBytes(8).toString("hex");
      const found = await demandFit(call, { accountId, type, venue }, keys);
      const account: VenueAccount = {
        accountId,
        personId,
        type,
        venue,
        label,
        keyHint: hintOf(keys.apiKey),
        sealed: call.parts.copying.sealed(accountId, keys),
        status: "CONNECTED",
        failure: null,
        createdAt: call.now,
        checkedAt: call.now,
        disconnectedAt: null,
      };
      const audit = audited(
        call,
        "VENUE_ACCOUNT_CONNECTED",
        { kind: "VENUE_ACCOUNT", id: accountId },
        { venue, family: type, label },
      );
      const keyDigests = call.parts.copying.keyDigests(account, keys);
      const terms = { liveMax: ACCOUNTS_MAX, keyDigests };
      const outcome = await copyingOf(call).connectAccount(account, audit, terms);
      if (outcome === "TAKEN") throw new DashboardError("BODY_UNFIT", KEY_TAKEN);
      // Other accounts were connected concurrently.
      if (outcome === "FULL") throw new DashboardError("BODY_UNFIT", TOO_MANY_ACCOUNTS);
      return { status: 201, body: checkAnswer(accountJson(account), { kind: "OK", value: found }) };
    },
  }),

  route("POST /copying/accounts/:accountId/check", "COPIER", accountCheckSchema, {
    needsKyc: true,
    async answer(call) {
      const account = await connectedAccount(call, call.params.accountId);
      const { copying } = call.parts;
      copying.demand(account.venue);
      const found = await copying.checkAgain(account);
      if (found.kind === "DELAYED" || found.kind === "UNKNOWN") throw silence(found, call.now);
      const failure = found.kind === "OK" ? unfitWords(found.value) : keyFaultOf(found).words;
      const { sealed } = await ownVenueAccount(call, account.accountId);
      // The credentials were replaced during the check, so its result is not about the present ones.
      if (sealed !== account.sealed) throw new DashboardError("STATE_CHANGED");
      await copyingOf(call).noteAccountChecked(account.accountId, {
        status: failure === null ? "CONNECTED" : "FAILED",
        failure,
        at: call.now,
      });
      return { body: checkAnswer(await accountAnswer(call), found) };
    },
  }),

  route("PUT /copying/accounts/:accountId/credentials", "COPIER", accountCheckSchema, {
    needsKyc: true,
    body: z.strictObject({ ...credentials, code: codeText }),
    async answer(call) {
      const { code, ...keys } = call.body;
      const account = await connectedAccount(call, call.params.accountId);
      const { accountId, personId, venue } = account;
      call.parts.copying.demand(venue);
      await demandCode(call, code);
      const found = await demandFit(call, account, keys);
      const sealed = call.parts.copying.sealed(accountId, keys);
      const keyDigests = call.parts.copying.keyDigests(account, keys);
      const outcome = await copyingOf(call).replaceCredentials(
        { accountId, personId, sealed, keyHint: hintOf(keys.apiKey), keyDigests, at: call.now },
        audited(call, "VENUE_ACCOUNT_RENEWED", { kind: "VENUE_ACCOUNT", id: accountId }, { venue }),
      );
      if (outcome === "TAKEN") throw new DashboardError("BODY_UNFIT", KEY_TAKEN);
      if (outcome === "GONE") throw new DashboardError("STATE_CHANGED");
      return { body: checkAnswer(await accountAnswer(call), { kind: "OK", value: found }) };
    },
  }),

  route("DELETE /copying/accounts/:accountId", "COPIER", accountSchema, {
    body: z.strictObject({ code: codeText }),
    async answer(call) {
      const { accountId, personId, venue } = await connectedAccount(call, call.params.accountId);
      await demandUnused(call, accountId);
      await demandCode(call, call.body.code);
      const isDone = await copyingOf(call).disconnectAccount(
        { accountId, personId, at: call.now },
        audited(call, "VENUE_ACCOUNT_DISCONNECTED", { kind: "VENUE_ACCOUNT", id: accountId }, { venue }),
      );
      if (!isDone) {
        await demandUnused(call, accountId);
        throw new DashboardError("STATE_CHANGED");
      }
      return { body: await accountAnswer(call) };
    },
  }),
];

type Asked = Pick<DashboardCall, "parts" | "signedIn">;

/** The live copy of each of the caller's accounts that has one. */
async function liveCopies(call: Asked): Promise<ReadonlyMap<string, string>> {
  const copies = await copyingOf(call).listCopiesOf(personOf(call).personId);
  const live = copies.filter(({ status }) => status !== "STOPPED");
  return new Map(live.map(({ accountId, copyId }) => [accountId, copyId]));
}

/**
 * Checks the account at its venue. Throws BODY_UNFIT, with the field that is wrong, unless it can be used for
 * copying.
 */
async function demandFit(
  call: Pick<DashboardCall, "parts" | "signedIn" | "now">,
  place: AccountPlace,
  keys: VenueCredentials,
): Promise<AccountCheck> {
  const found = await call.parts.copying.check(personOf(call).personId, place, keys);
  const check = answerOf(found, call.now);
  const words = unfitWords(check);
  if (words === null) return check;
  throw new DashboardError("BODY_UNFIT", {
    message: "The key is accepted, but cannot be used for copying.",
    action: "Change it at the exchange, then try again with a new code.",
    fields: { apiKey: words },
  });
}

/** Throws STATE_CHANGED if a live copy uses the account. */
async function demandUnused(call: Asked, accountId: string): Promise<void> {
  if (!(await liveCopies(call)).has(accountId)) return;
  throw new DashboardError("STATE_CHANGED", {
    message: "A copy uses this account.",
    action: "Stop the copy first.",
  });
}

/** The account in its present state. */
async function accountAnswer(call: Asked & { readonly params: { readonly accountId: string } }) {
  const account = await ownVenueAccount(call, call.params.accountId);
  return accountJson(account, await liveCopies(call));
}

function accountJson(account: VenueAccount, copies?: ReadonlyMap<string, string>) {
  return { ...account, family: account.type, copyId: copies?.get(account.accountId) ?? null };
}

function hintOf(apiKey: string): string {
  return apiKey.slice(0, Math.min(KEY_HINT_LENGTH, Math.floor(apiKey.length / KEY_HINT_PART)));
}
