// Two servers on one host in one browser, as docs/staging.md and docs/copying.md describe. Browsers keep one
// set of cookies for all ports of a host.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { isBrowserAbsent, SKIPPED_WITHOUT_BROWSER } from "./browser.ts";
import type { BrowserClient } from "./browser-client.ts";
import { Fixture } from "./fixture.ts";
import { demoTraderIn } from "./greeting.ts";
import { heading, signIn } from "./walk.ts";

const isAbsent = await isBrowserAbsent();

describe.skipIf(isAbsent)(`two servers on one host${isAbsent ? SKIPPED_WITHOUT_BROWSER : ""}`, () => {
  let fixture: Fixture;
  let trader: BrowserClient;

  beforeAll(async () => {
    fixture = await Fixture.open({ hasVenue: true });
    trader = await fixture.visit();
  });
  afterEach(() => expect(fixture.faults()).toEqual([]));
  afterAll(async () => await fixture?.close());

  test("do not sign each other out", async () => {
    const { context, page } = trader;
    await page.goto("/sign-in");
    const own = fixture.demoTrader();
    await signIn(trader, own.email, own.password);

    const other = { page: await context.newPage() };
    await other.page.goto(`${fixture.venue.url}/sign-in`);
    const theirs = demoTraderIn(fixture.venue.output());
    await signIn(other, theirs.email, theirs.password);
    expect(new URL(other.page.url()).hostname).toBe(new URL(page.url()).hostname);

    await page.goto("/strategies");
    await heading(page, "Strategies").waitFor();

    // Requests that are pending at a sign-out are answered 401.
    await trader.quiet();
    await other.page.getByRole("button", { name: "Demo trader" }).click();
    await other.page.getByRole("menuitem", { name: "Sign out" }).click();
    await heading(other.page, "Sign in").waitFor();
    await page.reload();
    await heading(page, "Strategies").waitFor();
  });
});
