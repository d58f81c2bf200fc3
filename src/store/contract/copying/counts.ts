// Counts of what was copied, skipped and failed: kept beside the logs, and always what counting the logs
// would give.
import { beforeEach, describe, expect, test } from "vitest";
import type { MirrorEntry, MirrorKind, MirrorStatus } from "../../../domain/copying.ts";
import type { CopyProgress, EntryCount } from "../../ports/copies.ts";
import { upTo } from "../records.ts";
import type { Opened } from "../store-under-test.ts";
import { COPIED_AT, copiedByThree, entryOf, HOLDER, progressOf, skippedOf } from "./records.ts";

const DAY_MS = 86_400_000;
/** The beginning of the day of `COPIED_AT`. */
const TODAY = COPIED_AT - (COPIED_AT % DAY_MS);
const NOT_COUNTED: readonly MirrorKind[] = [
  "CANCEL",
  "CANCEL_LEG",
  "SET_LEVERAGE",
  "WITHDRAW",
  "WRITE_OFF",
  "PROFIT_SHARE",
];
const ROUNDS = 60;

export function copyingCountCases(opened: Opened): void {
  describe("the counts of what was copied", () => {
    const { store, copying } = opened;
    const ann = "ann-one";
    const bob = "bob-one";
    const cat = "cat-two";
    beforeEach(async () => {
      await copiedByThree(store);
    });

    const record = (strategyId: string, ...progress: readonly CopyProgress[]) =>
      copying.recordProgress(strategyId, HOLDER, progress);
    const write = (copyId: string, ...entries: readonly MirrorEntry[]) =>
      record(copyId === cat ? "two" : "one", progressOf(copyId, 1, { entries }));
    const filled = (count: number) => ({ status: "FILLED", skipReason: null, count });
    const skipped = (count: number) => ({ status: "SKIPPED", skipReason: "BELOW_MIN_QUANTITY", count });

    test("are by status and reason, of a copy, and of all copies since a day, but for what orders nothing", async () => {
      const yesterday = { leadAt: TODAY - 1 };
      await write(
        ann,
        entryOf(ann, 1, yesterday),
        entryOf(ann, 2, { leadAt: TODAY }),
        skippedOf(ann, 3),
        ...NOT_COUNTED.map((kind, index) => entryOf(ann, index + 10, { kind })),
      );
      await write(bob, skippedOf(bob, 5));
      await write(cat, entryOf(cat, 5));
      expect(await copying.countEntries(ann)).toEqual([filled(2), skipped(1)]);
      expect(await copying.countEntries(bob)).toEqual([skipped(1)]);
      expect(await copying.countEntriesSince({ strategyId: "one" }, TODAY - DAY_MS)).toEqual([
        filled(2),
        skipped(2),
      ]);
      // The whole day counts of which it is asked.
      for (const since of [TODAY, COPIED_AT, TODAY + DAY_MS - 1]) {
        expect(await copying.countEntriesSince({ strategyId: "one" }, since)).toEqual([
          filled(1),
          skipped(2),
        ]);
        expect(await copying.countEntriesSince({ everybody: true }, since)).toEqual([filled(2), skipped(2)]);
      }
      expect(await copying.countEntriesSince({ everybody: true }, TODAY + DAY_MS)).toEqual([]);
      expect(await copying.countEntries("ghost")).toEqual([]);
      expect(await copying.countEntriesSince({ strategyId: "ghost" }, 0)).toEqual([]);
    });

    test("follow an entry that changes, wherever it was counted before", async () => {
      const rests = entryOf(ann, 1, { status: "RESTING" });
      await write(ann, rests);
      expect(await copying.countEntries(ann)).toEqual([{ ...filled(1), status: "RESTING" }]);
      await write(ann, entryOf(ann, 1));
      expect(await copying.countEntries(ann)).toEqual([filled(1)]);
      await write(ann, skippedOf(ann, 1, { leadAt: TODAY - 1 }));
      expect(await copying.countEntries(ann)).toEqual([skipped(1)]);
      expect(await copying.countEntriesSince({ everybody: true }, TODAY)).toEqual([]);
      expect(await copying.countEntriesSince({ everybody: true }, TODAY - 1)).toEqual([skipped(1)]);
      await write(ann, entryOf(ann, 1, { kind: "CANCEL" }));
      expect(await copying.countEntries(ann)).toEqual([]);
      expect(await copying.countEntriesSince({ everybody: true }, 0)).toEqual([]);
    });

    test("are right where progress is given many times at once, as after an outcome that was lost", async () => {
      for (const round of upTo(20)) {
        const statuses: readonly MirrorStatus[] = ["RESTING", "FILLED"];
        for (const status of statuses) {
          const progress = [ann, bob].map((copyId) =>
            progressOf(copyId, round, { entries: [entryOf(copyId, round, { status })] }),
          );
          const given = await Promise.all(upTo(3).map(() => record("one", ...progress)));
          expect(given).toEqual([true, true, true]);
        }
        expect(await copying.countEntries(ann)).toEqual([filled(round)]);
        expect(await copying.countEntriesSince({ strategyId: "one" }, 0)).toEqual([filled(2 * round)]);
      }
    });

    test("are what counting the logs gives, whatever is written", async () => {
      const seed = Math.floor(Math.random() * 2 ** 31);
      const choose = chooser(seed);
      const kinds: readonly MirrorKind[] = ["PLACE", "PLACE_LEG", "FIRE_LEG", "CLOSE", ...NOT_COUNTED];
      const statuses: readonly MirrorStatus[] = ["RESTING", "FILLED", "CANCELED", "EXPIRED", "DONE"];
      const anyEntry = (copyId: string, entryId: number): MirrorEntry => {
        const terms = { kind: choose(kinds), leadAt: TODAY + choose([-2, -1, 0, 1]) * DAY_MS };
        if (choose([true, false, false])) {
          const { skip, ...rest } = skippedOf(copyId, entryId, terms);
          if (skip === null) throw new Error("what is skipped says why");
          const reason = choose(["BELOW_MIN_NOTIONAL", "PAUSED", "HALTED"] as const);
          return { ...rest, status: choose(["SKIPPED", "FAILED"] as const), skip: { ...skip, reason } };
        }
        return entryOf(copyId, entryId, { ...terms, status: choose(statuses) });
      };
      for (const round of upTo(ROUNDS)) {
        const copyIds = choose([[ann], [bob], [ann, bob], [cat]]);
        const progress = copyIds.map((copyId) => {
          const ids = new Set(upTo(choose([0, 1, 2, 5])).map(() => choose(upTo(30))));
          return progressOf(copyId, round, { entries: [...ids].map((id) => anyEntry(copyId, id)) });
        });
        const strategyId = copyIds.includes(cat) ? "two" : "one";
        expect(await record(strategyId, ...progress)).toBe(true);
        if (choose([true, false])) expect(await record(strategyId, ...progress)).toBe(true);
      }
      const logs = new Map<string, readonly MirrorEntry[]>();
      for (const copyId of [ann, bob, cat]) {
        logs.set(copyId, await copying.listMirrorEntries(copyId, { limit: 99 }));
        expect(await copying.countEntries(copyId), `seed ${seed}`).toEqual(counted(logs.get(copyId) ?? []));
      }
      const all = [...logs.values()].flat();
      for (const since of upTo(6).map((day) => TODAY + (day - 4) * DAY_MS)) {
        const late = (copyIds: readonly string[]) =>
          counted(all.filter((each) => copyIds.includes(each.copyId) && each.leadAt >= since));
        const ofOne = await copying.countEntriesSince({ strategyId: "one" }, since);
        expect(ofOne, `seed ${seed}`).toEqual(late([ann, bob]));
        const ofAll = await copying.countEntriesSince({ everybody: true }, since);
        expect(ofAll, `seed ${seed}`).toEqual(late([ann, bob, cat]));
      }
    });
  });
}

/** Counts entries one by one. */
function counted(entries: readonly MirrorEntry[]): readonly EntryCount[] {
  const counts = new Map<string, number>();
  for (const { kind, status, skip } of entries) {
    if (NOT_COUNTED.includes(kind)) continue;
    const key = `${status} ${skip?.reason ?? ""}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, count]) => {
      const [status, reason] = key.split(" ");
      return { status, skipReason: reason === "" ? null : reason, count } as EntryCount;
    });
}

/** Chooses at random, always the same for a seed. */
function chooser(seed: number): <Choice>(from: readonly Choice[]) => Choice {
  let state = seed;
  return <Choice>(from: readonly Choice[]) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return from[(state >> 8) % from.length] as Choice;
  };
}
