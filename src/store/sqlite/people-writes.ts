// What the writing thread notes about people. Whoever calls has a transaction open.
import type { DatabaseSync } from "node:sqlite";
import type { FailedSignIn } from "../people/failed-sign-ins.ts";
import type { KeyUse } from "../people-store.ts";

export function peopleWrites(database: DatabaseSync) {
  const addFailure = database.prepare("INSERT INTO failed_sign_ins (holder, at) VALUES (?, ?)");
  const forgetFailures = database.prepare("DELETE FROM failed_sign_ins WHERE at < ?");
  const putUse = database.prepare(
    `INSERT INTO key_uses (key_id, at, address, route) VALUES (?, ?, ?, ?)
     ON CONFLICT (key_id) DO UPDATE SET at = excluded.at, address = excluded.address, route = excluded.route
     WHERE excluded.at > key_uses.at`,
  );
  return {
    noteFailure({ holder, at, forgetBefore }: FailedSignIn): void {
      addFailure.run(holder, at);
      forgetFailures.run(forgetBefore);
    },

    noteUse({ keyId, at, address, route }: KeyUse): void {
      putUse.run(keyId, at, address, route);
    },
  };
}
