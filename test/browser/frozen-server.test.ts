// What a browser shows while its server is frozen or gone: a real server in a process of its own, which is
// stopped and continued. The test controls the browser's clock, so that it need not wait for five seconds.
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { inColours, objectionsTo, overflowOf } from "./axe.ts";
import { isBrowserAbsent, SKIPPED_WITHOUT_BROWSER } from "./browser.ts";
import type { BrowserClient } from "./browser-client.ts";
import { Fixture } from "./fixture.ts";
import { DESKTOP, PHONE } from "./screens.ts";

const isAbsent = await isBrowserAbsent();

describe.skipIf(isAbsent)(`a frozen server${isAbsent ? SKIPPED_WITHOUT_BROWSER : ""}`, () => {
  let fixture: Fixture;
  let trader: BrowserClient;
  let page: Page;

  beforeAll(async () => {
    fixture = await Fixture.open();
    trader = await fixture.visit();
    await trader.call("POST", "/session", fixture.demoTrader());
    const { rows } = await trader.call("GET", "/strategies");
    page = trader.page;
    await page.clock.install();
    await page.goto(`/strategies/${rows[0].strategyId}/orders`);
    await live(page).waitFor();
  });
  afterEach(() => {
    fixture?.gateway.process.kill("SIGCONT");
    expect(fixture?.faults()).toEqual([]);
  });
  afterAll(async () => await fixture?.close());

  test("is said at the top of the page, with the figures gray, until it sends again", async () => {
    const fresh = await colorOfEquity(page);
    expect(fresh).not.toBe(await softInk(page));

    fixture.gateway.process.kill("SIGSTOP");
    await untilSilent(page, 6_000);
    const band = page.getByText(
      /^No data since \d\d:\d\d:\d\d UTC \(\d+ s\)\. The server does not answer\.$/,
    );
    await band.waitFor();
    expect(await colorOfEquity(page)).toBe(await softInk(page));
    expect(await live(page).count()).toBe(0);
    await page.getByRole("contentinfo").getByText("no answer").waitFor();
    for (const size of [PHONE, DESKTOP]) {
      await page.setViewportSize(size);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        await inColours(page, colorScheme);
        expect(await overflowOf(page), `${colorScheme}, ${size.width} px`).toBe(0);
        expect(await objectionsTo(page, "all"), `${colorScheme}, ${size.width} px`).toEqual([]);
      }
    }

    fixture.gateway.process.kill("SIGCONT");
    await silent(page).waitFor({ state: "detached" });
    await live(page).waitFor();
    expect(await colorOfEquity(page)).toBe(fresh);
  });

  test("that stays silent is connected to again, and what it shows is live again", async () => {
    fixture.gateway.process.kill("SIGSTOP");
    await untilSilent(page, 6_000);
    await page.clock.fastForward(15_000);
    await page.getByText("The server does not answer. Reconnecting …").waitFor();
    await page.getByRole("contentinfo").getByText("reconnecting").waitFor();

    fixture.gateway.process.kill("SIGCONT");
    await silent(page).waitFor({ state: "detached" });
    await live(page).waitFor();
  });
});

/** The text of the status line while the page is live. */
function live(page: Page) {
  return page.getByRole("contentinfo").getByText("● live", { exact: true });
}

function silent(page: Page) {
  return page.getByText(/^No data since/).first();
}

/** The browser may still have messages to read that were sent before the server was stopped. */
async function untilSilent(page: Page, stepMs: number): Promise<void> {
  await eventually("the page says that nothing comes in", async () => {
    await page.clock.fastForward(stepMs);
    return (await silent(page).count()) > 0;
  });
}

async function colorOfEquity(page: Page): Promise<string> {
  const label = `[...document.querySelectorAll("dt")].find(({ textContent }) => textContent === "Equity")`;
  return await page.evaluate(`getComputedStyle(${label}.nextElementSibling).color`);
}

async function softInk(page: Page): Promise<string> {
  return await page.evaluate(`getComputedStyle(document.querySelector("footer")).color`);
}
