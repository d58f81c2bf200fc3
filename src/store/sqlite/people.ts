// People in the embedded store. What is noted often is written by the commit worker, so that the main thread waits for no disk;
// whatever concerns keys ends the snapshot that requests read in, so that the next request sees it.
import type { Kysely } from "kysely";
import { lastUses } from "../people/key-uses.ts";
import { peopleQueries } from "../people/queries.ts";
import type { PeopleStore } from "../people-store.ts";
import type { Tables } from "../schema.ts";
import type { CommitWriter } from "./commit-writer.ts";
import type { HeldKeys } from "./held-keys.ts";
import type { TurnSnapshot } from "./turn-snapshot.ts";

export function sqlitePeople(
  db: Kysely<Tables>,
  { writer, snapshot, keys }: { writer: CommitWriter; snapshot: TurnSnapshot; keys: HeldKeys },
): PeopleStore {
  const shared = peopleQueries(db);
  /** Whoever is told of a change sees it. */
  const seen = async <Answer>(change: Promise<Answer>): Promise<Answer> => {
    const answer = await change;
    snapshot.leave();
    return answer;
  };
  return {
    ...shared,
    createKey: (...created) => seen(shared.createKey(...created)),
    createStrategy: (created, audits) => seen(shared.createStrategy(created, audits)),
    bindKey: (binding, audit) => seen(shared.bindKey(binding, audit)),
    revokeOwnKey: (revoked, audit) => seen(shared.revokeOwnKey(revoked, audit)),
    lockPerson: (personId, at, audit) => seen(shared.lockPerson(personId, at, audit)),
    unlockPerson: (personId, audit) => seen(shared.unlockPerson(personId, audit)),
    closePerson: (closing, audit) => seen(shared.closePerson(closing, audit)),
    async adoptStrategies(ownerId) {
      const adopted = await seen(shared.adoptStrategies(ownerId));
      // The only change of keys that is not audited.
      keys.forget();
      return adopted;
    },
    noteFailedSignIn: (holder, at, { forgetBefore }) => writer.noteFailedSignIn({ holder, at, forgetBefore }),
    noteKeyUses: (uses) => writer.noteKeyUses(lastUses(uses)),
  };
}
