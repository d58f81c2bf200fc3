// No screen has anything that axe-core objects to: on a desktop and on a phone, dark and light. A theme changes colours and nothing
// else, so that what does not concern them is looked at in one.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
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
type Rules = (typeof LOOKS)[number]["rules"];

/** Which of its rules axe-core is to run; of all of them, those about colours. */
const RUN_ONLY: Readonly<Record<Rules, object>> = {
  all: {},
  colours: { runOnly: ["color-contrast", "link-in-text-block"] },
};

const require = createRequire(import.meta.url);
/** Half as long as the one that people read: it is given to each page anew. */
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

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

/** Resolves when the page has a theme's colours: it hears of it after a moment, and fades from one to the other. */
async function inColours(page: Page, colorScheme: "dark" | "light"): Promise<void> {
  const isDark = colorScheme === "dark";
  await eventually(`the page is ${colorScheme}`, () =>
    page.evaluate(`document.documentElement.classList.contains("dark") === ${isDark} &&
      !document.getAnimations().some((each) => each instanceof CSSTransition)`),
  );
}

/** What axe-core objects to: the rule, and the elements. */
async function objectionsTo(page: Page, rules: Rules): Promise<readonly string[]> {
  // Told to the page from outside, so that its content policy is in force as ever.
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(AXE);
  const options = JSON.stringify({ resultTypes: ["violations"], ...RUN_ONLY[rules] });
  return await page.evaluate(`axe.run(document, ${options}).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html, failureSummary }) =>
      html.slice(0, 200) + " (" + failureSummary.replace(/\\s+/g, " ").slice(0, 200) + ")").join("; ")))`);
}

/** By how many pixels the page is wider than the window. */
async function overflowOf(page: Page): Promise<number> {
  return await page.evaluate("Math.max(0, document.documentElement.scrollWidth - window.innerWidth)");
}
