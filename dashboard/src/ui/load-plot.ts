// Loads the library that paints the curves. It makes a number format of the browser's language as soon as it is loaded, which
// fails where the environment gives the browser a language that its own formats refuse; so ours stands in for it meanwhile.
import type Plot from "uplot";
import { LOCALE } from "./time.tsx";

export async function loadPlot(): Promise<typeof Plot> {
  Object.defineProperty(navigator, "language", { value: LOCALE, configurable: true });
  try {
    return (await import("uplot")).default;
  } finally {
    Reflect.deleteProperty(navigator, "language");
  }
}
