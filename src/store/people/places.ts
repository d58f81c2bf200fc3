// Lists that go on behind a row: by its time, and by its id among those of the same time, so that none is passed over or told twice.
import { type RawBuilder, sql } from "kysely";
import type { PlaceInList } from "../people-store.ts";

/** The rows that come behind a place, in a list in the order of a time and then of ids, ascending. */
export function isAfter(
  list: { readonly time: string; readonly order: "asc" | "desc"; readonly id: string },
  { at, id }: PlaceInList,
): RawBuilder<boolean> {
  const time = sql.ref(list.time);
  const isFurther = list.order === "asc" ? sql`${time} > ${at}` : sql`${time} < ${at}`;
  return sql<boolean>`(${isFurther} OR (${time} = ${at} AND ${sql.ref(list.id)} > ${id}))`;
}
