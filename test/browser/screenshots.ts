// `npm run screenshots`: pictures of the dashboard, for the documents or, on request, of every screen.
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { keepTemporaryIn, runProgram, say } from "../campaigns/harness/campaign.ts";
import { anyText, flagLines, readFlags } from "../campaigns/harness/flags.ts";
import { Fixture } from "./fixture.ts";
import { livedThrough } from "./past.ts";
import type { Screen } from "./screen.ts";
import { DESKTOP, PHONE, SCREENS, type Size, show } from "./screens.ts";
import { furnish, type World } from "./world.ts";

const IMAGES = join(import.meta.dirname, "../../docs/images");

const FLAGS = {
  all: anyText("DIRECTORY", "every screen, dark and light, at 1280 and at 390 pixels of width, to DIRECTORY"),
  only: anyText("TEXT", "only the screens with this in their name"),
};

const HELP = `Usage: npm run screenshots [-- OPTIONS]

Starts a server with the simulated market, lets a demo trade through three days, and takes pictures of its dashboard in
Chromium. Without options it writes the pictures of the documents to docs/images.

${flagLines(FLAGS)}
CHROMIUM names the browser, if it is not installed where it usually is.
`;

/** Of a picture of the documents, bytes: a checkout has to carry it. */
const IMAGE_BYTES_MAX = 180_000;

type Look = { readonly colorScheme: "dark" | "light"; readonly size: Size };
type Picture = { readonly file: string; readonly screen: string; readonly look: Look };

const DARK: Look = { colorScheme: "dark", size: DESKTOP };
const LIGHT: Look = { colorScheme: "light", size: DESKTOP };
const PHONE_DARK: Look = { ...DARK, size: PHONE };
const PHONE_LIGHT: Look = { ...LIGHT, size: PHONE };
const LOOKS: readonly Look[] = [DARK, LIGHT, PHONE_DARK, PHONE_LIGHT];

/** Those of the documents: the file's name, the screen, and its theme and size. */
const CHOSEN: readonly Picture[] = [
  { file: "overview-dark", screen: "spot-overview", look: DARK },
  { file: "chart-light", screen: "futures-chart", look: LIGHT },
  { file: "sign-up", screen: "sign-up", look: LIGHT },
  { file: "overview-phone", screen: "spot-overview", look: PHONE_LIGHT },
  { file: "requests-phone", screen: "spot-requests", look: PHONE_DARK },
  ...[
    "welcome",
    "identity",
    "security-enabled",
    "keys",
    "key-test",
    "strategies",
    "strategy-ready",
    "futures-chart",
    "spot-orders",
    "futures-positions",
    "spot-depth",
    "spot-trades",
    "spot-signals",
    "request-refused",
    "strategy-close",
    "copying-accounts",
    "copying-strategies",
    "copying-offer",
    "copying-preview",
    "copies",
    "copy-overview",
    "copy-log",
    "copy-entry",
    "copy-skipped",
    "copy-drift",
    "copy-repair",
    "spot-copiers",
    "operator-copying",
    "operator-identity",
    "operator-form",
    "operator-people",
    "operator-person",
    "operator-health",
    "operator-defenses",
    "operator-traffic",
    "operator-fidelity",
    "operator-audit",
  ].map((screen) => ({ file: screen, screen, look: DARK })),
];

keepTemporaryIn("screenshots");
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));
await runProgram("screenshots", main);

async function main(): Promise<number> {
  const flags = readFlags(process.argv.slice(2), FLAGS);
  if (flags === "help") {
    process.stdout.write(HELP);
    return 0;
  }
  const { all, only } = flags;
  const directory = all ?? IMAGES;
  const pictures = (all === null ? CHOSEN : everyPicture()).filter(
    ({ screen }) => only === null || screen.includes(only),
  );
  mkdirSync(directory, { recursive: true });
  const past = await livedThrough(say);
  say("starting a server in the present, and a browser");
  const fixture = await Fixture.open({ past, hasVenue: true });
  try {
    const world = await furnish(fixture);
    let faults = 0;
    for (const screen of SCREENS) {
      const ofScreen = pictures.filter((picture) => picture.screen === screen.name);
      if (ofScreen.length === 0) continue;
      await takeAll(world, { screen, pictures: ofScreen, directory, isBounded: all === null });
      for (const fault of fixture.faults()) {
        faults += 1;
        say(`${screen.name}: ${fault}`);
      }
    }
    say(`${pictures.length} pictures in ${directory}`);
    return faults === 0 ? 0 : 1;
  } finally {
    await fixture.close();
  }
}

function everyPicture(): readonly Picture[] {
  return SCREENS.flatMap(({ name }) =>
    LOOKS.map((look) => ({
      file: `${name}-${look.colorScheme}-${look.size.width}`,
      screen: name,
      look,
    })),
  );
}

type Taken = {
  readonly screen: Screen;
  readonly pictures: readonly Picture[];
  readonly directory: string;
  /** Whether a picture that is too large is reported. */
  readonly isBounded: boolean;
};

async function takeAll(world: World, { screen, pictures, directory, isBounded }: Taken): Promise<void> {
  let page: Page | null = null;
  let shownAt: Size | null = null;
  for (const { file, look } of pictures) {
    if (page === null || look.size !== shownAt) page = await show(world, screen, look.size);
    shownAt = look.size;
    await page.emulateMedia({ colorScheme: look.colorScheme });
    // Charts are painted again in other colors and sizes, at the next frame or the one after.
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    const path = join(directory, `${file}.png`);
    await page.screenshot({ path, animations: "disabled", caret: "hide" });
    const { size } = statSync(path);
    const isLarge = isBounded && size > IMAGE_BYTES_MAX;
    say(`${file}.png, ${Math.round(size / 1_000)} kB${isLarge ? ": too large for the documents" : ""}`);
  }
}
