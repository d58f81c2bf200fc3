// `lyrebird keys list` and `lyrebird keys revoke`. Neither needs the master key, since neither ever has to do
// with a secret.
import { ConfigError } from "../config/config.ts";
import { nameOfDatabase } from "../config/data-directory.ts";
import type { BoundKey } from "../domain/strategy.ts";
import {
  type Command,
  configOf,
  isoTime,
  OPTIONS_HINT,
  type Options,
  openNamedDatabase,
  printRows,
} from "./command.ts";

export const KEYS_LIST: Command = {
  name: "keys list",
  operand: "",
  options: ["json"],
  purpose: "show every key, revoked ones too, whose it is and the strategy it manages",
  details: "  --json   one line of JSON a key",
  run: list,
};

export const KEYS_REVOKE: Command = {
  name: "keys revoke",
  operand: "<api key>",
  options: [],
  purpose: "end a key for good: its next request is refused",
  details:
    "The strategy keeps its history. A key that was revoked before stays as it was, which is no error.",
  run: revoke,
};

async function list({ json = false, ...options }: Options): Promise<void> {
  await using store = await openNamedDatabase(options);
  const owners = new Map(
    (await store.people.listPeople({ limit: Number.MAX_SAFE_INTEGER })).map(({ personId, email }) => [
      personId,
      email,
    ]),
  );
  const rows = (await store.listKeys()).map((bound) => rowOf(bound, owners));
  printRows(rows, {
    asJson: json,
    columns: {
      KEY: ({ apiKey }) => apiKey,
      LABEL: ({ label }) => label,
      OWNER: ({ owner }) => owner ?? "-",
      TYPE: ({ type }) => type?.toLowerCase() ?? "-",
      STRATEGY: ({ strategyId }) => strategyId ?? "-",
      "STRATEGY STATUS": ({ strategyStatus }) => strategyStatus?.toLowerCase() ?? "-",
      CREATED: ({ createdAt }) => createdAt,
      "KEY STATUS": ({ revokedAt }) => (revokedAt === null ? "active" : `revoked ${revokedAt}`),
    },
  });
}

async function revoke(options: Options, [apiKey, ...others]: readonly string[]): Promise<void> {
  if (apiKey === undefined || others.length > 0) {
    throw new ConfigError(`keys revoke takes one API key; ${OPTIONS_HINT}`);
  }
  await using store = await openNamedDatabase(options);
  const revocation = await store.revokeKey(apiKey, Date.now());
  if (revocation === null) {
    const { dataDir, databaseUrl } = configOf(options);
    // The argument may be a secret, by mistake: it is not repeated.
    throw new Error(
      `there is no such key in ${nameOfDatabase(dataDir, databaseUrl)} (is it the API key, not the secret?): "keys list" shows those that there are`,
    );
  }
  const { key, wasRevoked } = revocation;
  const strategy = key.strategyId === null ? "no strategy" : `strategy ${key.strategyId}`;
  process.stdout.write(
    wasRevoked
      ? `${key.apiKey} (${strategy}) was revoked before, ${isoTime(key.revokedAt ?? 0)}\n`
      : `${key.apiKey} (${strategy}) is revoked\n`,
  );
}

/** The shown fields of a key: everything but its salt; of its owner the e-mail address. */
function rowOf({ key, strategy }: BoundKey, owners: ReadonlyMap<string, string>) {
  return {
    keyId: key.keyId,
    apiKey: key.apiKey,
    label: key.label,
    owner: key.ownerId === null ? null : (owners.get(key.ownerId) ?? key.ownerId),
    type: strategy?.type ?? null,
    strategyId: strategy?.strategyId ?? null,
    strategyStatus: strategy?.status ?? null,
    createdAt: isoTime(key.createdAt),
    revokedAt: key.revokedAt === null ? null : isoTime(key.revokedAt),
  };
}
