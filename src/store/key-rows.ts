// API keys as rows, and back, alone or with the strategy that they are bound to.
import type { Selectable } from "kysely";
import type { StrategyStatus, StrategyType } from "../domain/account.ts";
import type { ApiKeyRecord, BoundKey } from "../domain/strategy.ts";
import type { Tables } from "./schema.ts";

/** A row as either store answers it. */
export type KeyRow = Readonly<Selectable<Tables["api_keys"]>>;

/** With the type and the status of its strategy, null if it is bound to none. */
export type BoundKeyRow = KeyRow & {
  readonly type: StrategyType | null;
  readonly status: StrategyStatus | null;
};

/**
 * When a key ceased to work, in SQL: when it was revoked, or since when its owner is locked. `k` is the key
 * and `o` its owner. Authentication reads this, so that a lock needs no check of its own.
 */
export const REVOKED_AT = "COALESCE(k.revoked_at, o.locked_at)";

/** The columns of such a row. */
export const KEY_COLUMNS = [
  "id",
  "api_key",
  "salt",
  "master_version",
  "label",
  "owner_id",
  "strategy_id",
  "created_at",
  "revoked_at",
] as const satisfies readonly (keyof KeyRow)[];

export function keyRow(key: ApiKeyRecord) {
  return {
    id: key.keyId,
    api_key: key.apiKey,
    salt: key.salt,
    master_version: key.masterVersion,
    label: key.label,
    owner_id: key.ownerId,
    strategy_id: key.strategyId,
    created_at: key.createdAt,
    revoked_at: key.revokedAt,
  };
}

export function keyOfRow(row: KeyRow): ApiKeyRecord {
  return {
    keyId: row.id,
    apiKey: row.api_key,
    salt: row.salt,
    masterVersion: row.master_version,
    label: row.label,
    ownerId: row.owner_id,
    strategyId: row.strategy_id,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
  };
}

export function boundKeyOfRow(row: BoundKeyRow): BoundKey {
  const { strategy_id: strategyId, type, status } = row;
  const isBound = strategyId !== null && type !== null && status !== null;
  return { key: keyOfRow(row), strategy: isBound ? { strategyId, type, status } : null };
}
