// When what is new is refused, by the free space that a test says, and what the log says of it.
import { expect, test } from "vitest";
import { DiskSpace, RESUME_PERCENT } from "./disk-space.ts";

const TOTAL_BYTES = 1_000_000_000;
const FREE_PERCENT_MIN = 5;

function createFixture(freePercentMin = FREE_PERCENT_MIN) {
  let freePercent = 100;
  let isBroken = false;
  const lines: string[] = [];
  const say = (_fields: object, message: string) => void lines.push(message);
  const space = new DiskSpace({
    async disk() {
      if (isBroken) throw new Error("no such disk");
      return { freeBytes: (TOTAL_BYTES * freePercent) / 100, totalBytes: TOTAL_BYTES };
    },
    databaseBytes: async () => 4_096,
    freePercentMin,
    every: () => () => {},
    log: { warn: say, error: say, info: say } as never,
  });
  return {
    space,
    lines,
    async at(percent: number) {
      freePercent = percent;
      await space.measure();
      return space.isShort();
    },
    break: () => {
      isBroken = true;
    },
  };
}

test("what is new is refused below the bound, and again taken only well above it", async () => {
  const { space, lines, at } = createFixture();
  await space.open();
  expect(space.databaseBytes).toBe(4_096);
  expect(await at(50)).toBe(false);
  expect(await at(9)).toBe(false);
  expect(lines).toEqual(["the disk is getting full"]);
  expect(await at(5)).toBe(false);
  expect(await at(4.9)).toBe(true);
  expect(lines.at(-1)).toMatch(/^the disk is nearly full/);
  // It would come and go with every file that is removed and written.
  expect(await at(FREE_PERCENT_MIN + RESUME_PERCENT - 0.1)).toBe(true);
  expect(await at(FREE_PERCENT_MIN + RESUME_PERCENT)).toBe(false);
  expect(lines.at(-1)).toMatch(/^the disk has space again/);
  expect(lines).toHaveLength(3);
});

test("a disk that cannot be measured leaves it as it was", async () => {
  const { space, at, ...fixtureOf } = createFixture();
  expect(await at(1)).toBe(true);
  fixtureOf.break();
  expect(await at(90)).toBe(true);
  expect(space.figures?.freeBytes).toBe(TOTAL_BYTES / 100);
});

test("with a bound of nothing, nothing is refused", async () => {
  expect(await createFixture(0).at(0)).toBe(false);
});
