// API keys. The secret of a key is never stored: it is derived, at every request, from the master key (a file) and the
// key's salt (the database). Either alone gives nothing, and a secret that was lost stays lost. A key's record names the version
// of the master key that its secret comes from.
import { createHmac, randomBytes } from "node:crypto";
import type { ApiKeyRecord } from "../store/store.ts";
import type { MasterKey } from "./master-key.ts";

/** Separates this use of the master key from any other. */
const SECRET_DOMAIN = "lyrebird api secret";
const KEY_PREFIX = "lyre_bot_";

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

/** The secret of a key: 64 lowercase hex characters, used as text. */
export function secretOf(master: MasterKey, { keyId, salt, masterVersion }: ApiKeyRecord): string {
  return createHmac("sha256", master.keyOf(masterVersion))
    .update(`${SECRET_DOMAIN}|${masterVersion}|${keyId}|${salt}`)
    .digest("hex");
}
