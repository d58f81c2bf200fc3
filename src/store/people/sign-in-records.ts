// The records of the sign-in library as rows: its names for fields are mapped to columns here, and to nothing else, so that no
// name that somebody made up gets into a statement.
import { type Kysely, type RawBuilder, sql } from "kysely";
import {
  type PeopleStore,
  RecordTaken,
  type SignInCondition,
  type SignInModel,
  type SignInRecord,
  type SignInValue,
} from "../people-store.ts";
import type { Tables } from "../schema.ts";
import { areTexts } from "../texts.ts";
import { escaped, isLike } from "./likeness.ts";

/** What a field holds: times are dates to the library and Unix ms in the database, truths are 0 or 1 there. */
type Kind = "TEXT" | "TIME" | "TRUTH";
type Field = readonly [column: string, kind: Kind];
type Model = { readonly table: keyof Tables; readonly fields: Readonly<Record<string, Field>> };

const TIMES = { createdAt: ["created_at", "TIME"], updatedAt: ["updated_at", "TIME"] } as const;

const MODELS: { readonly [M in SignInModel]: Model } = {
  user: {
    table: "people",
    fields: {
      id: ["id", "TEXT"],
      name: ["name", "TEXT"],
      email: ["email", "TEXT"],
      emailVerified: ["email_verified", "TRUTH"],
      image: ["image", "TEXT"],
      ...TIMES,
    },
  },
  session: {
    table: "sessions",
    fields: {
      id: ["id", "TEXT"],
      expiresAt: ["expires_at", "TIME"],
      token: ["token", "TEXT"],
      ipAddress: ["ip_address", "TEXT"],
      userAgent: ["user_agent", "TEXT"],
      userId: ["user_id", "TEXT"],
      ...TIMES,
    },
  },
  account: {
    table: "credentials",
    fields: {
      id: ["id", "TEXT"],
      accountId: ["account_id", "TEXT"],
      providerId: ["provider_id", "TEXT"],
      userId: ["user_id", "TEXT"],
      accessToken: ["access_token", "TEXT"],
      refreshToken: ["refresh_token", "TEXT"],
      idToken: ["id_token", "TEXT"],
      accessTokenExpiresAt: ["access_token_expires_at", "TIME"],
      refreshTokenExpiresAt: ["refresh_token_expires_at", "TIME"],
      scope: ["scope", "TEXT"],
      password: ["password", "TEXT"],
      ...TIMES,
    },
  },
  verification: {
    table: "verifications",
    fields: {
      id: ["id", "TEXT"],
      identifier: ["identifier", "TEXT"],
      value: ["value", "TEXT"],
      expiresAt: ["expires_at", "TIME"],
      ...TIMES,
    },
  },
};

/** More than there can ever be: an offset needs a limit. */
const ALL = Number.MAX_SAFE_INTEGER;

export function signInRecords(db: Kysely<Tables>): PeopleStore["signIn"] {
  return {
    async create(model, record) {
      const { table } = MODELS[model];
      const cells = Object.entries(record).map(([name, value]) => cellOf(model, name, value));
      const { rows } = await sql<Row>`
        INSERT INTO ${sql.table(table)} (${sql.join(cells.map(({ column }) => sql.ref(column)))})
        VALUES (${sql.join(cells.map(({ value }) => value))})
        ON CONFLICT DO NOTHING RETURNING ${columnsOf(model)}
      `.execute(db);
      const [row] = rows;
      if (row === undefined) throw new RecordTaken(`there is such a ${model} already`);
      return recordOfRow(model, row);
    },

    async find(model, where, { limit = ALL, offset = 0, sortBy } = {}) {
      const order =
        sortBy === undefined
          ? sql``
          : sql`ORDER BY ${refOf(model, sortBy.field)} ${sortBy.direction === "asc" ? sql`ASC` : sql`DESC`}`;
      const { rows } = await sql<Row>`
        SELECT ${columnsOf(model)} FROM ${sql.table(MODELS[model].table)} ${conditionOf(model, where)} ${order}
        LIMIT ${limit} OFFSET ${offset}
      `.execute(db);
      return rows.map((row) => recordOfRow(model, row));
    },

    async count(model, where) {
      const { rows } = await sql<{ count: number | string }>`
        SELECT COUNT(*) AS count FROM ${sql.table(MODELS[model].table)} ${conditionOf(model, where)}
      `.execute(db);
      return Number(rows[0]?.count);
    },

    async update(model, where, change) {
      demandCondition(where);
      const cells = Object.entries(change).map(([name, value]) => cellOf(model, name, value));
      const changes = cells.map(({ column, value }) => sql`${sql.ref(column)} = ${value}`);
      const { numAffectedRows = 0n } = await sql`
        UPDATE ${sql.table(MODELS[model].table)} SET ${sql.join(changes)} ${conditionOf(model, where)}
      `.execute(db);
      return Number(numAffectedRows);
    },

    async remove(model, where) {
      demandCondition(where);
      const { numAffectedRows = 0n } = await sql`
        DELETE FROM ${sql.table(MODELS[model].table)} ${conditionOf(model, where)}
      `.execute(db);
      return Number(numAffectedRows);
    },
  };
}

