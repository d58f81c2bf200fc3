// No screen has anything that axe-core objects to: on a desktop and on a phone, dark and light. A theme
// changes colors and nothing else, so that other rules run in one theme. Names are as long as they may be,
// and make no screen wider; what bars and texts say is so.
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { changeRows } from "../support/servers/database.ts";
import { inColours, objectionsTo, overflowOf } from "./axe.ts";
import { isBrowserAbsent, SKIPPED_WITHOUT_BROWSER } from "./browser.ts";
import { Fixture } from "./fixture.ts";
import type { Screen } from "./screen.ts";
import { DESKTOP, PHONE, SCREENS, show } from "./screens.ts";
import { furnish, type World } from "./world.ts";

const LOOKS = [
  { size: DESKTOP, colorScheme: "dark", rules: "all" },
  { size: DESKTOP, colorScheme: "light", rules: "colours" },
  { size: PHONE, colorScheme: "dark", rules: "all" },
  { size: PHONE, colorScheme: "light", rules: "colours" },
] as const;
/** As long as a strategy's name may be, in the widest letter, without a place to break. */
const LONG_NAME = "W".repeat(60);
/** Screens that open something by the name that it has without this. */
const OPENED_BY_NAME: ReadonlySet<string> = new Set([
  "switch-profile",
  "copying-check",
  "copying-disconnect",
]);

const isAbsent = await isBrowserAbsent();

describe.skipIf(isAbsent)(`every screen${isAbsent ? SKIPPED_WITHOUT_BROWSER : ""}`, () => {
  let fixture: Fixture;
  let world: World;
  beforeAll(async () => {
    fixture = await Fixture.open({ hasVenue: true });
    world = await furnish(fixture);
  }, 180_000);
  afterAll(async () => await fixture?.close());

  test.each(SCREENS.filter(isOpenedByName))(
    "$name",
    async (screen) => {
      await expectNoObjection(screen);
    },
    120_000,
  );

  test("a bar shows the share that its figures say", async () => {
    const overview = await show(world, screenNamed("copy-overview"));
    const reasons = (await barsOf(overview)).filter(({ text }) => /^\d+ of \d+$/.test(text));
    expect(reasons.length).toBeGreaterThan(0);
    for (const { filled, text } of reasons) {
      const [count = 0, total = 1] = text.split(" of ").map(Number);
      expect(filled, text).toBe(Math.round((100 * count) / total));
    }
    // Bought with a fifth of its value: far from liquidation.
    const positions = await show(world, screenNamed("futures-positions"));
    const margin = (await barsOf(positions)).find(({ name }) => name === "Margin ratio");
    expect(margin?.filled).toBe(Math.round(Number.parseFloat(margin?.text ?? "")));
    expect(margin?.filled).toBeLessThan(20);
  }, 120_000);

  test("texts say which market the server runs", async () => {
    const { page } = world.clients.starter;
    const sessions = "**/dashboard/api/session";
    await page.route(sessions, async (route) => {
      const response = await route.fetch();
      const session = await response.json();
      await route.fulfill({ response, json: { ...session, server: { ...session.server, market: "tape" } } });
    });
    await show(world, screenNamed("copying-strategies"));
    await page.unroute(sessions);
    expect(await page.getByText("at the prices of a recorded market").count()).toBe(1);
    expect(await page.getByText("recorded market", { exact: true }).count()).toBe(1);
    expect(await page.getByText(/simulated market|real market/).count()).toBe(0);
  }, 60_000);

  describe("with names as long as they may be", () => {
    let naming = 0;
    beforeAll(() => rename(fixture.gateway.dataDir));

    test.each(SCREENS.filter((screen) => !isOpenedByName(screen)))(
      "$name",
      async (screen) => {
        const page = await expectNoObjection(screen);
        if ((await page.getByText(LONG_NAME.slice(2)).count()) > 0) naming += 1;
      },
      120_000,
    );

    test("most screens show a strategy, a copy or an account by its name", () => {
      expect(naming).toBeGreaterThan(30);
    });
  });

  async function expectNoObjection(screen: Screen): Promise<Page> {
    const page = await show(world, screen);
    for (const { size, colorScheme, rules } of LOOKS) {
      const look = `${screen.name}, ${colorScheme}, ${size.width} px`;
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(size);
      await inColours(page, colorScheme);
      expect(await overflowOf(page), `${look}: scrolls sideways`).toBe(0);
      expect(await objectionsTo(page, rules), look).toEqual([]);
    }
    await page.setViewportSize(DESKTOP);
    expect(fixture.faults(), screen.name).toEqual([]);
    return page;
  }
});

function isOpenedByName({ name }: Screen): boolean {
  return OPENED_BY_NAME.has(name);
}

function screenNamed(name: string): (typeof SCREENS)[number] {
  const found = SCREENS.find((screen) => screen.name === name);
  if (found === undefined) throw new Error(`there is no screen ${name}`);
  return found;
}

/** The bars of a page: fill in per cent, and text. */
async function barsOf(page: Page): Promise<readonly { name: string; filled: number; text: string }[]> {
  return await page.evaluate(`[...document.querySelectorAll("[role=meter]")].map((meter) => ({
    name: meter.getAttribute("aria-label"),
    filled: Number(meter.getAttribute("aria-valuenow")),
    text: meter.getAttribute("aria-valuetext"),
  }))`);
}

/** Gives everything with a name a long one; strategies of one owner need different ones. */
function rename(dataDir: string): void {
  const name = LONG_NAME.slice(2);
  changeRows(dataDir, "UPDATE strategies SET name = ? || substr(id, -2)", name);
  changeRows(dataDir, "UPDATE people SET name = ?", LONG_NAME);
  changeRows(dataDir, "UPDATE api_keys SET label = ?", LONG_NAME);
  changeRows(dataDir, "UPDATE venue_accounts SET label = ?", LONG_NAME);
}
