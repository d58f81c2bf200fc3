import { expect, test } from "vitest";
import { secretFile, secretFileName } from "./secret-file.ts";

const PARTS = {
  label: "BTC grid",
  apiKey: "lyre_bot_1",
  apiSecret: "s3cret",
  publicUrl: "http://127.0.0.1:8080",
  createdAt: Date.UTC(2026, 0, 2, 3, 4, 5),
};

test("holds address, key and secret by name", () => {
  expect(
    secretFile(PARTS),
  ).toBe(`# Lyrebird API key "BTC grid", created 2026-01-02T03:04:05.000Z. Keep it secret.
LYREBIRD_URL=http://127.0.0.1:8080
LYREBIRD_API_KEY=lyre_bot_1
LYREBIRD_API_SECRET=s3cret
`);
});

test("a label of several lines adds no line to the file", () => {
  const lines = secretFile({ ...PARTS, label: "a\nLYREBIRD_URL=http://elsewhere.example" }).split("\n");
  expect(lines.filter((line) => line.startsWith("LYREBIRD_URL="))).toEqual([
    "LYREBIRD_URL=http://127.0.0.1:8080",
  ]);
});

test.each([
  ["BTC grid #1", "lyrebird-btc-grid-1.env"],
  ["../../etc/passwd", "lyrebird-etc-passwd.env"],
  ["格子", "lyrebird-key.env"],
])("%s is kept in %s", (label, name) => {
  expect(secretFileName(label)).toBe(name);
});
