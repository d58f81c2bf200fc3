import { expect, test } from "vitest";
import { type CopierReport, REPORT_AGE_MS_MAX } from "../../domain/venue-report.ts";
import { reportsToShow } from "./venue-reports.ts";
import { failureWords } from "./venue-words.ts";

const NOW = 1_795_228_304_525;

const reportOf = (copier: string, ageMs: number): CopierReport => ({ copier, at: NOW - ageMs, venues: [] });
const shown = (...reports: readonly CopierReport[]) =>
  reportsToShow(reports, NOW).map(({ copier }) => copier);

test("copiers that were heard of lately are shown, and others only if there is none", () => {
  const fresh = reportOf("fresh", REPORT_AGE_MS_MAX);
  const silent = reportOf("silent", REPORT_AGE_MS_MAX + 1);
  // Another machine's clock may be ahead.
  const ahead = reportOf("ahead", -500);
  expect(shown(ahead, fresh, silent)).toEqual(["ahead", "fresh"]);
  expect(shown(silent)).toEqual(["silent"]);
  expect(shown()).toEqual([]);
});

test("what is wrong with a certificate is said in words, and anything else as it is, short and in one line", () => {
  expect(failureWords("DEPTH_ZERO_SELF_SIGNED_CERT")).toBe(
    "its certificate is not signed by an authority that this server trusts (DEPTH_ZERO_SELF_SIGNED_CERT)",
  );
  expect(failureWords("CERT_HAS_EXPIRED")).toBe("its certificate has expired (CERT_HAS_EXPIRED)");
  expect(failureWords("ECONNREFUSED")).toBe("ECONNREFUSED");
  expect(failureWords(`it answered 502: a\n\u0007b${"c".repeat(999)}`)).toMatch(
    /^it answered 502: a bc{100,140}$/,
  );
});
