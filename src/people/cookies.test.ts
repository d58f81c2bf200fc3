// The names of cookies include scheme and port of the server, so that two servers on one host share none.
import { expect, test } from "vitest";
import { Cookies } from "./cookies.ts";

test.each([
  ["http://127.0.0.1:8080", "lyrebird-8080", "lyrebird-device-8080"],
  ["http://127.0.0.1:8081", "lyrebird-8081", "lyrebird-device-8081"],
  ["http://lyrebird.example", "lyrebird", "lyrebird-device"],
  ["https://127.0.0.1:8443", "__Host-lyrebird-8443", "__Host-lyrebird-device-8443"],
  // The address of a proxy counts, not the server's own port.
  ["https://lyrebird.example/", "__Host-lyrebird", "__Host-lyrebird-device"],
  ["https://lyrebird.example:443/", "__Host-lyrebird", "__Host-lyrebird-device"],
])("at %s they are %s and %s", (publicUrl, session, device) => {
  const cookies = new Cookies(() => publicUrl);
  expect(cookies.set("lyrebird", "value")).toMatch(new RegExp(`^${session}=value; Path=/;`));
  expect(cookies.set("lyrebird-device", "value")).toMatch(new RegExp(`^${device}=value; Path=/;`));
  expect(cookies.clear("lyrebird")).toMatch(new RegExp(`^${session}=; Path=/; Max-Age=0;`));
  expect(cookies.read("lyrebird", `other=1; ${session}=value`)).toBe("value");
  expect(cookies.read("lyrebird-device", `${session}=value`)).toBe(null);
});

test("a server reads nothing that another at its host has set", () => {
  const [one, other] = [
    new Cookies(() => "http://127.0.0.1:808"),
    new Cookies(() => "http://127.0.0.1:8080"),
  ];
  const [pair = ""] = other.set("lyrebird", "value").split(";");
  expect(other.read("lyrebird", pair)).toBe("value");
  expect(one.read("lyrebird", pair)).toBe(null);
});
