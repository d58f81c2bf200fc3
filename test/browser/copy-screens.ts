// The screens of copying: of a person before the first copy, of a copier, of the trader, and of an operator.
import type { Page } from "playwright-core";
import { dialogBy, type Screen, screen } from "./screen.ts";
import type { Places } from "./world.ts";

const copy = ({ copyId }: Places): string => `/copies/${copyId}`;

export const COPY_SCREENS: readonly Screen[] = [
  { ...screen("newcomer", "copying-not-offered", "/copying"), open: withoutVenues },
  screen("copier", "copying", "/copying"),
  screen("copier", "copying-accounts-empty", "/copying/accounts"),

  screen("starter", "welcome-copier", "/welcome"),
  screen("starter", "copying-first", "/copying"),
  {
    ...screen("starter", "copying-connect", "/copying/accounts"),
    open: dialogBy("Connect an account"),
  },
  { ...screen("starter", "copying-check", "/copying/accounts"), open: dialogBy("Check My account") },
  {
    ...screen("starter", "copying-disconnect", "/copying/accounts"),
    open: dialogBy("Disconnect My account"),
  },
  screen("starter", "copying-strategies", "/copying/strategies"),
  {
    ...screen("starter", "copying-offer", ({ spotId }) => `/copying/strategies/${spotId}`),
    shows: "canvas",
  },
  {
    ...screen("starter", "copying-preview", ({ spotId }) => `/copying/strategies/${spotId}`),
    open: previewSkips,
  },
  screen("starter", "copying-no-account", ({ futuresId }) => `/copying/strategies/${futuresId}`),
  {
    ...screen("starter", "copying-start", ({ spotId }) => `/copying/strategies/${spotId}`),
    open: dialogBy("Start copying"),
  },

  screen("follower", "copies", "/copying"),
  screen("follower", "copying-accounts", "/copying/accounts"),
  screen("follower", "copy-overview", copy),
  screen("follower", "copy-paused", ({ pausedCopyId }) => `/copies/${pausedCopyId}`),
  { ...screen("follower", "copy-stop", copy), open: dialogBy("Stop…") },
  { ...screen("follower", "copy-halt", copy), open: dialogBy("Halt everything") },
  screen("follower", "copy-log", (places) => `${copy(places)}/log`),
  {
    ...screen("follower", "copy-entry", (places) => `${copy(places)}/log`),
    open: (page, { filledEntryId }) => openLine(page, filledEntryId),
  },
  {
    ...screen("follower", "copy-skipped", (places) => `${copy(places)}/log`),
    open: (page, { skippedEntryId }) => openLine(page, skippedEntryId),
  },
  screen("follower", "copy-drift", (places) => `${copy(places)}/drift`),
  { ...screen("follower", "copy-repair", (places) => `${copy(places)}/drift`), open: dialogBy("Repair…") },
  screen("follower", "copy-settings", (places) => `${copy(places)}/settings`),

  screen("trader", "unused-copiers", ({ unusedId }) => `/strategies/${unusedId}/copiers`),
  {
    ...screen("trader", "copiers-close", ({ spotId }) => `/strategies/${spotId}/copiers`),
    open: dialogBy("Close to new copiers…"),
  },

  screen("operator", "operator-copying", "/operator/copying"),
  { ...screen("operator", "operator-switch", "/operator/copying"), open: dialogBy("Set a kill switch") },
];

/** A line of the mirror log in full. */
async function openLine(page: Page, entryId: number): Promise<void> {
  await page.getByRole("link", { name: new RegExp(`line ${entryId}$`) }).click();
  await page.getByRole("dialog").waitFor();
}

/** With so small a share that some orders are too small. */
async function previewSkips(page: Page): Promise<void> {
  await page.getByLabel("Share of the balance", { exact: true }).fill("60");
  const preview = page
    .getByRole("table", { name: "Preview" })
    .or(page.getByRole("list", { name: "Preview" }));
  await preview.getByText("Skipped").first().scrollIntoViewIfNeeded();
}

/** As where the operator allows no exchange. */
async function withoutVenues(page: Page): Promise<void> {
  const venues = "**/dashboard/api/copying/venues";
  await page.route(venues, (route) => route.fulfill({ json: { rows: [] } }));
  await page.reload();
  await page.getByText("Copying is not offered here.").waitFor();
  await page.unroute(venues);
}
