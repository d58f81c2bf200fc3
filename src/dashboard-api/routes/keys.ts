// A trader's API keys: the list, creating one and revoking one, each with a fresh code. Only the answer that
// creates a key contains its secret.
import { z } from "zod";
import type { ApiKeyRecord } from "../../domain/strategy.ts";
import { codeText, demandCode } from "../codes.ts";
import { DashboardError, existing } from "../errors.ts";
import { lineField } from "../reading.ts";
import { audited, type DashboardCall, personOf, route } from "../route.ts";
import { rows } from "../schemas/fields.ts";
import { createdKeySchema, keySchema } from "../schemas/strategies.ts";

/** Live keys of one person. */
export const KEYS_MAX = 20;
const LABEL_LENGTH_MAX = 60;

const TOO_MANY_KEYS = {
  message: `You have ${KEYS_MAX} live keys, the maximum.`,
  action: "Revoke one that you do not need.",
};

export const KEY_ROUTES = [
  route("GET /keys", "TRADER", rows(keySchema), async (call) => {
    const found = await call.parts.gateway.store.people.listKeysOf(personOf(call).personId);
    const keys = found.map(({ key }) => key);
    return { body: { rows: await keyAnswers(call.parts, personOf(call).personId, keys) } };
  }),

  route("POST /keys", "TRADER", createdKeySchema, {
    growsDisk: true,
    needsKyc: true,
    showsSecrets: true,
    body: z.strictObject({ label: lineField(LABEL_LENGTH_MAX), code: codeText }),
    async answer(call) {
      const { store } = call.parts.gateway;
      const { personId } = personOf(call);
      const { label, code } = call.body;
      const keys = await store.people.listKeysOf(personId);
      if (keys.filter(({ key }) => key.revokedAt === null).length >= KEYS_MAX) {
        throw new DashboardError("BODY_UNFIT", TOO_MANY_KEYS);
      }
      await demandCode(call, code);
      const terms = { label, ownerId: personId, strategyId: null, createdAt: call.now };
      const { record, secret } = call.parts.issueKey(terms);
      const isCreated = await store.people.createKey(
        record,
        audited(call, "KEY_CREATED", { kind: "KEY", id: record.keyId }, { label }),
        { liveMax: KEYS_MAX },
      );
      // Other keys were created concurrently.
      if (!isCreated) throw new DashboardError("BODY_UNFIT", TOO_MANY_KEYS);
      call.parts.people.notices.tell(personOf(call), "KEY_CREATED");
      return { status: 201, body: { key: { ...record, strategy: null, lastUse: null }, apiSecret: secret } };
    },
  }),

  route("POST /keys/:keyId/revoke", "TRADER", keySchema, {
    body: z.strictObject({ code: codeText }),
    async answer(call) {
      const { people } = call.parts.gateway.store;
      const { personId } = personOf(call);
      const { keyId } = call.params;
      await findOwnKey(call, keyId);
      await demandCode(call, call.body.code);
      const audit = audited(call, "KEY_REVOKED", { kind: "KEY", id: keyId });
      const revoked = existing(await people.revokeOwnKey({ keyId, ownerId: personId, at: call.now }, audit));
      if (!revoked.wasRevoked) call.parts.people.notices.tell(personOf(call), "KEY_REVOKED");
      const [row] = await keyAnswers(call.parts, personId, [revoked.key]);
      if (row === undefined) throw new Error("every key has an answer");
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
  return existing(keys.find(({ key }) => key.keyId === keyId)).key;
}

/** Keys of one person, with their strategies and their last uses. */
export async function keyAnswers(
  { gateway, observability }: Pick<DashboardCall["parts"], "gateway" | "observability">,
  ownerId: string,
  keys: readonly ApiKeyRecord[],
): Promise<readonly z.output<typeof keySchema>[]> {
  const strategies = await gateway.store.people.listStrategiesOf(ownerId);
  const byId = new Map(strategies.map((strategy) => [strategy.strategyId, strategy]));
  const uses = await observability.keyUses.lastUses(keys.map(({ keyId }) => keyId));
  return keys.map((key) => ({
    ...key,
    strategy: (key.strategyId !== null && byId.get(key.strategyId)) || null,
    lastUse: uses.get(key.keyId) ?? null,
  }));
}
