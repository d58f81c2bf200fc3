// axe-core's findings on a rendered page, and whether the page fits its window.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { eventually } from "../support/eventually.ts";

type Rules = "all" | "colours";

/** Which of its rules axe-core is to run; of all of them, those about colors. */
const RUN_ONLY: Readonly<Record<Rules, object>> = {
  all: {},
  colours: { runOnly: ["color-contrast", "link-in-text-block"] },
};

const require = createRequire(import.meta.url);
/** The minified file, half as long, since each page loads it again. */
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/**
 * Resolves when the page has a theme's colors: it switches after a moment, with a transition. Changing
 * figures cause transitions again and again: only those in progress at that moment are awaited.
 */
export async function inColours(page: Page, colorScheme: "dark" | "light"): Promise<void> {
  const isDark = colorScheme === "dark";
  await eventually(`the page is ${colorScheme}`, () =>
    page.evaluate(`document.documentElement.classList.contains("dark") === ${isDark}`),
  );
  await page.evaluate(`Promise.allSettled(document.getAnimations()
    .filter((each) => each instanceof CSSTransition).map((each) => each.finished))`);
}

/** What axe-core objects to: the rule, and the elements. */
export async function objectionsTo(page: Page, rules: Rules): Promise<readonly string[]> {
  // Evaluated from outside the page, so that its content policy stays in force.
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(AXE);
  const options = JSON.stringify({ resultTypes: ["violations"], ...RUN_ONLY[rules] });
  return await page.evaluate(`axe.run(document, ${options}).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html, failureSummary }) =>
      html.slice(0, 200) + " (" + failureSummary.replace(/\\s+/g, " ").slice(0, 200) + ")").join("; ")))`);
}

/** By how many pixels the page is wider than the window. */
export async function overflowOf(page: Page): Promise<number> {
  return await page.evaluate("Math.max(0, document.documentElement.scrollWidth - window.innerWidth)");
}
