// `lyrebird master-key show`, `lyrebird master-key rotate`, and `lyrebird keys revoke-all`: what an operator
// does with the versions of the master key. None of them ever prints a key.
import { ConfigError } from "../config/config.ts";
import { masterKeyFileOf, nameOfDatabase, openKeyedDatabase } from "../config/data-directory.ts";
import { areSealedBy, rewrapCredentials } from "../copy/credentials.ts";
import { LOOK_MS } from "../keys/key-watch.ts";
import { rotateMasterKey } from "../keys/rotation.ts";
import { isSealedBy } from "../keys/sealing.ts";
import { resealForms } from "../people/kyc/sealed-forms.ts";
import { resealSeeds } from "../people/seeds.ts";
import {
  CALL,
  type Command,
  closedAtEnd,
  configOf,
  OPTIONS_HINT,
  type Options,
  printRows,
} from "./command.ts";

export const MASTER_KEY_SHOW: Command = {
  name: "master-key show",
  operand: "",
  options: ["json"],
  purpose: "show the versions of the master key, and how many live keys each has",
  details: `  --json   one line of JSON a version

SEEDS are the secrets of authenticators, FORMS identity forms, CREDENTIALS those of copiers' exchange
accounts. No part of a key is shown.`,
  run: show,
};

export const MASTER_KEY_ROTATE: Command = {
  name: "master-key rotate",
  operand: "",
  options: [],
  purpose: "add a version to the master key: new API keys are made with it, old ones go on working",
  details: `The file of the master key, MASTER_KEY_FILE or the one in the data directory, gets a line more:
one for each version, oldest first. It is replaced as a whole. Seeds of authenticators and identity forms are
resealed, and the data keys of credentials at venues are rewrapped. It is audited.

A running server that has this file takes the version up by itself, within ${LOOK_MS / 1_000} s. Servers on
the same database with files of their own need a copy of it at once, and so do your backups of the file.

After a leak, also end the keys of the leaked version, with "keys revoke-all". Anybody who had a copy of the
database too can open what was sealed until now: have copiers replace the keys of their accounts at venues.`,
  run: rotate,
};

export const KEYS_REVOKE_ALL: Command = {
  name: "keys revoke-all",
  operand: "",
  options: ["master-version"],
  purpose: "end every live key of a --master-version for good, after that version has leaked",
  details: `  --master-version N   the version of the master key; must be given

Rotate the master key first, so that no key is made with that version any more: the current one is refused.
The strategies keep their history, and their owners bind new keys to them in the dashboard.`,
  run: revokeAll,
};

async function show({ json = false, ...options }: Options): Promise<void> {
  const { store, master } = await openKeyedDatabase(configOf(options));
  await using _closed = closedAtEnd(store);
  const keys = (await store.listKeys()).map(({ key }) => key);
  const seeds = await store.people.listSecondFactors();
  const forms = await store.people.listForms();
  const accounts = await store.copying.listSealedAccounts();
  const newest = Math.max(master.newest, ...keys.map(({ masterVersion }) => masterVersion));
  const rows = Array.from({ length: newest }, (_, index) => index + 1).map((version) => ({
    version,
    status: version > master.newest ? "missing" : version === master.current ? "current" : "old",
    liveKeys: keys.filter((key) => key.masterVersion === version && key.revokedAt === null).length,
    seeds: seeds.filter(({ sealedSeed }) => isSealedBy(version, sealedSeed)).length,
    forms: forms.filter(({ sealedForm }) => isSealedBy(version, sealedForm)).length,
    credentials: accounts.filter((account) => areSealedBy(version, account)).length,
  }));
  printRows(rows, {
    asJson: json,
    columns: {
      VERSION: ({ version }) => String(version),
      STATUS: ({ status }) => (status === "missing" ? "not in the file" : status),
      "LIVE KEYS": ({ liveKeys }) => String(liveKeys),
      SEEDS: ({ seeds }) => String(seeds),
      FORMS: ({ forms }) => String(forms),
      CREDENTIALS: ({ credentials }) => String(credentials),
    },
  });
}

async function rotate(options: Options): Promise<void> {
  const config = configOf(options);
  const { store, master } = await openKeyedDatabase(config);
  await using _closed = closedAtEnd(store);
  const version = await rotateMasterKey(store, master, Date.now());
  const seeds = counted(await resealSeeds(store.people, master), "seed");
  const forms = counted(await resealForms(store.people, master), "identity form");
  const credentials = await rewrapCredentials(store.copying, master);
  process.stdout.write(`${masterKeyFileOf(config)} has version ${version} of the master key: new API keys are made with it
Resealed: ${seeds}, ${forms}, credentials of ${counted(credentials, "venue account")}. API keys of older versions go on working
A running server with this file takes it up within ${LOOK_MS / 1_000} s. Copy the file now to other servers on the same database, and keep it with your backups.
If an older version has leaked, end its keys: ${CALL} keys revoke-all --master-version ${version - 1}
`);
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

async function revokeAll(options: Options, operands: readonly string[]): Promise<void> {
  const text = options["master-version"];
  if (text === undefined || operands.length > 0 || !/^[1-9][0-9]{0,5}$/.test(text)) {
    throw new ConfigError(`--master-version must be given, a number such as 1; ${OPTIONS_HINT}`);
  }
  const version = Number(text);
  const config = configOf(options);
  const { store, master } = await openKeyedDatabase(config);
  await using _closed = closedAtEnd(store);
  if (version === master.current) {
    throw new ConfigError(
      `version ${version} is the current one, so that keys are still made with it: first "${CALL} master-key rotate"`,
    );
  }
  const listLive = async () =>
    (await store.listKeys()).filter(({ key }) => key.masterVersion === version && key.revokedAt === null);
  let revoked = 0;
  // Repeated for keys that a server made since, before it used the new version.
  for (let live = await listLive(); live.length > 0; live = await listLive()) {
    for (const { key } of live) await store.revokeKey(key.apiKey, Date.now());
    revoked += live.length;
  }
  process.stdout.write(
    `${nameOfDatabase(config.dataDir, config.databaseUrl)}: ${revoked} ${revoked === 1 ? "key" : "keys"} of version ${version} of the master key ${revoked === 1 ? "is" : "are"} revoked\n`,
  );
}
