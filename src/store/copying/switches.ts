// Kill switches: what stops all sending of a copier, of a strategy or to a venue.
import type { Kysely, Selectable } from "kysely";
import type { KillSwitch, SwitchKind } from "../../domain/copying.ts";
import { auditedIf } from "../people/audit.ts";
import type { Tables } from "../schema.ts";
import type { CopyStore } from "../store.ts";
import { type Concerned, noteChange } from "./revisions.ts";

const KEEPS = { takesOver: false };
const ANYBODYS = { setBy: null };

export function switchQueries(db: Kysely<Tables>) {
  return {
    async setSwitch({ kind, id, reason, setBy, setAt }, audit, { takesOver } = KEEPS) {
      return await auditedIf(db, [audit], async (transaction) => {
        const set = await transaction
          .insertInto("kill_switches")
          .values({ kind, id, reason, set_by: setBy, set_at: setAt })
          .onConflict((conflict) => {
            const isSet = conflict.columns(["kind", "id"]);
            if (!takesOver) return isSet.doNothing();
            return isSet
              .doUpdateSet({ reason, set_by: setBy, set_at: setAt })
              .where("kill_switches.set_by", "<>", setBy);
          })
          .returning("id")
          .executeTakeFirst();
        if (set === undefined) return false;
        await noteChange(transaction, concernedBy(kind, id));
        return true;
      });
    },

    async clearSwitch(kind, id, audit, { setBy } = ANYBODYS) {
      return await auditedIf(db, [audit], async (transaction) => {
        const cleared = transaction.deleteFrom("kill_switches").where("kind", "=", kind).where("id", "=", id);
        const { numDeletedRows } = await (setBy === null
          ? cleared
          : cleared.where("set_by", "=", setBy)
        ).executeTakeFirst();
        if (numDeletedRows === 0n) return false;
        await noteChange(transaction, concernedBy(kind, id));
        return true;
      });
    },

    async listSwitches() {
      const rows = await db.selectFrom("kill_switches").selectAll().orderBy("set_at").orderBy("id").execute();
      return rows.map(switchOfRow);
    },
  } satisfies Partial<CopyStore>;
}

function concernedBy(kind: SwitchKind, id: string): Concerned {
  switch (kind) {
    case "COPIER":
      return { personId: id };
    case "STRATEGY":
      return { strategyId: id };
    case "VENUE":
      return { venue: id };
  }
}

function switchOfRow(row: Selectable<Tables["kill_switches"]>): KillSwitch {
  const { kind, id, reason, set_by, set_at } = row;
  return { kind, id, reason, setBy: set_by, setAt: set_at };
}
