// A copier's whole way in a real browser, from sign-up to the end of a copy, while a trader's bot trades. The
// exchange is a second server. Each test continues where the one before it ended; any unexpected fault in a
// window fails it.
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { priced } from "../support/prices.ts";
import type { Credentials } from "../support/servers/gateway.ts";
import { signed } from "../support/signed-client.ts";
import type { Authenticator } from "./authenticator.ts";
import { isBrowserAbsent, SKIPPED_WITHOUT_BROWSER } from "./browser.ts";
import type { BrowserClient } from "./browser-client.ts";
import { Fixture, OPERATOR_EMAIL, PASSWORD } from "./fixture.ts";
import { enableSecondFactor, fillIdentity, heading, signIn } from "./walk.ts";

const EMAIL = "cora@example.org";
const NAME = "Cora Copier";
const ACCOUNT = "Main account";
const STRATEGY = "Demo spot";
/** A machine under load is slow. */
const CHAPTER_MS = 120_000;
/** The copier follows at once; where an answer of the exchange is lost, in half a minute. */
const COPIED = { timeout: 60_000 } as const;
/** How long a button that can be pressed may take to be pressed, on a busy machine too, ms. */
const PRESSED_MS_MAX = 25_000;

const isAbsent = await isBrowserAbsent();

