// What people may ask of venues: so much at once, so much a minute, and never longer than they may be kept
// waiting.
import { expect, test } from "vitest";
import { createManualTime } from "../../concurrency/testing/manual-time.ts";
import type { ErrorCode } from "../errors.ts";
import {
  VENUE_ANSWER_MS_MAX,
  VENUE_QUESTIONS_MAX,
  VENUE_QUESTIONS_OF_PERSON_MAX,
  VENUE_QUESTIONS_PER_MINUTE_MAX,
  VenueQuestions,
} from "./venue-questions.ts";

function asking() {
  const time = createManualTime(0);
  return { time, questions: new VenueQuestions({ wallNow: () => time.now(), after: time.after }) };
}

function codeOf(asked: Promise<unknown>): Promise<ErrorCode | "ANSWERED"> {
  return asked.then(
    () => "ANSWERED",
    (error) => error.code,
  );
}

test("a question is answered, or refused when the venue takes too long, and the work goes on", async () => {
  const { time, questions } = asking();
  expect(await questions.ask("ada", async () => 7)).toBe(7);
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = codeOf(questions.ask("ada", () => promise));
  time.advance(VENUE_ANSWER_MS_MAX);
  expect(await slow).toBe("VENUE_SILENT");
  let isClosed = false;
  const closed = questions.close().then(() => {
    isClosed = true;
  });
  await Promise.resolve();
  expect(isClosed).toBe(false);
  resolve();
  await closed;
});

test("a failure is reported as it is, and leaves room for others", async () => {
  const { questions } = asking();
  for (let each = 0; each < VENUE_QUESTIONS_OF_PERSON_MAX * 2; each += 1) {
    const failing = questions.ask("ada", () => Promise.reject(new Error("odd")));
    await expect(failing).rejects.toThrow("odd");
  }
});

test("a person has few questions under way, also those that were given up, and all people have so many", async () => {
  const { time, questions } = asking();
  const never = new Promise<void>(() => {});
  for (let each = 0; each < VENUE_QUESTIONS_OF_PERSON_MAX; each += 1)
    void codeOf(questions.ask("ada", () => never));
  time.advance(VENUE_ANSWER_MS_MAX);
  expect(await codeOf(questions.ask("ada", async () => {}))).toBe("TOO_MANY_REQUESTS");
  for (let each = VENUE_QUESTIONS_OF_PERSON_MAX; each < VENUE_QUESTIONS_MAX; each += 1) {
    expect(await codeOf(questions.ask(`person ${each}`, async () => {}))).toBe("ANSWERED");
    void codeOf(questions.ask(`person ${each}`, () => never));
  }
  expect(await codeOf(questions.ask("bert", async () => {}))).toBe("BUSY");
});

test("a person asks so much a minute, and others as much", async () => {
  const { time, questions } = asking();
  const ask = (personId: string) => codeOf(questions.ask(personId, async () => {}));
  for (let each = 0; each < VENUE_QUESTIONS_PER_MINUTE_MAX; each += 1)
    expect(await ask("ada")).toBe("ANSWERED");
  expect(await ask("ada")).toBe("TOO_MANY_REQUESTS");
  expect(await ask("bert")).toBe("ANSWERED");
  time.advance(60_000);
  expect(await ask("ada")).toBe("ANSWERED");
});
