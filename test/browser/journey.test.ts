// A trader's whole way in a real browser, from sign-up to the close of a strategy, with the operator in a
// window of their own and a stock client that trades. Each test continues where the one before it ended; any
// unexpected fault in a window fails it.
import { createHash } from "node:crypto";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { exchangeOf, PAIR } from "../clients/ccxt-client.ts";
import { eventually, OUTSIDE_MS_MAX } from "../support/eventually.ts";
import { changeRows } from "../support/servers/database.ts";
import { signed } from "../support/signed-client.ts";
import type { Authenticator } from "./authenticator.ts";
import { isBrowserAbsent, SKIPPED_WITHOUT_BROWSER } from "./browser.ts";
import type { BrowserClient } from "./browser-client.ts";
import { Fixture, OPERATOR_EMAIL, PASSWORD } from "./fixture.ts";
import {
  beginSecondFactor,
  enableSecondFactor,
  fillIdentity,
  heading,
  IDENTITY,
  settled,
  signIn,
} from "./walk.ts";
import { signUp } from "./world.ts";

const EMAIL = "ada@example.org";
const NAME = "Ada Example";
const STRATEGY = "First steps";
const REASON = "The number of the document is hardly legible.\nPlease type it again.";
/** A machine under load is slow. */
const CHAPTER_MS = 120_000;

type Key = { readonly apiKey: string; readonly apiSecret: string };

const isAbsent = await isBrowserAbsent();