describe.skipIf(isAbsent)(`a copier's way${isAbsent ? SKIPPED_WITHOUT_BROWSER : ""}`, () => {
  let fixture: Fixture;
  let cora: BrowserClient;
  let trader: BrowserClient;
  let operator: BrowserClient;
  let page: Page;
  let authenticator: Authenticator;
  let account: Credentials;

  beforeAll(async () => {
    fixture = await Fixture.open({ hasVenue: true });
    fixture.makeOperator();
    // Far from UTC, in which times are shown.
    cora = await fixture.visit({ timezoneId: "Asia/Tokyo" });
    [trader, operator] = [await fixture.visit(), await fixture.visit()];
    page = cora.page;
    account = fixture.venue.seed("SPOT");
    await trader.call("POST", "/session", fixture.demoTrader());
    await operator.call("POST", "/session", { email: OPERATOR_EMAIL, password: PASSWORD });
  }, CHAPTER_MS);
  afterEach(() => expect(fixture.faults()).toEqual([]));
  afterAll(async () => await fixture?.close());

  /** What the trader's bot orders: of ETH unless it is said, for so many USDT or of so much. */
  async function order(side: "BUY" | "SELL", size: Record<string, string>, symbol = "ETHUSDT") {
    const [spot] = fixture.demoKeys();
    if (spot === undefined) throw new Error("a demo has a spot strategy");
    const wanted = { type: "MARKET", symbol, side, ...size };
    const place = () => signed(fixture.url, spot, "POST", "/api/v3/order", wanted);
    const { status, body } = await priced(place);
    if (status !== 200) throw new Error(`an order is refused: ${JSON.stringify(body)}`);
    return body;
  }

  test("a trader opens a strategy to copiers, and sees what they will see", {
    timeout: CHAPTER_MS,
  }, async () => {
    // Orders from before the first copy are the basis of a preview.
    await order("BUY", { quoteOrderQty: "14" }, "BTCUSDT");
    await order("BUY", { quoteOrderQty: "8" }, "BTCUSDT");
    const desk = trader.page;
    await desk.goto("/strategies");
    await desk.getByRole("link", { name: STRATEGY }).first().click();
    await tab(desk, "Strategy", "Copiers").click();
    await desk.getByText("Nobody sees it.").waitFor();
    await desk.getByRole("button", { name: "Open to copiers…" }).click();
    const dialog = desk.getByRole("dialog");
    await dialog.getByText("its equity curve").waitFor();
    await dialog.getByRole("button", { name: "Open to copiers" }).click();
    await desk.getByText("It is listed for every copier of this server.").waitFor();
  });

  test("signs up, is approved, and is led to the first step", { timeout: CHAPTER_MS }, async () => {
    await page.goto("/sign-up");
    await page.getByLabel("E-mail address").fill(EMAIL);
    await page.getByRole("button", { name: "Send the link" }).click();
    // As mails of an earlier version have it.
    await page.goto((await fixture.linkFor(EMAIL, "verify-email")).replace("#", "?"));
    await page.getByLabel("Name").fill(NAME);
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.getByRole("button", { name: "Create the account" }).click();
    await page.getByRole("link", { name: "Sign in" }).click();
    await signIn(cora, EMAIL, PASSWORD);
    await page.getByText("Steps to your first copy").waitFor();
    await menu(page, "Identity").click();
    await fillIdentity(page);
    await page.getByText("An operator reviews it").waitFor();
    await approve(operator);
    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByRole("heading", { name: "You are approved" }).waitFor();
    await menu(page, "Your copies").click();
    await page.getByText("Before you can connect an exchange account").waitFor();
    await page.getByRole("link", { name: "Set up the second factor" }).click();
    authenticator = await enableSecondFactor(cora);
  });

  test("connects an exchange account, once the exchange takes its key", { timeout: CHAPTER_MS }, async () => {
    await menu(page, "Your copies").click();
    await page.getByRole("link", { name: "Connect an account" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Label").fill(ACCOUNT);
    await dialog.getByLabel("API key of the exchange").fill(account.apiKey);
    await dialog
      .getByLabel("Secret of the key", { exact: true })
      .fill(`${account.apiSecret.slice(0, -4)}AAAA`);
    await dialog.getByLabel("Code of your second factor").fill(await authenticator.code(fixture.forgetCodes));
    cora.expects(400, "/copying/accounts");
    await dialog.getByRole("button", { name: "Check and connect" }).click();
    await dialog.getByText("Fix what is marked.").waitFor();

    await dialog.getByLabel("Secret of the key", { exact: true }).fill(account.apiSecret);
    await dialog.getByLabel("Code of your second factor").fill(await authenticator.code(fixture.forgetCodes));
    await dialog.getByRole("button", { name: "Check and connect" }).click();
    await dialog.getByText("The account is connected").waitFor();
    expect(await dialog.getByRole("list", { name: "What was checked" }).innerText()).toMatch(
      /accepts the key/,
    );
    await dialog.getByRole("link", { name: "Choose a strategy" }).click();
    await heading(page, "Strategies").waitFor();
    await page.getByText("filled at the prices of a simulated market").waitFor();
    expect(await page.content()).not.toContain(account.apiSecret);
  });

  test("shows on a phone that the menu closes on the present page", async () => {
    const desktop = page.viewportSize();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole("button", { name: "Menu" }).click();
    const drawer = page.getByRole("dialog", { name: "Menu" });
    await drawer.getByRole("link", { name: "Strategies", exact: true }).click();
    await drawer.waitFor({ state: "hidden" });
    await heading(page, "Strategies").waitFor();
    if (desktop !== null) await page.setViewportSize(desktop);
  });

  test("sees what its last orders would have become, and copies the strategy", {
    timeout: CHAPTER_MS,
  }, async () => {
    await page.getByRole("link", { name: STRATEGY }).click();
    await heading(page, STRATEGY).waitFor();
    await page.getByText("2 of 2 would have been copied, 0 skipped.").waitFor(COPIED);
    await page.getByText("The strategy holds BTC now.").waitFor();
    await page.getByLabel("Share of the balance", { exact: true }).fill("50");
    await page.getByText("1 of 2 would have been copied, 1 skipped.").waitFor();
    expect(await page.getByRole("radio", { name: /^Protected/ }).isChecked()).toBe(true);
    await page.getByText("Settings", { exact: true }).click();
    await page.getByLabel(/^Stop loss/).fill("120");
    expect(await page.getByRole("button", { name: "Start copying" }).isDisabled()).toBe(true);
    await page.getByText("Your own limits").waitFor();
    await page.getByRole("radio", { name: /^Exactly as the strategy/ }).check();
    await page.getByText("There is no stop loss").waitFor();
    await page.getByRole("radio", { name: /^Protected/ }).check();
    expect(await page.getByLabel(/^Stop loss/).inputValue()).toBe("20");
    await page.getByRole("button", { name: "Start copying" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("50 % of the balance").waitFor();
    await dialog.getByText("a loss per day up to 10 %").waitFor();
    await dialog.getByText("The stop loss closes everything once 20 % are lost").waitFor();
    await dialog.getByText("What the strategy holds now (BTC) is not bought.").waitFor();
    await dialog.getByRole("button", { name: "Start copying" }).click();
    await heading(page, "Overview").waitFor();
    await page.getByText("Stop loss at 80.00 USDT").waitFor(COPIED);
  });

  test("the trader's next order is in the log, at once and with its figures", {
    timeout: CHAPTER_MS,
  }, async () => {
    await tab(page, "Copy", "Mirror log").click();
    await page.getByText("Nothing has been copied or skipped yet.").waitFor();
    await order("BUY", { quoteOrderQty: "60" });
    const row = log(page).getByRole("row").nth(1);
    await row.getByText("Filled").waitFor(COPIED);
    expect(await log(page).getByRole("columnheader").allTextContents()).toContain("Time (UTC)");
    const time = row.locator("time").first();
    const clock = (await time.getAttribute("datetime"))?.slice(11, 19) ?? "none";
    expect(await time.textContent()).toMatch(new RegExp(`${clock}$`));
    await row.getByRole("link", { name: /^Order ETHUSDT/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/\(your equity\) ÷ .* \(the strategy’s equity\)/).waitFor();
    await dialog.getByText(/Filled .* the strategy’s/).waitFor();
    await dialog.getByText("Client id at the exchange").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  });

  test("an order that is too small once it is scaled is skipped, with what was missing", {
    timeout: CHAPTER_MS,
  }, async () => {
    const { price } = (
      await signed(fixture.url, account, "GET", "/api/v3/ticker/price", { symbol: "ETHUSDT" })
    ).body;
    const quantity = (8 / Number(price)).toFixed(4);
    await order("SELL", { quantity });
    await order("SELL", { quantity });
    const skipped = log(page).getByRole("row").filter({ hasText: "Skipped" });
    await skipped.nth(1).waitFor(COPIED);
    await page.getByLabel("Status", { exact: true }).selectOption("Skipped");
    await expect.poll(() => log(page).getByRole("row").count(), COPIED).toBe(3);
    const headers = await log(page).getByRole("columnheader").allInnerTexts();
    const sent = headers.findIndex((header) => /^you$/i.test(header));
    // The column before it is the row's header.
    expect(
      await skipped
        .first()
        .getByRole("cell")
        .nth(sent - 1)
        .innerText(),
    ).toMatch(/^–/);
    await skipped.first().getByRole("link").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Below the smallest order value", { exact: true }).waitFor();
    await dialog.getByText("Nothing was sent: below the smallest order value.").waitFor();
    expect(await dialog.getByText(/[0-9] was sent/).count()).toBe(0);
    await dialog.getByText("NOTIONAL").waitFor();
    await dialog.getByText("Missing").waitFor();
    await page.keyboard.press("Escape");
  });

  test("the drift names the cause, and a repair sells what is too much and no more", {
    timeout: CHAPTER_MS,
  }, async () => {
    await tab(page, "Copy", "Drift").click();
    const row = page.getByRole("row").filter({ hasText: "ETHUSDT" });
    // The copy reduces an excess by itself after some seconds: on a busy machine before this page shows it.
    const isReduced = row.filter({ hasText: /In line|Rounding/ });
    await row.getByText("An order was skipped").or(isReduced).first().waitFor(COPIED);
    await page.getByRole("row").filter({ hasText: "BTCUSDT" }).getByText("Held before you began").waitFor();
    await page.getByRole("button", { name: "Repair…" }).click();
    const dialog = page.getByRole("dialog");
    const orders = dialog.getByRole("list", { name: "Orders of the repair" }).getByRole("listitem");
    const nothingLeft = dialog.getByText("Nothing can be reduced.");
    await orders.or(nothingLeft).first().waitFor();
    const listed = await orders.allInnerTexts();
    if (listed.length > 0) {
      expect(listed).toEqual([expect.stringMatching(/Sell ETHUSDT[\s\S]*reduces/)]);
      expect(await dialog.getByLabel("May also open or increase").isChecked()).toBe(false);
    }
    const sent = dialog.getByRole("button", { name: "Send 1 order" }).click({ timeout: PRESSED_MS_MAX });
    await sent.catch(async () => {
      await nothingLeft.waitFor();
      await dialog.getByRole("button", { name: "Cancel" }).click();
    });
    await isReduced.waitFor(COPIED);
    await tab(page, "Copy", "Mirror log").click();
    // Each of them has a line if the copy was reducing the excess while the repair was asked for.
    await log(page)
      .getByRole("link", { name: /^(Repair|Brought back to target) ETHUSDT/ })
      .first()
      .waitFor();
  });

  test("a paused copy opens nothing, and shows that", { timeout: CHAPTER_MS }, async () => {
    await tab(page, "Copy", "Overview").click();
    await page.getByRole("button", { name: "Pause" }).click();
    await page.getByText("The copy is paused").first().waitFor();
    await order("BUY", { quoteOrderQty: "40" });
    await log(page).getByText("The copy was paused").first().waitFor(COPIED);
    await trader.page.reload();
    await trader.page.getByText("What was copied in the last 30 days").waitFor();
    await trader.page.getByText("The copy was paused").waitFor();
  });

  test("a stopped copy sells what it bought, and ends", { timeout: CHAPTER_MS }, async () => {
    await page.getByRole("button", { name: "Stop…" }).click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByRole("radio", { name: /^Sell it/ }).isChecked()).toBe(true);
    await dialog.getByRole("button", { name: "Stop the copy" }).click();
    await page.getByText("The copy has ended").first().waitFor(COPIED);
    await eventually("nothing but dust is left at the exchange", async () => {
      const { body } = await signed(fixture.venue.url, account, "GET", "/api/v3/account");
      const held = body.balances.filter(({ asset }: { asset: string }) => asset === "ETH");
      return held.every(({ free }: { free: string }) => Number(free) < 0.001);
    });
    await menu(page, "Your copies").click();
    await page.getByRole("table", { name: "Ended copies" }).getByText(STRATEGY).waitFor();
  });

  test("disconnects the account, which destroys its key", { timeout: CHAPTER_MS }, async () => {
    await menu(page, "Exchange accounts").click();
    await page.getByRole("button", { name: `Disconnect ${ACCOUNT}` }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel(`Type ${ACCOUNT} to confirm`).fill(ACCOUNT);
    await dialog.getByLabel("Code").fill(await authenticator.code(fixture.forgetCodes));
    await dialog.getByRole("button", { name: "Disconnect" }).click();
    await page.getByRole("table", { name: "Disconnected exchange accounts" }).getByText(ACCOUNT).waitFor();
    await page.getByText("No exchange account is connected.").waitFor();
  });
});

/** Approves the newest identity form; an operator needs a second factor for that. */
async function approve(operator: BrowserClient): Promise<void> {
  await operator.page.goto("/security");
  await enableSecondFactor(operator);
  const { rows } = await operator.call("GET", "/operator/kyc");
  await operator.call("POST", `/operator/kyc/${rows[0].submissionId}/decision`, {
    status: "APPROVED",
    reason: null,
  });
}

/** An entry of the sidebar. */
function menu(page: Page, name: string): Locator {
  return page.getByRole("banner").getByRole("link", { name, exact: true });
}

/** A tab of a strategy or of a copy. */
function tab(page: Page, of: "Strategy" | "Copy", name: string): Locator {
  return page.getByRole("navigation", { name: of, exact: true }).getByRole("link", { name });
}

function log(page: Page): Locator {
  return page.getByRole("table", { name: "Mirror log" });
}
