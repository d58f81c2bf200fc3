// The outcomes of the signals that were sent: counted in the tables, and compared with their orders.
import { signalKey } from "../src/domain/command.ts";
import { openRows } from "./rows.ts";
import type { Place } from "./stores.ts";

/**
 * How many signals the database of a stopped server holds as EXECUTED. Throws unless its journal has executed
 * as many, and unless every order is that of a placement or of one of them. `placements` is how many orders
 * clients placed themselves.
 */
export async function countSignals(place: Place, placements: number): Promise<number> {
  const rows = openRows(place);
  try {
    const executed = await rows
      .selectFrom("signals")
      .select((select) => select.fn.countAll().as("count"))
      .where("status", "=", "EXECUTED")
      .executeTakeFirstOrThrow();
    const entries = await rows
      .selectFrom("journal")
      .select((select) => select.fn.countAll().as("count"))
      .where("key", "like", signalKey("%"))
      .executeTakeFirstOrThrow();
    const orders = await rows
      .selectFrom("orders")
      .select((select) => select.fn.countAll().as("count"))
      .executeTakeFirstOrThrow();
    const count = Number(executed.count);
    if (count !== Number(entries.count)) {
      throw new Error(`the database holds ${count} executed signals, its journal ${entries.count}`);
    }
    if (Number(orders.count) !== placements + count) {
      throw new Error(`${placements} placements and ${count} executed signals made ${orders.count} orders`);
    }
    return count;
  } finally {
    await rows.destroy();
  }
}
