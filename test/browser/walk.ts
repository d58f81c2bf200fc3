// Steps of people on the dashboard, by its visible texts, which several tests share.
import type { Page } from "playwright-core";
import { eventually } from "../support/eventually.ts";
import { Authenticator } from "./authenticator.ts";
import type { BrowserClient } from "./browser-client.ts";
import { PASSWORD } from "./fixture.ts";

/** The identity form with its values. */
export const IDENTITY = {
  fullName: "Ada Example",
  birthDate: "1990-05-17",
  country: "CH",
  address: "Lakeside 1\n8000 Zürich",
  documentKind: "PASSPORT",
  documentNumber: "X1234567",
} as const;

/**
 * Signs in with address and password, and a code where there is an authenticator. Ends when the page after it
 * is there.
 */
export async function signIn(
  { page }: Pick<BrowserClient, "page">,
  email: string,
  password: string,
  authenticator: Authenticator | null = null,
): Promise<void> {
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  if (authenticator !== null) {
    await heading(page, "Your second factor").waitFor();
    await page.getByLabel(/code/i).fill(await authenticator.code());
    await page.getByRole("button", { name: "Sign in" }).click();
  }
  await page.getByRole("link", { name: "Skip to the page" }).waitFor({ state: "attached" });
}

/** On the page of security: sets up the second factor and saves the recovery codes. */
export async function enableSecondFactor(
  { page }: BrowserClient,
  password = PASSWORD,
): Promise<Authenticator> {
  const { dialog, authenticator } = await beginSecondFactor(page, password);
  await dialog.getByLabel("Code from the authenticator").fill(await authenticator.code());
  await dialog.getByRole("button", { name: "Enable" }).click();
  await dialog.getByLabel("I have saved the recovery codes").check();
  await dialog.getByRole("button", { name: "Done" }).click();
  return authenticator;
}

/** … up to the request for the first code. */
export async function beginSecondFactor(page: Page, password = PASSWORD) {
  await page.getByRole("button", { name: "Set it up" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Password", { exact: true }).fill(password);
  await dialog.getByRole("button", { name: "Continue" }).click();
  const secret = (await dialog.locator("code").first().textContent()) ?? "";
  return { dialog, authenticator: new Authenticator(secret.replaceAll(" ", "")) };
}

export async function fillIdentity(page: Page): Promise<void> {
  await page.getByLabel("Full name").fill(IDENTITY.fullName);
  await page.getByLabel("Date of birth").fill(IDENTITY.birthDate);
  await page.getByLabel("Country").selectOption(IDENTITY.country);
  await page.getByLabel("Address", { exact: true }).fill(IDENTITY.address);
  await page.getByLabel("Document", { exact: true }).selectOption(IDENTITY.documentKind);
  await page.getByLabel("Document number").fill(IDENTITY.documentNumber);
  await page.getByRole("button", { name: "Submit for approval" }).click();
}

export function heading(page: Page, name: string | RegExp) {
  return page.getByRole("heading", { level: 1, name });
}

/**
 * The loading session has a heading of its own; from then until the page has one, there is no other sign of
 * loading.
 */
const IS_THERE = `document.querySelector("h1") !== null && document.querySelector('[aria-busy="true"]') === null`;

/**
 * Resolves when the page is there, nothing is being loaded any more, and what is live is connected. Content
 * that loads above a button moves it: a press that begins on the button and ends beside it is no click.
 */
export async function settled(page: Page): Promise<void> {
  const connecting = page.getByText(/^○ connecting$/);
  await eventually(
    `all of ${page.url()} is there`,
    async () => (await page.evaluate(IS_THERE)) === true && (await connecting.count()) === 0,
    { msMax: 30_000, askAgainMs: 50 },
  );
}
