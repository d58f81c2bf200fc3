// What a browser shows of the pages' code while its server is down, while a proxy loses a file, and after a
// deployment: never the browser's own error page. The server is a process of its own, which is killed and
// restarted at its port.
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type GatewayProcess, startGateway } from "../support/servers/gateway.ts";
import { freePort } from "../support/servers/postgres.ts";
import { isBrowserAbsent, openBrowser, SKIPPED_WITHOUT_BROWSER } from "./browser.ts";
import { BrowserClient } from "./browser-client.ts";
import { type DemoTrader, demoTraderIn } from "./greeting.ts";
import { heading } from "./walk.ts";

/** The chunk of the trades' page. */
const CHUNK = /\/assets\/trades-[^/]*\.js$/;
const FAILED = "This page can't be shown";

const isAbsent = await isBrowserAbsent();

describe.skipIf(isAbsent)(`an absent server${isAbsent ? SKIPPED_WITHOUT_BROWSER : ""}`, () => {
  let gateway: GatewayProcess;
  let browser: Browser;
  let trader: DemoTrader;
  let page: Page;
  let strategyId: string;
  const restart = async () => {
    gateway = await startGateway({ dataDir: gateway.dataDir, args: ["--port", new URL(gateway.url).port] });
  };

  beforeAll(async () => {
    const args = ["--port", String(await freePort())];
    [gateway, browser] = await Promise.all([startGateway({ args }), openBrowser()]);
    trader = demoTraderIn(gateway.output());
  });
  // Each in a browser of its own, which has no chunk cached.
  beforeEach(async () => {
    const client = await BrowserClient.open(browser, gateway.url);
    page = client.page;
    await client.call("POST", "/session", trader);
    strategyId = (await client.call("GET", "/strategies")).rows[0].strategyId;
  });
  afterEach(async () => await page.context().close());
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  const open = async () => {
    await page.goto(`/strategies/${strategyId}/orders`);
    await heading(page, "Orders").waitFor();
  };
  const openTrades = () => page.getByRole("link", { name: "Trades", exact: true }).click();

  test("leaves every tab within reach, since its code was loaded while nothing happened", async () => {
    const loaded = page.waitForResponse((response) => CHUNK.test(response.url()));
    await open();
    await (await loaded).finished();
    await page.waitForLoadState("networkidle");
    await gateway.kill();
    await openTrades();
    await heading(page, "Trades").waitFor();
    await page.getByRole("contentinfo").getByText("reconnecting").waitFor();
    await restart();
  });

  test("has a page whose code is missing say so; it is shown when the server is back", async () => {
    await page.route(CHUNK, (route) => route.abort());
    await open();
    await gateway.kill();
    await page.unroute(CHUNK);
    await openTrades();
    await heading(page, FAILED).waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await heading(page, FAILED).waitFor();
    await restart();
    await heading(page, "Trades").waitFor();
  });

  test("shows nothing of a person after sign-out, says that they are still signed in, and signs them out when it is back", async () => {
    await open();
    const { name, email } = { name: "Demo trader", email: trader.email };
    await gateway.kill();
    await page.getByRole("button", { name }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
    await heading(page, "You are still signed in").waitFor();
    const shown = await page.content();
    for (const own of [name, email, strategyId]) expect(shown).not.toContain(own);
    await restart();
    await page.getByRole("button", { name: "Try again" }).click();
    await heading(page, "Sign in").waitFor();
  });

  test("or a proxy that loses a file: the app is loaded again once, and then only by the button", async () => {
    await page.route(CHUNK, (route) => route.fulfill({ status: 404 }));
    await open();
    let loads = 0;
    let asks = 0;
    page.on("domcontentloaded", () => {
      loads += 1;
    });
    page.on("requestfinished", (request) => {
      if (new URL(request.url()).pathname === "/") asks += 1;
    });
    await openTrades();
    // It answers each time; only the first time the page is loaded again.
    await eventually("the server was asked before and after", () => loads === 1 && asks >= 2);
    await heading(page, FAILED).waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await eventually("the button loads it again", () => loads === 2);
    await heading(page, FAILED).waitFor();
    await page.unroute(CHUNK);
    await page.getByRole("button", { name: "Try again" }).click();
    await heading(page, "Trades").waitFor();
    expect(loads).toBe(3);
  });
});