type Row = Readonly<Record<string, string | number | null>>;
type Cell = string | number | null;

function fieldOf(model: SignInModel, name: string): Field {
  const field = Object.hasOwn(MODELS[model].fields, name) ? MODELS[model].fields[name] : undefined;
  if (field === undefined) throw new Error(`a ${model} has no field ${name}`);
  return field;
}

function refOf(model: SignInModel, name: string): RawBuilder<unknown> {
  return sql.ref(fieldOf(model, name)[0]);
}

function columnsOf(model: SignInModel): RawBuilder<unknown> {
  return sql.join(Object.keys(MODELS[model].fields).map((name) => refOf(model, name)));
}

function cellOf(model: SignInModel, name: string, value: SignInValue): { column: string; value: Cell } {
  const [column, kind] = fieldOf(model, name);
  return { column, value: stored(kind, value) };
}

/** Throws for what a field of a kind cannot hold. */
function stored(kind: Kind, value: SignInValue): Cell {
  if (value === null) return null;
  if (kind === "TEXT" && typeof value === "string") return value;
  if (kind === "TRUTH" && typeof value === "boolean") return value ? 1 : 0;
  const time = value instanceof Date ? value.getTime() : value;
  if (kind === "TIME" && typeof time === "number" && Number.isSafeInteger(time)) return time;
  throw new Error(`a field for ${kind} cannot hold a ${typeof value}`);
}

function recordOfRow(model: SignInModel, row: Row): SignInRecord {
  return Object.fromEntries(
    Object.entries(MODELS[model].fields).map(([name, [column, kind]]) => [
      name,
      revived(kind, row[column] ?? null),
    ]),
  );
}

function revived(kind: Kind, cell: Cell): SignInValue {
  if (cell === null) return null;
  switch (kind) {
    case "TEXT":
      return String(cell);
    case "TIME":
      return new Date(Number(cell));
    case "TRUTH":
      return Number(cell) === 1;
  }
}

/** Without a condition a change would be of every record there is. */
function demandCondition(where: readonly SignInCondition[]): void {
  if (where.length === 0) throw new Error("a change of records says which");
}

/** All of those with AND must hold, and of those with OR, if there are any, one. */
function conditionOf(model: SignInModel, where: readonly SignInCondition[]): RawBuilder<unknown> {
  const joined = (connector: SignInCondition["connector"]) =>
    where.filter((each) => each.connector === connector).map((each) => comparison(model, each));
  const all = joined("AND");
  const some = joined("OR");
  if (some.length > 0) all.push(sql`(${sql.join(some, sql` OR `)})`);
  return all.length === 0 ? sql`` : sql`WHERE ${sql.join(all, sql` AND `)}`;
}

const NEVER = sql`1 = 0`;
const ALWAYS = sql`1 = 1`;

const COMPARED = {
  eq: sql`=`,
  ne: sql`<>`,
  lt: sql`<`,
  lte: sql`<=`,
  gt: sql`>`,
  gte: sql`>=`,
} as const;

function comparison(model: SignInModel, { field, operator, value }: SignInCondition): RawBuilder<unknown> {
  const [name, kind] = fieldOf(model, field);
  const column = sql.ref(name);
  if (operator === "in" || operator === "not_in") {
    const listed = (isList(value) ? value : [value]).map((each) => stored(kind, each)).filter(canBeAsked);
    if (listed.length === 0) return operator === "in" ? NEVER : ALWAYS;
    return operator === "in"
      ? sql`${column} IN (${sql.join(listed)})`
      : sql`${column} NOT IN (${sql.join(listed)})`;
  }
  if (isList(value)) throw new Error(`${operator} compares with one value`);
  const asked = stored(kind, value);
  if (asked === null) {
    if (operator === "eq") return sql`${column} IS NULL`;
    return operator === "ne" ? sql`${column} IS NOT NULL` : NEVER;
  }
  if (!canBeAsked(asked)) return operator === "ne" ? ALWAYS : NEVER;
  switch (operator) {
    case "contains":
      return isLike(column, `%${escaped(asked)}%`);
    case "starts_with":
      return isLike(column, `${escaped(asked)}%`);
    case "ends_with":
      return isLike(column, `%${escaped(asked)}`);
    default:
      return sql`${column} ${COMPARED[operator]} ${asked}`;
  }
}

function isList(value: SignInCondition["value"]): value is readonly string[] | readonly number[] {
  return Array.isArray(value);
}

function canBeAsked(cell: Cell): boolean {
  return typeof cell !== "string" || areTexts(cell);
}
