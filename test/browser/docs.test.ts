// The pages under /docs in a real browser: Swagger UI shows the routes of all families and the streams,
// within the pages' policy.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GatewayProcess, startGateway } from "../support/servers/gateway.ts";
import { isBrowserAbsent, openBrowser, SKIPPED_WITHOUT_BROWSER } from "./browser.ts";
import { BrowserClient } from "./browser-client.ts";

const isAbsent = await isBrowserAbsent();

describe.skipIf(isAbsent)(`the documents${isAbsent ? SKIPPED_WITHOUT_BROWSER : ""}`, () => {
  let gateway: GatewayProcess;
  let browser: Browser;

  beforeAll(async () => {
    [gateway, browser] = await Promise.all([startGateway(), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  /** Opens a page, has it checked after a test's steps, and closes it. */
  async function reading(
    path: string,
    steps: (client: BrowserClient) => Promise<void>,
    javaScriptEnabled = true,
  ) {
    const client = await BrowserClient.open(browser, gateway.url, { javaScriptEnabled });
    await client.page.goto(path);
    await steps(client);
    // An error in the console or of a script, a violation of the policy, a request that failed.
    expect(client.faults()).toEqual([]);
    await client.context.close();
  }

  test("show the routes of every family, with their parameters and answers", () =>
    reading("/docs", async ({ page }) => {
      for (const path of ["/api/v3/order", "/fapi/v1/order", "/bot/v1/spot/orders"]) {
        await page.locator(`.opblock-post [data-path="${path}"]`).waitFor();
      }
      await page.locator('.opblock-post [data-path="/fapi/v1/order"]').click();
      const operation = page.locator(".opblock.is-open");
      await operation.getByText("takeProfitPrice", { exact: true }).first().waitFor();
      await operation.getByText("Counts as an order.").waitFor();
      await operation.getByText('"clientOrderId": "my-entry-1"').waitFor();
    }));

  test("show the streams, with their messages and schemas", () =>
    reading("/docs/streams", async ({ page }) => {
      await page.getByRole("heading", { name: "marketData, from the server" }).waitFor();
      await page.getByRole("button", { name: "Schemas" }).waitFor();
    }));

  test("lead to the document and the texts without JavaScript", () =>
    reading(
      "/docs",
      async ({ page }) => {
        for (const path of ["/docs/openapi.json", "/docs/asyncapi.json", "/docs/api/futures.md"]) {
          await page.locator(`a[href="${path}"]`).first().waitFor();
        }
      },
      false,
    ));
});
