// `lyrebird operator create` and `operator remove`: operators decide about identity forms. They are made here
// alone, on the machine. A change of role ends the person's sessions.
import { text } from "node:stream/consumers";
import { z } from "zod";
import { ConfigError } from "../config/config.ts";
import { nameOfDatabase } from "../config/data-directory.ts";
import type { AuditAction, NewAuditRecord } from "../domain/audit.ts";
import type { Person } from "../domain/person.ts";
import { makePerson, newPassword } from "../people/made-people.ts";
import type { Chooser } from "../people/password-strength.ts";
import { passwordFault } from "../people/passwords.ts";
import type { Store } from "../store/store.ts";
import { type Command, configOf, OPTIONS_HINT, type Options, openNamedDatabase } from "./command.ts";

const EMAIL_LENGTH_MAX = 254;
const NAME_LENGTH_MAX = 100;

export const OPERATOR_CREATE: Command = {
  name: "operator create",
  operand: "",
  options: ["email", "name", "password-stdin", "promote"],
  purpose: "make an operator, who decides about identity forms, manages accounts and sets kill switches",
  details: `  --email ADDRESS    what they sign in with; must be given. It counts as verified
  --name NAME        what they are called (Operator)
  --password-stdin   read their password from standard input; else one is made and printed, this once
  --promote          make an operator of somebody who has signed up with this address, verified it and has
                     neither strategies nor live keys; their password stays, their sessions end

Before operators' pages work for them they enable two-factor authentication in the dashboard. It is audited.`,
  run: create,
};

export const OPERATOR_REMOVE: Command = {
  name: "operator remove",
  operand: "",
  options: ["email"],
  purpose: "make somebody who is an operator an ordinary person again",
  details: `  --email ADDRESS    what they sign in with; must be given

Their sessions end, and they keep their password. It is audited. If the person is no operator, nothing
changes and the command succeeds.`,
  run: remove,
};

async function create(options: Options, operands: readonly string[]): Promise<void> {
  if (operands.length > 0) throw new ConfigError(`too many words; ${OPTIONS_HINT}`);
  const email = readEmail(options.email);
  const name = readName(options.name);
  if (options.promote === true && (options.name !== undefined || options["password-stdin"] === true)) {
    throw new ConfigError("--promote leaves name and password as they are: give neither");
  }
  const given = options["password-stdin"] === true ? await readPassword({ email, name }) : null;
  await using store = await openNamedDatabase(options);
  const there = await store.people.findPersonByEmail(email);
  if (options.promote === true) return await promote(store, there, { email, ...placeOf(options) });
  const password = given ?? newPassword();
  const personId = await makePerson(
    store.people,
    { email, name, role: "OPERATOR", profile: "COPIER", kyc: "NONE" },
    { password, who: { kind: "COMMAND_LINE" }, what: "OPERATOR_CREATED", at: Date.now() },
  );
  if (personId === null) {
    throw new Error(
      `there is somebody with the address ${email} already: take another one, or make them an operator with --promote`,
    );
  }
  process.stdout.write(`${email} is an operator\n`);
  if (given === null)
    process.stdout.write(`password: ${password}   (shown this once; change it after signing in)\n`);
}

async function promote(
  store: Store,
  person: Person | null,
  { email, place }: { readonly email: string; readonly place: string },
): Promise<void> {
  const refusal = await whyNotPromoted(store, person);
  if (person === null || refusal !== null) {
    throw new Error(`${email} in ${place} ${refusal}`);
  }
  if (person.role === "OPERATOR") {
    process.stdout.write(`${email} was an operator before\n`);
    return;
  }
  await store.people.setRole(person.personId, "OPERATOR", recordOf("OPERATOR_CREATED", person));
  process.stdout.write(`${email} is an operator\n`);
}

async function remove(options: Options): Promise<void> {
  const email = readEmail(options.email);
  await using store = await openNamedDatabase(options);
  const person = await store.people.findPersonByEmail(email);
  if (person === null) {
    throw new Error(`${email} in ${placeOf(options).place} is nobody's address`);
  }
  if (person.role !== "OPERATOR") {
    process.stdout.write(`${email} was no operator before\n`);
    return;
  }
  await store.people.setRole(person.personId, "PERSON", recordOf("OPERATOR_REMOVED", person));
  process.stdout.write(`${email} is no operator any more\n`);
}

function recordOf(what: AuditAction, { personId, email }: Person): NewAuditRecord {
  return {
    who: { kind: "COMMAND_LINE" },
    what,
    about: { kind: "PERSON", id: personId },
    at: Date.now(),
    details: { email },
  };
}

async function whyNotPromoted(store: Store, person: Person | null): Promise<string | null> {
  if (person === null) return 'is nobody\'s address: leave "--promote" out to make a new operator';
  // The person who chose the password of an unverified address need not be the one who reads its mail.
  if (!person.isEmailVerified) return "has not been verified yet: that comes first";
  const strategies = await store.people.listStrategiesOf(person.personId);
  if (strategies.length > 0) {
    return "is a trader's, who has strategies: operators have none, so take another address";
  }
  const keys = await store.people.listKeysOf(person.personId);
  return keys.some(({ key }) => key.revokedAt === null)
    ? "is a trader's, who has live keys: operators have none, so have them revoked, or take another address"
    : null;
}

function placeOf(options: Options): { readonly place: string } {
  const { dataDir, databaseUrl } = configOf(options);
  return { place: nameOfDatabase(dataDir, databaseUrl) };
}

function readEmail(given: string | undefined): string {
  if (given === undefined) throw new ConfigError(`--email must be given; ${OPTIONS_HINT}`);
  const email = given.trim().toLowerCase();
  if (!z.email().max(EMAIL_LENGTH_MAX).safeParse(email).success) {
    throw new ConfigError(`--email is no e-mail address: ${JSON.stringify(given)}`);
  }
  return email;
}

function readName(given = "Operator"): string {
  const name = given.trim();
  if (name === "" || name.length > NAME_LENGTH_MAX || /\p{C}/u.test(name)) {
    throw new ConfigError(`--name is from 1 to ${NAME_LENGTH_MAX} characters of plain text`);
  }
  return name;
}

/** One line; what ends it is not part of the password. */
async function readPassword(chooser: Chooser): Promise<string> {
  const password = (await text(process.stdin)).replace(/\r?\n$/, "");
  const fault = await passwordFault(password, chooser);
  if (fault !== null) throw new ConfigError(`the password from standard input: ${fault}`);
  return password;
}