describe.skipIf(isAbsent)(`a trader's way${isAbsent ? SKIPPED_WITHOUT_BROWSER : ""}`, () => {
  let fixture: Fixture;
  let ada: BrowserClient;
  let operator: BrowserClient;
  let page: Page;
  let authenticator: Authenticator;
  let recoveryCodes: readonly string[];
  let key: Key;
  let secondKey: Key;
  const freshCode = () => authenticator.code(fixture.forgetCodes);

  beforeAll(async () => {
    fixture = await Fixture.open();
    fixture.makeOperator();
    ada = await fixture.visit();
    operator = await fixture.visit();
    page = ada.page;
  }, CHAPTER_MS);
  afterEach(() => expect(fixture.faults()).toEqual([]));
  afterAll(async () => await fixture?.close());

  test("signs up with the address, and chooses name and password on the page of the link that the server's log has", {
    timeout: CHAPTER_MS,
  }, async () => {
    await page.goto("/");
    await heading(page, "Sign in").waitFor();
    await page.getByRole("link", { name: "Create an account" }).click();
    await page.getByText("This server sends no mail.").waitFor();
    await page.getByLabel("E-mail address").fill(EMAIL);
    await page.getByRole("button", { name: "Send the link" }).click();
    await heading(page, "Verify your e-mail address").waitFor();
    const older = await fixture.linkFor(EMAIL, "verify-email");
    await page.getByRole("button", { name: "Ask for another link" }).click();
    await page.getByRole("button", { name: "Send another link" }).click();
    await eventually(
      "another link is sent",
      async () => (await fixture.linkFor(EMAIL, "verify-email")) !== older,
    );
    const newer = await fixture.linkFor(EMAIL, "verify-email");

    // Either of them works, the older one as well, and opening the page sends nothing else.
    await page.goto(older);
    await heading(page, "Finish creating your account").waitFor();
    expect(new URL(page.url()).search).toBe("");
    await page.getByLabel("Name").fill(NAME);
    const password = page.getByLabel("Password", { exact: true });
    await password.fill("lyrebirdlyrebird");
    ada.expects(400, "/verify-email");
    await page.getByRole("button", { name: "Create the account" }).click();
    await page
      .getByText("This password is made of your name, your address, or what this service is about.")
      .waitFor();
    await password.fill(PASSWORD);
    await page.getByRole("button", { name: "Create the account" }).click();
    await heading(page, "Your e-mail address is verified").waitFor();

    await page.goto(newer);
    await page.getByLabel("Name").fill("Somebody else");
    await password.fill(`${PASSWORD}, again`);
    ada.expects(400, "/verify-email");
    await page.getByRole("button", { name: "Create the account" }).click();
    await page.getByText("LINK_REFUSED").waitFor();
    await page.getByRole("link", { name: "sign in" }).click();
    await signIn(ada, EMAIL, PASSWORD);
    await eventually("a newcomer begins at the list of steps", () => page.url().endsWith("/welcome"));
  });

  test("submits the identity form", { timeout: CHAPTER_MS }, async () => {
    await menu(page, "Identity").click();
    await fillIdentity(page);
    await page.getByText("An operator reviews it").waitFor();
  });

  test("an operator enables a second factor first, and then rejects the form with a reason", {
    timeout: CHAPTER_MS,
  }, async () => {
    const desk = operator.page;
    await desk.goto("/operator/identity");
    await signIn(operator, OPERATOR_EMAIL, PASSWORD);
    await heading(desk, "Operators need a second factor").waitFor();
    await desk.getByRole("link", { name: "Set up the second factor" }).click();
    await enableSecondFactor(operator);
    await menu(desk, "Identity checks").click();
    await desk.getByRole("link", { name: new RegExp(NAME) }).click();
    await heading(desk, `Identity of ${IDENTITY.fullName}`).waitFor();
    await desk.getByText(IDENTITY.documentNumber).waitFor();
    await desk.getByRole("button", { name: "Reject" }).click();
    await desk.getByRole("button", { name: "Reject with this reason" }).click();
    await desk.getByText("Write a reason: the person sees it.").waitFor();
    await desk.getByLabel("Reason").fill(REASON);
    await desk.getByRole("button", { name: "Reject with this reason" }).click();
    await desk.getByText(`Rejected by ${OPERATOR_EMAIL}`).waitFor();
  });

  test("reads the reason, and submits again", { timeout: CHAPTER_MS }, async () => {
    await page.getByRole("button", { name: "Refresh" }).click();
    expect(await page.getByRole("blockquote").textContent()).toBe(REASON);
    await page.getByRole("button", { name: "Fill in the form again" }).click();
    await fillIdentity(page);
    await page.getByText("An operator reviews it").waitFor();
  });

  test("is approved by the operator, who sees the form before", { timeout: CHAPTER_MS }, async () => {
    const desk = operator.page;
    await menu(desk, "Identity checks").click();
    await desk.getByRole("link", { name: new RegExp(NAME) }).click();
    await desk
      .getByRole("table", { name: "Other forms of this person" })
      .getByText("hardly legible")
      .waitFor();
    await desk.getByRole("button", { name: "Approve" }).click();
    await desk.getByText(`Approved by ${OPERATOR_EMAIL}`).waitFor();

    await page.getByRole("button", { name: "Refresh" }).click();
    await page.getByRole("heading", { name: "You are approved" }).waitFor();
  });

  test("an operator who decides too late sees who was faster", { timeout: CHAPTER_MS }, async () => {
    const bert = await signUp(fixture, "bert@example.org", "Bert Example");
    await bert.call("POST", "/kyc", IDENTITY);
    const desk = operator.page;
    await menu(desk, "Identity checks").click();
    await desk.getByRole("link", { name: /Bert Example/ }).click();
    await desk.getByRole("button", { name: "Approve" }).waitFor();
    const form = new URL(desk.url()).pathname.split("/").at(-1);
    const reason = "Not today";
    await operator.call("POST", `/operator/kyc/${form}/decision`, { status: "REJECTED", reason });
    operator.expects(409, "/decision");
    await desk.getByRole("button", { name: "Approve" }).click();
    await desk.getByText("You had already decided").waitFor();
    await desk.getByText(reason).first().waitFor();
  });

  test("switches to the Trader profile, which has keys and strategies", { timeout: CHAPTER_MS }, async () => {
    await expect.poll(() => menu(page, "API keys").count()).toBe(0);
    await page.getByRole("button", { name: new RegExp(NAME) }).click();
    await page.getByRole("menuitem", { name: "Switch to Trader" }).click();
    await page.getByRole("button", { name: "Switch to Trader" }).click();
    await menu(page, "API keys").waitFor();
    await menu(page, "Strategies").waitFor();
  });

  test("enables the second factor: a wrong code is refused, the recovery codes have to be saved", {
    timeout: CHAPTER_MS,
  }, async () => {
    await menu(page, "Security").click();
    const begun = await beginSecondFactor(page);
    authenticator = begun.authenticator;
    const { dialog } = begun;
    ada.expects(403, "/second-factor/confirm");
    await dialog.getByLabel("Code from the authenticator").fill(authenticator.wrongCode());
    await dialog.getByRole("button", { name: "Enable" }).click();
    await dialog.getByText("The code is wrong or was used already.").waitFor();
    await dialog.getByLabel("Code from the authenticator").fill(await authenticator.code());
    await dialog.getByRole("button", { name: "Enable" }).click();
    const list = dialog.getByRole("list", { name: "Recovery codes" });
    await list.waitFor();
    recoveryCodes = await list.getByRole("listitem").allTextContents();
    expect(recoveryCodes).toHaveLength(10);
    await expectHeld(dialog, page);
    await dialog.getByLabel("I have saved the recovery codes").check();
    await dialog.getByRole("button", { name: "Done" }).click();
    await page.getByText("Recovery codes left: 10").waitFor();
  });

  test("creates a key with a fresh code; its secret is shown once", { timeout: CHAPTER_MS }, async () => {
    await menu(page, "API keys").click();
    await page.getByRole("button", { name: "New key" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Label").fill("A bot");
    ada.expects(403, "/keys");
    await dialog.getByLabel("Code").fill(authenticator.lastCode());
    await dialog.getByRole("button", { name: "Create the key" }).click();
    await dialog.getByText("The code is wrong or was used already.").waitFor();
    key = await saveKey(dialog, page, await freshCode());
    await dialog.getByRole("button", { name: "Create a strategy with it" }).click();
    await heading(page, "New strategy").waitFor();
    expect(await page.content()).not.toContain(key.apiSecret);
    await page.reload();
    await heading(page, "New strategy").waitFor();
    await page.getByLabel("API key").waitFor();
    expect(await page.content()).not.toContain(key.apiSecret);
  });

  test("creates a spot strategy with the key, and is shown the three lines", {
    timeout: CHAPTER_MS,
  }, async () => {
    await page.getByLabel("Name").fill(STRATEGY);
    await page.getByRole("radio", { name: /Spot/ }).check();
    await page.getByRole("button", { name: "Create the strategy" }).click();
    await heading(page, `${STRATEGY} is ready`).waitFor();
    for (const client of [/ccxt/, /python-binance/, /curl/]) {
      await page.getByRole("radio", { name: client }).check({ force: true });
      const lines = await page.locator("pre").first().textContent();
      expect(lines).toContain(key.apiKey);
      expect(lines).toContain(fixture.url);
      expect(lines).not.toContain(key.apiSecret);
    }
    await page.getByRole("button", { name: "Test this key" }).click();
    await page.getByText("Nothing is wrong with this key.").waitFor();
    await page.getByRole("link", { name: "Go to the strategy" }).click();
    await heading(page, "Overview").waitFor();
  });

  test("the first fill of a stock client is a marker on the chart and a row of the trades, at once", {
    timeout: CHAPTER_MS,
  }, async () => {
    await tab(page, "Chart").click();
    const chart = page.getByRole("img", { name: /^Candles of BTCUSDT/ });
    await chart.waitFor();
    expect(await chart.getAttribute("data-markers")).toBe("0");
    expect(await boughtPixels(page)).toBe(0);
    const order = await trade(exchangeOf(key, fixture.url), "buy", 0.001);
    await expect.poll(() => chart.getAttribute("data-markers"), { timeout: OUTSIDE_MS_MAX }).toBe("1");
    await expect.poll(() => boughtPixels(page), { timeout: OUTSIDE_MS_MAX }).toBeGreaterThan(0);

    await tab(page, "Trades").click();
    const row = page.getByRole("table", { name: "Trades" }).getByRole("row").nth(1);
    await row.getByText("0.001").first().waitFor();
    await row.getByRole("link", { name: `#${order.id}` }).click();
    await heading(page, /Order/).waitFor();
    await page.goBack();
    await trade(exchangeOf(key, fixture.url), "sell", 0.0005);
    await row.getByText("Sell").waitFor();
  });

  test("the request inspector shows a request, and why another was refused", {
    timeout: CHAPTER_MS,
  }, async () => {
    await tab(page, "Requests").click();
    const table = page.getByRole("table", { name: "Requests" });
    await table.getByRole("link", { name: "/api/v3/order" }).first().waitFor();
    const timestamp = Date.now();
    await signed(fixture.url, { apiKey: key.apiKey, apiSecret: key.apiKey }, "GET", "/api/v3/account", {
      recvWindow: 30_000,
      timestamp,
    });
    const refused = table.getByRole("row").filter({ hasText: "-2015" });
    await refused.getByRole("link").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("It failed the check: Signature").waitFor();
    const hint = await dialog.getByRole("listitem").first().textContent();
    expect(hint).toMatch(/API key/i);
    const message = `recvWindow=30000&timestamp=${timestamp}`;
    await dialog.getByText(createHash("sha256").update(message).digest("hex")).waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  });

  test("cancels an open order, also if it closed the dialog while the network was away", {
    timeout: CHAPTER_MS,
  }, async () => {
    await tab(page, "Orders").click();
    const exchange = exchangeOf(key, fixture.url);
    const { last = 0 } = await exchange.fetchTicker(PAIR);
    const resting = await exchange.createOrder(PAIR, "limit", "buy", 0.0002, Math.round(last * 0.9));
    const restingId = String(resting.id);
    const row = page
      .getByRole("table", { name: "Open orders" })
      .getByRole("row")
      .filter({ hasText: `#${restingId}` });
    await row.getByRole("button", { name: /^Cancel/ }).click();
    const dialog = page.getByRole("dialog");
    // The browser holds requests back between these events.
    const announce = (name: "offline" | "online") =>
      page.evaluate(`window.dispatchEvent(new Event("${name}"))`);
    await announce("offline");
    await dialog.getByRole("button", { name: "Cancel the order" }).click();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await announce("online");
    await page.getByText("No open orders.").waitFor();
    expect((await exchange.fetchOrder(restingId, PAIR)).status).toBe("canceled");
  });

  test("revokes the key, and its next request is refused", { timeout: CHAPTER_MS }, async () => {
    const exchange = exchangeOf(key, fixture.url);
    await exchange.fetchBalance();
    await menu(page, "API keys").click();
    await page.getByRole("button", { name: "Revoke the key A bot" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Code").fill(await freshCode());
    await dialog.getByRole("button", { name: "Revoke the key" }).click();
    await page.getByRole("table", { name: "Revoked keys" }).waitFor();
    await expect(exchange.fetchBalance()).rejects.toThrow("-2015");
  });

  test("binds a new key to the strategy, which trades on", { timeout: CHAPTER_MS }, async () => {
    await page.getByRole("button", { name: "New key" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Label").fill("Its successor");
    secondKey = await saveKey(dialog, page, await freshCode());
    await dialog.getByRole("button", { name: "Done" }).click();
    await openStrategy(page);
    await tab(page, "Settings").click();
    await page.getByText("No key is bound.").waitFor();
    await page.getByLabel("Code").fill(await freshCode());
    await page.getByRole("button", { name: /^Bind/ }).click();
    await page.getByRole("button", { name: "Revoke this key" }).waitFor();
    const { total } = await exchangeOf(secondKey, fixture.url).fetchBalance();
    expect(Number((total as unknown as Record<string, number>).BTC)).toBeGreaterThan(0);
  });

  test("a session that was ended elsewhere leads to the sign-in and back", {
    timeout: CHAPTER_MS,
  }, async () => {
    const elsewhere = await fixture.visit();
    await elsewhere.page.goto("/security");
    elsewhere.expects(401, "/session");
    await signInWithRecoveryCode(elsewhere, recoveryCodes[0] ?? "");
    await elsewhere.page.getByText("Recovery codes left: 9").waitFor();
    // Her page may be asking for something just then.
    ada.expectsAnywhere(401);
    await elsewhere.page.getByRole("button", { name: "End all others" }).click();
    const ending = elsewhere.page.getByRole("dialog");
    await ending.getByLabel("Code").fill(await freshCode());
    await ending.getByRole("button", { name: "End the sessions" }).click();
    await elsewhere.page.getByText("All other sessions ended").waitFor();

    await page.getByText("Your session has ended.").waitFor();
    await signInWithRecoveryCode(ada, recoveryCodes[1] ?? "");
    await heading(page, "Settings").waitFor();
    await page.getByRole("button", { name: "Revoke this key" }).waitFor();
  });

  test("a session that has expired leads with the next click to the sign-in and back", {
    timeout: CHAPTER_MS,
  }, async () => {
    const late = await fixture.visit();
    // Without live updates, which would announce the end before the click.
    await late.context.routeWebSocket(/socket\.io/, () => {});
    await late.page.goto("/security");
    late.expects(401, "/session");
    await signInWithRecoveryCode(late, recoveryCodes[2] ?? "");
    await late.page.getByText("Recovery codes left: 7").waitFor();
    await late.quiet();
    changeRows(
      fixture.gateway.dataDir,
      "UPDATE sessions SET expires_at = ? WHERE id = (SELECT id FROM sessions ORDER BY created_at DESC LIMIT 1)",
      Date.now() - 1,
    );
    // The page asks for more than one thing, and whichever is answered first leads to the sign-in.
    late.expectsAnywhere(401);
    await menu(late.page, "API keys").click();
    await late.page.getByText("Your session has ended.").waitFor();
    await heading(late.page, "Sign in").waitFor();
    await signInWithRecoveryCode(late, recoveryCodes[3] ?? "");
    await heading(late.page, "API keys").waitFor();
    await late.page.getByRole("button", { name: "Revoke the key Its successor" }).waitFor();
    // No other session of hers has ended.
    await page.getByRole("button", { name: "Revoke this key" }).waitFor();
    await late.close();
  });

  test("closes the strategy by typing its name; what stays can only be read", {
    timeout: CHAPTER_MS,
  }, async () => {
    const exchange = exchangeOf(secondKey, fixture.url);
    await exchange.fetchBalance();
    await tab(page, "Settings").click();
    await heading(page, "Settings").waitFor();
    await settled(page);
    await page.getByRole("button", { name: "Show what closing does" }).click();
    await page.getByRole("button", { name: "Close the strategy" }).click();
    const dialog = page.getByRole("dialog");
    const field = dialog.getByRole("textbox");
    const confirm = dialog.getByRole("button", { name: "Close the strategy" });
    expect(await confirm.isDisabled()).toBe(true);
    await field.fill(STRATEGY);
    await confirm.click();
    await page.getByRole("heading", { name: "Closed", exact: true }).waitFor();
    await expect(exchange.createOrder(PAIR, "market", "buy", 0.001)).rejects.toThrow();

    await tab(page, "Orders").click();
    await page.getByText("A closed strategy has none.").waitFor();
    expect(await page.getByRole("button", { name: /^Cancel/ }).count()).toBe(0);
    await tab(page, "Trades").click();
    await page.getByRole("table", { name: "Trades" }).waitFor();
  });

  test("trades on a new strategy, under strict, with the key of the closed one", {
    timeout: CHAPTER_MS,
  }, async () => {
    await menu(page, "API keys").click();
    await page.getByRole("link", { name: "Create one with it" }).click();
    await heading(page, "New strategy").waitFor();
    await page.getByLabel("Name").fill("The next one");
    expect(await page.getByLabel("Latency in ms").count()).toBe(0);
    await page.getByRole("radio", { name: /Strict/ }).check();
    await page.getByLabel("Latency in ms").fill("5001");
    await page.getByLabel("Fee tier").selectOption({ label: "VIP 3: 0.042 % as maker, 0.06 % as taker" });
    ada.expects(400, "/strategies");
    await page.getByRole("button", { name: "Create the strategy" }).click();
    await page.getByText(/Latency in ms is 0 to 5000, or three quantiles/).waitFor();
    await page.getByLabel("Latency in ms").fill("80");
    await page.getByRole("button", { name: "Create the strategy" }).click();
    await heading(page, "The next one is ready").waitFor();
    const { filled } = await trade(exchangeOf(secondKey, fixture.url), "buy", 0.001);
    expect(filled).toBe(0.001);
    await page.getByRole("link", { name: "Go to the strategy" }).click();
    await tab(page, "Settings").click();
    await page.getByRole("heading", { name: "Fill profile" }).waitFor();
    for (const term of ["VIP 3", "80 ms", "0.042 % as maker, 0.06 % as taker"]) {
      await page.getByText(term, { exact: true }).waitFor();
    }
  });

  test("is locked out by the operator, with the reason, and unlocked again", {
    timeout: CHAPTER_MS,
  }, async () => {
    const exchange = exchangeOf(secondKey, fixture.url);
    await exchange.fetchBalance();
    const desk = operator.page;
    await menu(desk, "People").click();
    await desk.getByRole("link", { name: new RegExp(EMAIL) }).click();
    await desk.getByRole("button", { name: "Lock…", exact: true }).click();
    const dialog = desk.getByRole("dialog");
    await dialog.getByText("Their copies are paused").waitFor();
    await dialog.getByLabel("Reason").fill("The laptop was stolen.");
    // Her page may be asking for something just then.
    ada.expectsAnywhere(401);
    await dialog.getByRole("button", { name: "Lock", exact: true }).click();
    await desk.getByText("Locked since").waitFor();
    await desk.getByText("Account locked by an operator").waitFor();
    await expect(exchange.fetchBalance()).rejects.toThrow("-2015");

    await page.getByText("Your session has ended.").waitFor();
    ada.expects(403, "/session");
    await signInWithRecoveryCode(ada, recoveryCodes[4] ?? "");
    await page.getByText("An operator has locked your account.").waitFor();

    await desk.getByRole("button", { name: "Unlock…" }).click();
    await dialog.getByRole("button", { name: "Unlock", exact: true }).click();
    await desk.getByRole("button", { name: "Lock…", exact: true }).waitFor();
    await exchange.fetchBalance();
    await page.reload();
    await heading(page, "Sign in").waitFor();
    ada.expects(401, "/session");
    await signInWithRecoveryCode(ada, recoveryCodes[5] ?? "");
    await page.getByRole("link", { name: "Skip to the page" }).waitFor({ state: "attached" });
  });

  test("closes the account, after the page has said what ends with it", { timeout: CHAPTER_MS }, async () => {
    const exchange = exchangeOf(secondKey, fixture.url);
    await menu(page, "Security").click();
    await heading(page, "Security").waitFor();
    await settled(page);
    await page.getByRole("button", { name: "Close…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("1 strategy is closed for good").waitFor();
    await dialog.getByText("1 API key is revoked at once.").waitFor();
    await dialog.getByLabel(`Type ${EMAIL} to confirm`).fill(EMAIL);
    await dialog.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await dialog.getByLabel("Code").fill(await freshCode());
    // What the page still asks for is refused once the account is closed.
    ada.expectsAnywhere(401);
    await dialog.getByRole("button", { name: "Close my account" }).click();
    await heading(page, "Sign in").waitFor();
    await expect(exchange.fetchBalance()).rejects.toThrow("-2015");
    await page.getByLabel("E-mail address").fill(EMAIL);
    await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("CREDENTIALS_REFUSED").waitFor();
    const desk = operator.page;
    await desk.reload();
    await desk.getByText("Account closed").waitFor();
    await eventually("the strategy is closed by the server", async () => {
      await desk.reload();
      const strategies = desk.getByRole("table", { name: "Strategies" });
      await strategies.waitFor();
      return (await strategies.getByText("Closed", { exact: true }).count()) === 2;
    });
  });
});

/** An entry of the sidebar. */
function menu(page: Page, name: string): Locator {
  return page.getByRole("banner").getByRole("link", { name, exact: true });
}

/** A tab of a strategy. */
function tab(page: Page, name: string): Locator {
  return page.getByRole("navigation", { name: "Strategy" }).getByRole("link", { name });
}

async function openStrategy(page: Page): Promise<void> {
  await menu(page, "Strategies").click();
  await page.getByRole("link", { name: STRATEGY }).first().click();
  await heading(page, "Overview").waitFor();
}

/** Gives a code for a key, and goes through the gate before which its secret is shown. */
async function saveKey(dialog: Locator, page: Page, code: string): Promise<Key> {
  await dialog.getByLabel("Code").fill(code);
  await dialog.getByRole("button", { name: "Create the key" }).click();
  await dialog.getByText("Shown only once").waitFor();
  const [apiKey = "", apiSecret = ""] = await dialog.locator("code").allTextContents();
  await expectHeld(dialog, page);
  await dialog.getByLabel("I have saved the secret").check();
  return { apiKey, apiSecret };
}

/** What is shown once is not closed by accident. */
async function expectHeld(dialog: Locator, page: Page): Promise<void> {
  expect(await dialog.getByRole("button", { name: "Done" }).isDisabled()).toBe(true);
  await page.keyboard.press("Escape");
  expect(await dialog.isVisible()).toBe(true);
}

async function signInWithRecoveryCode({ page }: BrowserClient, recoveryCode: string): Promise<void> {
  await page.getByLabel("E-mail address").fill(EMAIL);
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Use a recovery code" }).click();
  await page.getByLabel("Recovery code").fill(recoveryCode);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/**
 * How many pixels of the chart have the color of what was bought; the crosshair has it too, so the mouse is
 * taken away.
 */
async function boughtPixels(page: Page): Promise<number> {
  await page.mouse.move(0, 0);
  return await page.evaluate(`(() => {
    const wanted = getComputedStyle(document.documentElement).getPropertyValue("--accent").trim();
    const [red, green, blue] = [1, 3, 5].map((start) => parseInt(wanted.slice(start, start + 2), 16));
    let count = 0;
    for (const canvas of document.querySelectorAll('[role="img"] canvas')) {
      if (canvas.width === 0 || canvas.height === 0) continue;
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      for (let at = 0; at < data.length; at += 4) {
        if (data[at] === red && data[at + 1] === green && data[at + 2] === blue && data[at + 3] === 255) count += 1;
      }
    }
    return count;
  })()`);
}

/** Orders at the market as a bot does: once more while the market data is late, as the answer asks it to. */
async function trade(exchange: ReturnType<typeof exchangeOf>, side: "buy" | "sell", amount: number) {
  const placed: Awaited<ReturnType<typeof exchange.createOrder>>[] = [];
  await eventually(
    "the market data is in time",
    async () => {
      try {
        placed.push(await exchange.createOrder(PAIR, "market", side, amount));
      } catch (error) {
        if (!(error instanceof Error && error.message.includes('"code":-1008'))) throw error;
      }
      return placed.length > 0;
    },
    { askAgainMs: 1_000 },
  );
  const [order] = placed;
  if (order === undefined) throw new Error("an order was placed");
  return order;
}
