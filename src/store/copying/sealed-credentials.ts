// Sealed credentials, stored so that they can be destroyed. A database that moves a row leaves what it was
// where it was; rows of this table never move: each is added at the end, none is removed, and one that is
// destroyed is overwritten by as many blanks. What is replaced is destroyed, and its successor a new row.
//
// A database has copies beside that, which each store sees to in its own way: the embedded one empties its
// log afterwards.
import type { Kysely, Transaction } from "kysely";
import type { Tables } from "../schema.ts";

/** Keeps a sealed text; answers the row that an account names as its credentials. */
export async function keepSealed(transaction: Transaction<Tables>, sealed: string): Promise<number> {
  const { position } = await transaction
    .insertInto("venue_credentials")
    .values({ sealed })
    .returning("position")
    .executeTakeFirstOrThrow();
  return position;
}

/** Overwrites what is there; nothing for an account that has none. */
export async function destroySealed(
  transaction: Transaction<Tables>,
  position: number | null,
): Promise<void> {
  if (position === null) return;
  const row = await transaction
    .selectFrom("venue_credentials")
    .select("sealed")
    .where("position", "=", position)
    .executeTakeFirst();
  if (row === undefined) return;
  // Of the same length it takes the same place.
  const blank = " ".repeat(Buffer.byteLength(row.sealed));
  await transaction
    .updateTable("venue_credentials")
    .set({ sealed: blank })
    .where("position", "=", position)
    .execute();
}

/** Where the credentials of an account are; null of one that has none. */
export async function positionOf(db: Kysely<Tables>, accountId: string): Promise<number | null> {
  const row = await db
    .selectFrom("venue_accounts")
    .select("credentials")
    .where("id", "=", accountId)
    .executeTakeFirst();
  return row?.credentials ?? null;
}
