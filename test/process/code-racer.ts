// A process of its own that checks codes: each line of its input is a request, answered by a line.
import { createInterface } from "node:readline";
import { readMasterKey } from "../../src/keys/master-key.ts";
import { Cookies } from "../../src/people/cookies.ts";
import { Lockout } from "../../src/people/lockout.ts";
import { SecondFactors } from "../../src/people/second-factor.ts";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";

/** A code that is used at a time (Unix ms) from an address, as JSON. */
export type Question = {
  readonly email: string;
  readonly code: string;
  readonly at: number;
  readonly address: string;
};

const [database = "", keyFile = ""] = process.argv.slice(2);
const master = readMasterKey(keyFile);
const store = await (database.startsWith("postgres:")
  ? openPostgresStore(database)
  : openSqliteStore(database));
let now = 0;
const parts = { master, wallNow: () => now, log: { error() {} } };
const lockout = new Lockout({
  people: store.people,
  cookies: new Cookies(() => "http://127.0.0.1:8080"),
  ...parts,
});
const secondFactors = new SecondFactors({ store: store.people, lockout, ...parts });

process.stdout.write("ready\n");
for await (const line of createInterface({ input: process.stdin })) {
  const { email, code, at, address }: Question = JSON.parse(line);
  now = at;
  const person = await store.people.findPersonByEmail(email);
  if (person === null) throw new Error(`nobody has the address ${email}`);
  const caller = { address, userAgent: "racer", cookies: null };
  const outcome = await secondFactors.check(person, code, { allowsRecovery: true, caller });
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}
await store.close();
