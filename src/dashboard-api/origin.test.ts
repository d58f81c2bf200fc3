// Which origins are the dashboard's own, by how the server is configured.
import { expect, test } from "vitest";
import { isOfAnotherSite, isOwnOrigin, ownOrigins } from "./origin.ts";

const PLAIN = { publicUrl: null, host: "127.0.0.1", tls: null };
const TLS = { certFile: "cert.pem", keyFile: "key.pem" };

test.each([
  [PLAIN, 8080, ["http://localhost:8080", "http://127.0.0.1:8080", "http://[::1]:8080"]],
  [{ ...PLAIN, host: "::1" }, 80, ["http://localhost", "http://127.0.0.1", "http://[::1]"]],
  [
    { ...PLAIN, host: "Bots.Example", tls: TLS },
    443,
    ["https://localhost", "https://127.0.0.1", "https://[::1]", "https://bots.example"],
  ],
  [{ ...PLAIN, publicUrl: "https://Lyrebird.example:443/here" }, 8080, ["https://lyrebird.example"]],
])("%j on port %i is %j", (config, port, origins) => {
  expect([...ownOrigins(config, port)]).toEqual(origins);
});

test("a browser that says nothing, or null, is of no site", () => {
  const own = ownOrigins(PLAIN, 8080);
  for (const origin of [
    undefined,
    "",
    "null",
    "http://localhost",
    "http://localhost:8080/",
    "HTTP://LOCALHOST:8080",
  ]) {
    expect(isOwnOrigin(origin, own), origin).toBe(false);
  }
  expect(isOwnOrigin("http://localhost:8080", own)).toBe(true);
});

test("a browser says by two headers that another site's page asks; one that says neither is believed", () => {
  const own = ownOrigins(PLAIN, 8080);
  const origin = "http://localhost:8080";
  for (const headers of [
    {},
    { origin },
    { "sec-fetch-site": "same-origin" },
    { origin, "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "none" },
  ]) {
    expect(isOfAnotherSite(headers, own), JSON.stringify(headers)).toBe(false);
  }
  for (const headers of [
    { origin: "null" },
    { origin: "https://evil.example", "sec-fetch-site": "same-origin" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "a value of the future" },
    { origin, "sec-fetch-site": "cross-site" },
  ]) {
    expect(isOfAnotherSite(headers, own), JSON.stringify(headers)).toBe(true);
  }
});
