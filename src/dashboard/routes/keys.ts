// A trader's API keys: listed, created with a fresh code, ended with another. A secret is in the answer that creates it and in no
// other.
import { z } from "zod";
import { issueApiKey } from "../../identity/api-keys.ts";
import type { ApiKeyRecord } from "../../store/store.ts";
import { codeText, demandCode } from "../codes.ts";
import { DashboardError } from "../errors.ts";
import { presentKey } from "../present/keys.ts";
import { lineField } from "../reading.ts";
import { type DashboardCall, type DashboardRoute, personOf, route } from "../route.ts";
import type { CreatedKeyShape, KeyShape } from "../shapes.ts";

/** Live keys of one person. */
export const KEYS_MAX = 20;
const LABEL_LENGTH_MAX = 60;

const TOO_MANY_KEYS = {
  message: `You have ${KEYS_MAX} live keys, the maximum.`,
  action: "Revoke one that you do not need.",
};

export const KEY_ROUTES: readonly DashboardRoute[] = [
  route({
    method: "GET",
    path: "/keys",
    access: "TRADER",
    async answer(call) {
      const found = await call.parts.gateway.store.people.listKeysOf(personOf(call).personId);
      const rows = await presentKeys(
        call,
        found.map(({ key }) => key),
      );
      return { body: { rows } };
    },
  }),

  route({
    method: "POST",
    path: "/keys",
    access: "TRADER",
    growsDisk: true,
    needsKyc: true,
    showsSecrets: true,
    body: z.strictObject({ label: lineField(LABEL_LENGTH_MAX), code: codeText }),
    async answer(call) {
      const { store, master } = call.parts.gateway;
      const { personId } = personOf(call);
      const { label, code } = call.body;
      const keys = await store.people.listKeysOf(personId);
      if (keys.filter(({ key }) => key.revokedAt === null).length >= KEYS_MAX) {
        throw new DashboardError("BODY_UNFIT", TOO_MANY_KEYS);
      }
      await demandCode(call, code);
      const terms = { label, ownerId: personId, strategyId: null, createdAt: call.now };
      const { record, secret } = issueApiKey(master, terms);
      const isCreated = await store.people.createKey(
        record,
        {
          who: { kind: "PERSON", personId },
          what: "KEY_CREATED",
          about: { kind: "KEY", id: record.keyId },
          at: call.now,
          details: { label },
        },
        { liveMax: KEYS_MAX },
      );
      // Others were created at the same moment.
      if (!isCreated) throw new DashboardError("BODY_UNFIT", TOO_MANY_KEYS);
      call.parts.people.notices.tell(personOf(call), "KEY_CREATED");
      const body: CreatedKeyShape = { key: presentKey(record, new Map(), new Map()), apiSecret: secret };
      return { status: 201, body };
    },
  }),

  route({
    method: "POST",
    path: "/keys/:keyId/revoke",
    access: "TRADER",
    body: z.strictObject({ code: codeText }),
    async answer(call) {
      const { people } = call.parts.gateway.store;
      const { personId } = personOf(call);
      const { keyId = "" } = call.params;
      await findOwnKey(call, keyId);
      await demandCode(call, call.body.code);
      const revoked = await people.revokeOwnKey(
        { keyId, ownerId: personId, at: call.now },
        {
          who: { kind: "PERSON", personId },
          what: "KEY_REVOKED",
          about: { kind: "KEY", id: keyId },
          at: call.now,
          details: {},
        },
      );
      if (revoked === null) throw new DashboardError("NOT_FOUND");
      if (!revoked.wasRevoked) call.parts.people.notices.tell(personOf(call), "KEY_REVOKED");
      const [row] = await presentKeys(call, [revoked.key]);
      if (row === undefined) throw new Error("every key is presented");
      return { body: row };
    },
  }),
];

/** A key of the caller's own, live or not. Throws NOT_FOUND. */
export async function findOwnKey(
  call: Pick<DashboardCall, "parts" | "signedIn">,
  keyId: string,
): Promise<ApiKeyRecord> {
  const keys = await call.parts.gateway.store.people.listKeysOf(personOf(call).personId);
  const found = keys.find(({ key }) => key.keyId === keyId);
  if (found === undefined) throw new DashboardError("NOT_FOUND");
  return found.key;
}

async function presentKeys(
  call: Pick<DashboardCall, "parts" | "signedIn">,
  keys: readonly ApiKeyRecord[],
): Promise<readonly KeyShape[]> {
  const { gateway, inspection } = call.parts;
  const strategies = await gateway.store.people.listStrategiesOf(personOf(call).personId);
  const byId = new Map(strategies.map((strategy) => [strategy.strategyId, strategy]));
  const uses = await inspection.keyUses.lastUses(keys.map(({ keyId }) => keyId));
  return keys.map((key) => presentKey(key, byId, uses));
}
