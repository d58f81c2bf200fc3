// No screen has anything that axe-core objects to: on a desktop and on a phone, dark and light. A theme changes colours and nothing
// else, so that what does not concern them is looked at in one.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { inColours, objectionsTo, overflowOf } from "./axe.ts";
import { isBrowserAbsent, SKIPPED_WITHOUT_BROWSER } from "./browser.ts";
import { furnish, type Household } from "./household.ts";
import { DESKTOP, PHONE, SCREENS, show } from "./screens.ts";
import { Stage } from "./stage.ts";

const LOOKS = [
  { size: DESKTOP, colorScheme: "dark", rules: "all" },
  { size: DESKTOP, colorScheme: "light", rules: "colours" },
  { size: PHONE, colorScheme: "dark", rules: "all" },
  { size: PHONE, colorScheme: "light", rules: "colours" },
] as const;

const isAbsent = await isBrowserAbsent();

describe.skipIf(isAbsent)(`every screen${isAbsent ? SKIPPED_WITHOUT_BROWSER : ""}`, () => {
  let stage: Stage;
  let household: Household;
  beforeAll(async () => {
    stage = await Stage.open({ hasVenue: true });
    household = await furnish(stage);
  }, 180_000);
  afterAll(async () => await stage?.close());

  test.each(SCREENS)(
    "$name",
    async (screen) => {
      const page = await show(household, screen);
      for (const { size, colorScheme, rules } of LOOKS) {
        const look = `${screen.name}, ${colorScheme}, ${size.width} px`;
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(size);
        await inColours(page, colorScheme);
        expect(await overflowOf(page), `${look}: scrolls sideways`).toBe(0);
        expect(await objectionsTo(page, rules), look).toEqual([]);
      }
      await page.setViewportSize(DESKTOP);
      expect(stage.faults(), screen.name).toEqual([]);
    },
    120_000,
  );
});
