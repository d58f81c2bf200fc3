// The sign-in library's records, with what opens something hashed on its way to the store: the tokens of sessions, and the names
// of links, which hold the token that was mailed. A copy of the database therefore opens nothing. Whoever looks for a token finds
// the record by its hash, and is answered the token that was asked with; from any other search it comes back empty.
import { createHash } from "node:crypto";
import type { SignInCondition, SignInModel, SignInRecord, SignInRecords } from "../store/people-store.ts";

const SECRET_FIELD: Partial<Record<SignInModel, string>> = { session: "token", verification: "identifier" };

/** What the store has in place of a token. Tokens are random, so that a plain hash does. */
export function hashOfToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

export function hashedRecords(records: SignInRecords): SignInRecords {
  return {
    async create(model, record) {
      await records.create(model, hashed(model, record));
      return record;
    },
    async find(model, where, options) {
      const found = await records.find(model, conditionsOf(model, where), options);
      return found.map((record) => shown(model, record, where));
    },
    count: (model, where) => records.count(model, conditionsOf(model, where)),
    update: (model, where, change) =>
      records.update(model, conditionsOf(model, where), hashed(model, change)),
    remove: (model, where) => records.remove(model, conditionsOf(model, where)),
  };
}

function hashed(model: SignInModel, record: SignInRecord): SignInRecord {
  const field = SECRET_FIELD[model];
  if (field === undefined || !(field in record)) return record;
  return { ...record, [field]: hashOfToken(textOf(record[field])) };
}

function conditionsOf(model: SignInModel, where: readonly SignInCondition[]): readonly SignInCondition[] {
  const field = SECRET_FIELD[model];
  return where.map((condition) => {
    if (condition.field !== field) return condition;
    const { operator, value } = condition;
    if (Array.isArray(value)) return { ...condition, value: value.map((each) => hashOfToken(textOf(each))) };
    if (operator === "eq" || operator === "ne") return { ...condition, value: hashOfToken(textOf(value)) };
    throw new Error(`${field} of a ${model} is known by its hash, which cannot be searched with ${operator}`);
  });
}

/** A record that was found, as whoever asked for it may have it. */
function shown(model: SignInModel, record: SignInRecord, where: readonly SignInCondition[]): SignInRecord {
  const field = SECRET_FIELD[model];
  if (field === undefined) return record;
  const asked = where.flatMap((each) => (each.field === field && each.operator !== "ne" ? each.value : []));
  const token = asked.find((each) => hashOfToken(textOf(each)) === record[field]);
  return { ...record, [field]: token === undefined ? "" : textOf(token) };
}

function textOf(value: unknown): string {
  if (typeof value !== "string") throw new Error("a token is a text");
  return value;
}
