// Every screen of the dashboard, with its person and its path: for the accessibility check and for the
// pictures.
import type { Page } from "playwright-core";
import { COPY_SCREENS } from "./copy-screens.ts";
import { PASSWORD } from "./fixture.ts";
import { type Screen, screen } from "./screen.ts";
import { beginSecondFactor, settled } from "./walk.ts";
import type { World } from "./world.ts";

export const DESKTOP = { width: 1280, height: 800 } as const;
export const PHONE = { width: 390, height: 844 } as const;
export type Size = typeof DESKTOP | typeof PHONE;

const STRATEGY_TABS = [
  "chart",
  "orders",
  "positions",
  "depth",
  "trades",
  "signals",
  "requests",
  "copiers",
  "settings",
];

export const SCREENS: readonly Screen[] = [
  ...["sign-in", "sign-up", "forgot-password", "reset-password", "verify-email"].map((name) =>
    screen("guest", name, `/${name}`),
  ),
  screen("guest", "verify-email-form", "/verify-email#token=unknown"),
  screen("guest", "reset-password-form", "/reset-password#token=unknown"),

  screen("newcomer", "welcome", "/welcome"),
  screen("newcomer", "identity", "/identity"),
  screen("newcomer", "security", "/security"),
  {
    ...screen("newcomer", "second-factor-set-up", "/security"),
    open: (page) => beginSecondFactor(page, PASSWORD),
  },
  screen("waiting", "identity-pending", "/identity"),
  screen("rejected", "identity-rejected", "/identity"),
  screen("copier", "identity-approved", "/identity"),
  screen("copier", "refused-page", "/strategies"),
  {
    ...screen("copier", "switch-profile", "/copying"),
    async open(page) {
      await page.getByRole("button", { name: /Carl Copier/ }).click();
      await page.getByRole("menuitem", { name: "Switch to Trader" }).click();
      await page.getByRole("dialog").waitFor();
    },
  },

  screen("trader", "welcome-trader", "/welcome"),
  screen("trader", "security-enabled", "/security"),
  {
    ...screen("trader", "account-close", "/security"),
    async open(page) {
      await page.getByRole("button", { name: "Close…" }).click();
      await page.getByRole("dialog").getByText("exchange accounts are disconnected").waitFor();
    },
  },
  screen("trader", "keys", "/keys"),
  {
    ...screen("trader", "key-new", "/keys"),
    async open(page) {
      await page.getByRole("button", { name: "New key" }).first().click();
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    ...screen("trader", "key-test", "/keys"),
    async open(page) {
      await page
        .getByRole("button", { name: /Test the key/ })
        .first()
        .click();
      const dialog = page.getByRole("dialog");
      await dialog.getByRole("listitem").first().waitFor();
    },
  },
  { ...screen("trader", "strategies", "/strategies"), shows: "polyline" },
  screen("trader", "strategy-new", "/strategies/new"),
  { ...screen("trader", "strategy-ready", ({ unusedId }) => `/strategies/new?created=${unusedId}`) },
  {
    ...screen("trader", "spot-overview", ({ spotId }) => `/strategies/${spotId}`),
    shows: "canvas",
  },
  screen("trader", "futures-overview", ({ futuresId }) => `/strategies/${futuresId}`),
  screen("trader", "unused-overview", ({ unusedId }) => `/strategies/${unusedId}`),
  screen("trader", "closed-overview", ({ closedId }) => `/strategies/${closedId}`),
  ...(["spot", "futures"] as const).flatMap((market) =>
    STRATEGY_TABS.map(
      (tab): Screen => ({
        ...screen("trader", `${market}-${tab}`, (places) => `/strategies/${places[`${market}Id`]}/${tab}`),
        ...(tab === "chart" ? { shows: "canvas" } : {}),
      }),
    ),
  ),
  screen("trader", "closed-settings", ({ closedId }) => `/strategies/${closedId}/settings`),
  screen("trader", "order", ({ spotId, orderId }) => `/strategies/${spotId}/orders/${orderId}`),
  screen("trader", "trade", ({ spotId }) => `/strategies/${spotId}/trades/1`),
  screen("trader", "signal", ({ spotId, signalId }) => `/strategies/${spotId}/signals/${signalId}`),
  {
    ...screen("trader", "order-cancel", ({ spotId }) => `/strategies/${spotId}/orders`),
    async open(page) {
      await page
        .getByRole("button", { name: /^Cancel: / })
        .first()
        .click();
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    ...screen("trader", "request-refused", ({ spotId }) => `/strategies/${spotId}/requests`),
    async open(page) {
      await page.getByRole("row").filter({ hasText: "-2015" }).getByRole("link").first().click();
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    ...screen("trader", "strategy-close", ({ spotId }) => `/strategies/${spotId}/settings`),
    async open(page) {
      await page.getByRole("button", { name: "Show what closing does" }).click();
      await page.getByRole("button", { name: "Close the strategy" }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
  screen("trader", "not-found", "/keys/nowhere"),

  screen("operator", "operator-identity", "/operator/identity"),
  screen("operator", "operator-identity-decided", "/operator/identity?status=REJECTED"),
  screen("operator", "operator-form", ({ pendingFormId }) => `/operator/identity/${pendingFormId}`),
  {
    ...screen("operator", "operator-reject", ({ pendingFormId }) => `/operator/identity/${pendingFormId}`),
    async open(page) {
      await page.getByRole("button", { name: "Reject" }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
  screen("operator", "operator-form-decided", ({ rejectedFormId }) => `/operator/identity/${rejectedFormId}`),
  screen("operator", "operator-people", "/operator/people"),
  screen("operator", "operator-person", ({ personId }) => `/operator/people/${personId}`),
  {
    ...screen("operator", "operator-lock", ({ personId }) => `/operator/people/${personId}`),
    async open(page) {
      await page.getByRole("button", { name: "Lock…", exact: true }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    ...screen("operator", "operator-close", ({ personId }) => `/operator/people/${personId}`),
    async open(page) {
      await page.getByRole("button", { name: "Close the account…" }).click();
      await page.getByRole("dialog").waitFor();
    },
  },
  screen("operator", "operator-health", "/operator/health"),
  screen("operator", "operator-defenses", "/operator/security"),
  { ...screen("operator", "operator-traffic", "/operator/traffic"), shows: "canvas" },
  screen("operator", "operator-fidelity", "/operator/fidelity"),
  screen("operator", "operator-audit", "/operator/audit"),

  ...COPY_SCREENS,
];

/** Opens a screen in its person's window, and resolves when all of it is loaded. */
export async function show(
  { clients, places }: World,
  { who, path, open, shows }: Screen,
  size: Size = DESKTOP,
): Promise<Page> {
  const { page } = clients[who];
  await page.setViewportSize(size);
  await page.goto(path(places));
  await settled(page);
  if (open !== undefined) {
    await open(page, places);
    await settled(page);
  }
  if (shows !== undefined) await page.locator(shows).first().waitFor({ state: "attached" });
  return page;
}
