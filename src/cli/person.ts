// `lyrebird person …`: an operator's changes of a person's account, on the machine and also where no operator
// can sign in. It works beside a running server, which sees the change with the next request; the person gets
// no mail.
import { ConfigError } from "../config/config.ts";
import { nameOfDatabase } from "../config/data-directory.ts";
import type { Person } from "../domain/person.ts";
import { AccountControl } from "../people/account-control.ts";
import { type Command, configOf, isoTime, OPTIONS_HINT, type Options, openNamedDatabase } from "./command.ts";

const REASON_LENGTH_MAX = 200;
const COMMAND_LINE = { kind: "COMMAND_LINE" } as const;
const WHOSE = "  --email ADDRESS   what they sign in with; must be given";

/** What a command does with an account, and what it prints. It throws a refusal. */
type Work = (person: Person, control: AccountControl, options: Options) => Promise<string>;

export const PERSON_COMMANDS: readonly Command[] = [
  command({
    name: "person show",
    purpose: "show somebody's account: its state, and what it has",
    details: WHOSE,
    work: async (person, control) => {
      const contents = Object.entries(await control.contentsOf(person.personId));
      return [
        `${person.email} (${person.personId}), ${person.role === "OPERATOR" ? "an operator" : "a person"}`,
        `identity: ${person.kyc.toLowerCase()}; second factor: ${person.hasSecondFactor ? "enabled" : "not enabled"}`,
        person.lockedAt === null ? "not locked" : `locked since ${isoTime(person.lockedAt)}`,
        contents.map(([name, count]) => `${wordsOf(name)}: ${count}`).join("; "),
      ].join("\n");
    },
  }),
  command({
    name: "person end-sessions",
    purpose: "sign somebody out everywhere",
    details: `${WHOSE}\n\nKeys go on working. It is audited; the person gets no mail.`,
    work: async (person, control) =>
      `${person.email}: ${await control.endSessions(person, COMMAND_LINE)} sessions ended`,
  }),
  command({
    name: "person lock",
    options: ["reason"],
    purpose: "keep somebody out until they are unlocked: sign-ins, keys, copies",
    details: `${WHOSE}
  --reason TEXT     why, for the audit; must be given

Sessions end, nobody signs in, every key is refused as a revoked one is, and copies are paused: they open
nothing and still follow exits. Strategies stay as they are, and open orders may fill. It is audited; the
person gets no mail.`,
    work: async (person, control, { reason = "" }) => {
      const given = reason.trim();
      if (given === "" || given.length > REASON_LENGTH_MAX || /\p{C}/u.test(given)) {
        throw new ConfigError(`--reason is from 1 to ${REASON_LENGTH_MAX} characters of plain text`);
      }
      const isDone = await control.lock(person, COMMAND_LINE, given);
      return `${person.email} ${isDone ? "is locked" : "was locked before"}`;
    },
  }),
  command({
    name: "person unlock",
    purpose: "let somebody in again: keys work, and copies that the lock has paused follow",
    details: `${WHOSE}\n\nIt is audited; the person gets no mail.`,
    work: async (person, control) =>
      `${person.email} ${(await control.unlock(person, COMMAND_LINE)) ? "is unlocked" : "was not locked"}`,
  }),
  command({
    name: "person reset-second-factor",
    purpose: "remove the second factor of somebody who has lost authenticator and recovery codes",
    details: `${WHOSE}

Make sure that it is them who ask: their password alone signs them in then. Sessions end. It is audited;
the person gets no mail.`,
    work: async (person, control) =>
      `${person.email} ${(await control.resetSecondFactor(person, COMMAND_LINE)) ? "has no second factor any more" : "had no second factor"}`,
  }),
  command({
    name: "person close",
    options: ["yes"],
    purpose: "close somebody's account for good; says first what ends with it",
    details: `${WHOSE}
  --yes             does it; without it nothing is done, and what would end is said

Address, name, password, second factor, identity forms and sessions are erased; keys are revoked; copies
stop without selling, and what they hold stays at the exchange; exchange accounts are disconnected once
their open orders are withdrawn; strategies are closed by the running server. Trades and the audit are kept.
It is audited; the person gets no mail.`,
    work: async (person, control, { yes = false }) => {
      const contents = Object.entries(await control.contentsOf(person.personId));
      const ends = contents.map(([name, count]) => `${count} ${wordsOf(name)}`).join(", ");
      if (!yes) {
        throw new ConfigError(
          `this would close the account of ${person.email} for good, with ${ends}: add --yes to do it`,
        );
      }
      await control.close(person, COMMAND_LINE);
      return `the account of ${person.email} (${person.personId}) is closed, with ${ends}`;
    },
  }),
];

function command({
  options = [],
  work,
  ...described
}: Pick<Command, "name" | "purpose" | "details"> & {
  readonly options?: readonly (keyof Options)[];
  readonly work: Work;
}): Command {
  return {
    ...described,
    operand: "",
    options: ["email", ...options],
    async run(given) {
      if (given.email === undefined) throw new ConfigError(`--email must be given; ${OPTIONS_HINT}`);
      const email = given.email.trim().toLowerCase();
      await using store = await openNamedDatabase(given);
      const person = await store.people.findPersonByEmail(email);
      if (person === null) {
        const { dataDir, databaseUrl } = configOf(given);
        throw new Error(
          `${JSON.stringify(email)} in ${nameOfDatabase(dataDir, databaseUrl)} is nobody's address`,
        );
      }
      const { people, copying } = store;
      const control = new AccountControl({
        ...{ people, copying },
        wallNow: Date.now,
        // Its process sees it when it asks the store, which it does every few seconds.
        sessionsEnded() {},
        tell() {},
      });
      process.stdout.write(`${await work(person, control, given)}\n`);
    },
  };
}

/** "liveKeys" as it is read: "live keys". */
function wordsOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
