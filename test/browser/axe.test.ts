// No screen has anything that axe-core objects to: dark and light, on a desktop and on a phone.
import axe from "axe-core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isBrowserAbsent, SKIPPED_WITHOUT_BROWSER } from "./browser.ts";
import { furnish, type Household } from "./household.ts";
import { DESKTOP, PHONE, SCREENS, show } from "./screens.ts";
import { Stage } from "./stage.ts";

const LOOKS = [
  { colorScheme: "dark", size: DESKTOP },
  { colorScheme: "light", size: DESKTOP },
  { colorScheme: "dark", size: PHONE },
  { colorScheme: "light", size: PHONE },
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
      for (const { colorScheme, size } of LOOKS) {
        const look = `${screen.name}, ${colorScheme}, ${size.width} px`;
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize(size);
        expect(await overflowOf(page), `${look}: scrolls sideways`).toBe(0);
        expect(await objectionsTo(page), look).toEqual([]);
      }
      await page.setViewportSize(DESKTOP);
      expect(stage.faults(), screen.name).toEqual([]);
    },
    120_000,
  );
});

/** What axe-core objects to: the rule, and the elements. */
async function objectionsTo(page: Page): Promise<readonly string[]> {
  // Told to the page from outside, so that its content policy is in force as ever.
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe.source);
  return await page.evaluate(`axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html, failureSummary }) =>
      html.slice(0, 200) + " (" + failureSummary.replace(/\\s+/g, " ").slice(0, 200) + ")").join("; ")))`);
}

/** By how many pixels the page is wider than the window. */
async function overflowOf(page: Page): Promise<number> {
  return await page.evaluate("Math.max(0, document.documentElement.scrollWidth - window.innerWidth)");
}
