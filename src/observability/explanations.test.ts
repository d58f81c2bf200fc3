import { expect, test } from "vitest";
import { DIAGNOSES_PER_SECOND, DIAGNOSES_PER_SECOND_OF_ALL, DiagnosisRate } from "./explanations.ts";

test("so many of a key are admitted within a second of the clock, and so many of all", () => {
  const rate = new DiagnosisRate();
  const admitted = (key: string, now: number) =>
    Array.from({ length: 50 }, () => rate.admit(key, now)).filter((isAdmitted) => isAdmitted).length;
  expect(admitted("one", 5_000)).toBe(DIAGNOSES_PER_SECOND);
  expect(admitted("one", 5_999)).toBe(0);
  let ofAll = DIAGNOSES_PER_SECOND;
  for (let key = 0; key < 100; key += 1) ofAll += admitted(`key-${key}`, 5_500);
  expect(ofAll).toBe(DIAGNOSES_PER_SECOND_OF_ALL);
  expect(admitted("one", 6_000)).toBe(DIAGNOSES_PER_SECOND);
});
