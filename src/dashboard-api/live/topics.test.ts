// How many topics are followed, by viewers that read nothing of them.
import { expect, test } from "vitest";
import { createManualTime } from "../../concurrency/testing/manual-time.ts";
import type { Topic } from "../schemas/live.ts";
import { TOPICS_MAX, TOPICS_OF_ALL_MAX, TOPICS_PER_PERSON_MAX } from "./limits.ts";
import { Topics } from "./topics.ts";
import type { Viewer } from "./viewers.ts";

function following() {
  let count = 0;
  const topics = new Topics({
    wallClock: createManualTime(0),
    follow() {
      count += 1;
      return () => {
        count -= 1;
      };
    },
  });
  return { topics, count: () => count };
}

/** A window of a person. */
function windowOf(personId: string): Viewer {
  return { personId } as Viewer;
}

function topic(symbol: string): Topic {
  return { kind: "prices", family: "SPOT", symbol };
}

/**
 * Follows topics of a person's own in as many windows as it takes, until one is refused; answers the bound.
 */
function fill(topics: Topics, personId: string) {
  const windows: Viewer[] = [];
  for (let index = 0; index <= TOPICS_OF_ALL_MAX; index += 1) {
    if (index % TOPICS_MAX === 0) windows.push(windowOf(personId));
    const last = windows.at(-1);
    if (last === undefined) throw new Error("a window was opened");
    const bound = topics.follow(last, topic(`${personId}-${index}`));
    if (bound !== null) return { bound, windows };
  }
  throw new Error("nothing was refused");
}

test("no two people can follow all that a server may, and no window all that its person may", () => {
  const { topics, count } = following();
  for (const personId of ["ada", "bert"]) expect(fill(topics, personId).bound).toBe("TOPICS_PER_PERSON_MAX");
  expect(count()).toBe(2 * TOPICS_PER_PERSON_MAX);
  const cleo = windowOf("cleo");
  for (let index = 0; index < TOPICS_MAX; index += 1)
    expect(topics.follow(cleo, topic(`C${index}`))).toBeNull();
  expect(topics.follow(cleo, topic("C"))).toBe("TOPICS_MAX");
});

test("a server that is full says so; what it follows anyway may be followed by others", () => {
  const { topics, count } = following();
  let people = 0;
  for (let bound = ""; bound !== "TOPICS_OF_ALL_MAX"; people += 1) ({ bound } = fill(topics, `${people}`));
  expect(count()).toBe(TOPICS_OF_ALL_MAX);
  expect(topics.follow(windowOf("late"), topic("0-0"))).toBeNull();
});

test("what is unfollowed or left makes room again, in the last window only", () => {
  const { topics, count } = following();
  const { windows } = fill(topics, "ada");
  const further = windowOf("ada");
  expect(topics.follow(further, topic("ada-0"))).toBeNull();
  topics.unfollow(further, topic("ada-0"));
  topics.unfollow(further, topic("ada-0"));
  expect(topics.follow(further, topic("another"))).toBe("TOPICS_PER_PERSON_MAX");
  for (const each of windows) topics.drop(each);
  expect(count()).toBe(0);
  expect(fill(topics, "ada").bound).toBe("TOPICS_PER_PERSON_MAX");
  expect(count()).toBe(TOPICS_PER_PERSON_MAX);
});
