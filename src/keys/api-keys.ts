// API keys. The secret of a key is never stored: it is derived, at every request, from the master key (a
// file) and the key's salt (the database). Either alone gives nothing, and a secret that was lost stays lost.
// A key's record names the version of the master key that its secret comes from.
import { createHmac, hash, randomBytes } from "node:crypto";
import type { ApiKeyRecord } from "../domain/strategy.ts";
import type { MasterKey } from "./master-key.ts";

/** Separates this use of the master key from any other. */
const SECRET_DOMAIN = "lyrebird api secret";
const KEY_PREFIX = "lyre_bot_";
/** Separates the number of a user from any other hash of the same id. */
const USER_DOMAIN = "lyrebird uid";
/**
 * Hex characters of a user's number: 48 bits, at most 15 digits. Clients read longer numbers as objects or as
 * text.
 */
const USER_NUMBER_CHARACTERS = 12;

/** A new key and, this once, its secret. */
export function issueApiKey(
  master: MasterKey,
  terms: Pick<ApiKeyRecord, "label" | "ownerId" | "strategyId" | "createdAt">,
): { readonly record: ApiKeyRecord; readonly secret: string } {
  const record: ApiKeyRecord = {
    keyId: randomBytes(8).toString("hex"),
    apiKey: KEY_PREFIX + randomBytes(32).toString("hex"),
    salt: randomBytes(16).toString("hex"),
    masterVersion: master.current,
    revokedAt: null,
    ...terms,
  };
  return { record, secret: secretOf(master, record) };
}

/** The secret of a key: 64 lowercase hex characters, used as text. Throws MasterVersionMissing. */
export function secretOf(master: MasterKey, { keyId, salt, masterVersion }: ApiKeyRecord): string {
  return createHmac("sha256", master.keyOf(masterVersion))
    .update(`${SECRET_DOMAIN}|${masterVersion}|${keyId}|${salt}`)
    .digest("hex");
}

/**
 * The user id of a key: the person who owns it. A strategy without an owner counts as its own user, under its
 * own id, which no person has.
 */
export function userIdOf({ ownerId, strategyId, keyId }: ApiKeyRecord): string {
  return ownerId ?? strategyId ?? keyId;
}

/**
 * The same as an integer, for clients whose types require one: the first 48 bits of the SHA-256 of the id.
 * Among 100,000 people two share a number with a probability of one in fifty thousand.
 */
export function userNumberOf(userId: string): number {
  const digest = hash("sha256", `${USER_DOMAIN}|${userId}`, "hex");
  return Number.parseInt(digest.slice(0, USER_NUMBER_CHARACTERS), 16);
}
