// When browsers receive HSTS.
import { expect, test } from "vitest";
import { isReachedSecurely, securityHeaders } from "./transport-security.ts";

const OF_ALL = {
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
};
const tls = { certFile: "cert.pem", keyFile: "key.pem" };

test.each([
  [{ publicUrl: null, tls: null }, false],
  [{ publicUrl: null, tls }, true],
  [{ publicUrl: "https://lyrebird.example", tls: null }, true],
  [{ publicUrl: "https://lyrebird.example", tls }, true],
  // Clients use the address that they are given, and may have no other way.
  [{ publicUrl: "http://lyrebird.example", tls }, false],
])("by how the service is configured: %j", (config, isSecure) => {
  expect(isReachedSecurely(config)).toBe(isSecure);
  expect("strict-transport-security" in securityHeaders(isReachedSecurely(config), "lyrebird.example")).toBe(
    isSecure,
  );
});

test("not at localhost, where other services may speak HTTP at other ports", () => {
  for (const host of ["localhost", "LOCALHOST:8443"]) expect(securityHeaders(true, host)).toEqual(OF_ALL);
  for (const host of ["localhost.example", undefined, "127.0.0.1:8443"]) {
    expect(securityHeaders(true, host)).toEqual({
      ...OF_ALL,
      "strict-transport-security": "max-age=31536000; includeSubDomains",
    });
  }
});
