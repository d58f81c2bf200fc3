// A screen of the dashboard: its person, its path, and the steps to open it.
import type { Page } from "playwright-core";
import type { Places, RoleName } from "./world.ts";

export type Screen = {
  /** Also the name of its picture. */
  readonly name: string;
  readonly who: RoleName;
  readonly path: (places: Places) => string;
  /** What has to be done there to see it. */
  readonly open?: (page: Page, places: Places) => Promise<unknown>;
  /** What must be there beside its heading before it counts as shown. */
  readonly shows?: string;
};

export function screen(who: RoleName, name: string, path: string | Screen["path"]): Screen {
  return { who, name, path: typeof path === "string" ? () => path : path };
}

/** The dialog that a button of that name opens. */
export function dialogBy(name: string | RegExp): NonNullable<Screen["open"]> {
  return async (page) => {
    await page.getByRole("button", { name }).first().click();
    await page.getByRole("dialog").waitFor();
  };
}
