// A lane by itself: what it does when all waiting is over.
import { expect, test } from "vitest";
import { copyOf } from "../../store/contract/copying-records.ts";
import { Lane, type LaneParts } from "./lane.ts";
import { Pauses } from "./pauses.ts";

/** More than a lane may ask whether it may run before it has let go. */
const ASKED_MAX = 10;

test("a lane that may not run lets go when all waiting is ended, also if nobody has ended the lane", async () => {
  const pauses = new Pauses(() => () => {});
  let asked = 0;
  const mayRun = () => {
    asked += 1;
    if (asked > ASKED_MAX) lane.end();
    return false;
  };
  // It never comes to anything but to ask whether it may run.
  const parts = { pauses, mayRun, wallNow: () => 0, takenAt: 0 } as Partial<LaneParts> as LaneParts;
  const copy = { ...copyOf("ann", "one"), fromVersion: 0, doneSeq: 0, revision: 0 };
  const lane: Lane = new Lane(parts, copy, { resting: [], mayHaveSent: false });
  lane.wake();
  pauses.end();
  lane.wake();
  await lane.settled();
  expect(asked).toBeLessThan(ASKED_MAX);
});
