// Dark or light: what the person chose, or what the system says. public/theme.js does the same before
// anything is painted; the name in storage is in both.
import { useSyncExternalStore } from "react";
import { createListeners } from "./listeners.ts";

const STORAGE_NAME = "lyrebird.theme";

export const THEME_CHOICES = ["system", "light", "dark"] as const;
export type ThemeChoice = (typeof THEME_CHOICES)[number];

const systemDark = window.matchMedia("(prefers-color-scheme: dark)");
const { subscribe, notify } = createListeners();
let choice: ThemeChoice = stored();
/**
 * What the system says, by its events. Chromium gives no event for a change that `systemDark.matches` was
 * read after, so it is read once: charts ask with every price.
 */
let isSystemDark = systemDark.matches;

systemDark.addEventListener("change", ({ matches }) => {
  isSystemDark = matches;
  apply();
});

export function useThemeChoice(): ThemeChoice {
  return useSyncExternalStore(subscribe, () => choice);
}

/** Whether it is dark now; for charts, which have their colors in JavaScript. */
export function useIsDark(): boolean {
  return useSyncExternalStore(subscribe, isDark);
}

export function chooseTheme(chosen: ThemeChoice): void {
  choice = chosen;
  try {
    localStorage.setItem(STORAGE_NAME, chosen);
  } catch {
    // Storage may be forbidden; then the choice lasts as long as the page.
  }
  apply();
}

function apply(): void {
  document.documentElement.classList.toggle("dark", isDark());
  notify();
}

function isDark(): boolean {
  return choice === "dark" || (choice === "system" && isSystemDark);
}

function stored(): ThemeChoice {
  try {
    const name = localStorage.getItem(STORAGE_NAME);
    return THEME_CHOICES.find((each) => each === name) ?? "system";
  } catch {
    return "system";
  }
}
