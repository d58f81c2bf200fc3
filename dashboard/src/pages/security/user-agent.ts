// What a browser says of itself, in the words of its user: "Firefox on Linux". It is a hint for recognising
// one's own sessions and no more, since every browser may say what it likes.

/** The first that is found counts: most browsers also claim to be their forebears. */
const BROWSERS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["Edge", /\bEdgA?\//],
  ["Opera", /\bOPR\//],
  ["Samsung Internet", /\bSamsungBrowser\//],
  ["Firefox", /\b(?:Firefox|FxiOS)\//],
  ["Chromium", /\b(?:HeadlessChrome|Chromium)\//],
  ["Chrome", /\b(?:Chrome|CriOS)\//],
  ["Safari", /\bSafari\//],
];
const SYSTEMS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ["iPhone", /\biPhone\b/],
  ["iPad", /\biPad\b/],
  ["Android", /\bAndroid\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMac OS X\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Linux", /\bLinux\b/],
];
const CUT_AT = 60;

export function browserInWords(userAgent: string): string {
  const browser = nameIn(BROWSERS, userAgent);
  const system = nameIn(SYSTEMS, userAgent);
  if (browser !== null) return system === null ? browser : `${browser} on ${system}`;
  if (userAgent === "") return "Unknown client";
  return userAgent.length > CUT_AT ? `${userAgent.slice(0, CUT_AT)}…` : userAgent;
}

function nameIn(table: typeof BROWSERS, userAgent: string): string | null {
  return table.find(([, pattern]) => pattern.test(userAgent))?.[0] ?? null;
}
