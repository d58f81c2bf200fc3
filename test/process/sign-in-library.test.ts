// What the sign-in library would do by settings of its own in the environment, it does not do here.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Browser } from "../support/dashboard-client.ts";
import { startGateway } from "../support/gateway.ts";

test("the library's telemetry stays off, whatever the environment says", async () => {
  const asked: string[] = [];
  const collector = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.end();
  }).listen(0, "127.0.0.1");
  await once(collector, "listening");
  onTestFinished(() => void collector.close());
  const gateway = await startGateway({
    env: {
      // As in production: in tests the library keeps its telemetry off by itself.
      NODE_ENV: "production",
      TEST: "",
      BETTER_AUTH_TELEMETRY: "1",
      BETTER_AUTH_TELEMETRY_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}/`,
      // This one would replace the secret that it is given, and here keep it from starting.
      BETTER_AUTH_SECRETS: "not a list of secrets",
    },
  });
  onTestFinished(() => gateway.kill());
  const browser = new Browser(gateway.url, { wallNow: Date.now, pass: () => {} });
  const body = { email: "nobody@example.org", password: "not the password" };
  // The first of them has the library loaded, which is when it would tell of itself.
  for (let times = 0; times < 3; times += 1) {
    expect((await browser.call("POST", "/session", { body })).status).toBe(401);
  }
  await gateway.stop();
  expect(asked).toEqual([]);
});
