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
            // What an operator has set stays, and this comes back when it is cleared.
            if (!takesOver)
              return isSet
                .doUpdateSet({ own_reason: reason, own_set_by: setBy, own_set_at: setAt })
                .where("kill_switches.set_by", "<>", setBy)
                .where(({ eb, or }) =>
                  or([
                    eb("kill_switches.own_set_by", "is", null),
                    eb("kill_switches.own_set_by", "<>", setBy),
                  ]),
                );
            return isSet
              .doUpdateSet(({ fn, ref }) => ({
                ...{ reason, set_by: setBy, set_at: setAt },
                own_reason: fn.coalesce("kill_switches.own_reason", ref("kill_switches.reason")),
                own_set_by: fn.coalesce("kill_switches.own_set_by", ref("kill_switches.set_by")),
                own_set_at: fn.coalesce("kill_switches.own_set_at", ref("kill_switches.set_at")),
              }))
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
        const set = await transaction
          .selectFrom("kill_switches")
          .selectAll()
          .where("kind", "=", kind)
          .where("id", "=", id)
          .$if(setBy !== null, (query) => query.where("set_by", "=", setBy ?? ""))
          .executeTakeFirst();
        if (set === undefined) return false;
        await transaction.deleteFrom("kill_switches").where("kind", "=", kind).where("id", "=", id).execute();
        const { own_reason, own_set_by, own_set_at } = set;
        if (own_reason !== null && own_set_by !== null && own_set_at !== null) {
          await transaction
            .insertInto("kill_switches")
            .values({ kind, id, reason: own_reason, set_by: own_set_by, set_at: own_set_at })
            .execute();
        }
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
