// `lyrebird audit`: shows the audit records, and checks whether any was changed afterwards.
import type { Actor, AuditRecord } from "../domain/audit.ts";
import type { AuditStore } from "../store/ports/audit.ts";
import type { Store } from "../store/store.ts";
import { type Command, isoTime, type Options, openNamedDatabase, printRows } from "./command.ts";

/** Records per read. */
const PAGE_ROWS = 1_000;

export const AUDIT: Command = {
  name: "audit",
  operand: "",
  options: ["json", "verify"],
  purpose: "show what was done to people, keys and strategies, with who did it and when, oldest first",
  details: `  --json     one line of JSON a record
  --verify   recomputes every hash instead of listing records; names the first record that does not match,
             and exits with 1

Each record has a hash over itself and the hash before it, so that none can be changed or taken out unseen.
Anybody who can write to the database could compute all of them again: note the last hash elsewhere, now and
then, and compare.`,
  run: audit,
};

async function audit({ json = false, verify = false, ...options }: Options): Promise<void> {
  await using store = await openNamedDatabase(options);
  return verify ? await checkChain(store) : await show(store, json);
}

async function checkChain({ people }: { readonly people: AuditStore }): Promise<void> {
  const broken = await people.verifyAudit();
  if (broken !== null) {
    throw new Error(
      `the audit is broken at record ${broken.brokenAt}: it, or one before it, is not as it was written`,
    );
  }
  const [last] = await people.listAudit({ limit: 1 });
  process.stdout.write(
    last === undefined
      ? "the audit is whole: it has no records yet\n"
      : `the audit is whole: ${last.position} records, the last with the hash ${last.hash}\n`,
  );
}

async function show(store: Store, asJson: boolean): Promise<void> {
  const names = await namesIn(store);
  const rows = (await allRecords(store)).map((record) => rowOf(record, names));
  printRows(rows, {
    asJson,
    columns: {
      WHEN: ({ at }) => at,
      WHO: ({ who }) => who.name,
      WHAT: ({ what }) => what,
      ABOUT: ({ about }) => about.name,
      DETAILS: ({ details }) =>
        Object.entries(details)
          .map(([name, text]) => `${name}: ${text}`)
          .join(", "),
    },
  });
}

/** Oldest first. */
async function allRecords({ people }: Store): Promise<readonly AuditRecord[]> {
  const records: AuditRecord[] = [];
  for (;;) {
    const page = await people.listAudit({ before: records.at(-1)?.position, limit: PAGE_ROWS });
    records.push(...page);
    if (page.length < PAGE_ROWS) return records.reverse();
  }
}

/** By ids, the API keys and the e-mail addresses that an operator knows them by. */
type Names = ReadonlyMap<string, string>;

async function namesIn(store: Store): Promise<Names> {
  const keys = await store.listKeys();
  const people = await store.people.listPeople({ limit: Number.MAX_SAFE_INTEGER });
  return new Map([
    ...keys.map(({ key }) => [key.keyId, key.apiKey] as const),
    ...people.map(({ personId, email }) => [personId, email] as const),
  ]);
}

function rowOf({ position, at, who, what, about, details, hash }: AuditRecord, names: Names) {
  return {
    position,
    at: isoTime(at),
    who: { ...who, name: nameOfActor(who, names) },
    what,
    about: { ...about, name: names.get(about.id) ?? about.id },
    details,
    hash,
  };
}

function nameOfActor(who: Actor, names: Names): string {
  switch (who.kind) {
    case "COMMAND_LINE":
      return "the command line";
    case "SERVICE":
      return "the service";
    default:
      return names.get(who.personId) ?? who.personId;
  }
}
