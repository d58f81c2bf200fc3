// Owners get mail about their keys. Without a mail server the mail is a line of the log.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DashboardFixture, openDashboardFixture } from "../../../test/support/dashboard/fixture.ts";

let fixture: DashboardFixture;
beforeAll(async () => {
  fixture = await openDashboardFixture();
});
afterAll(() => fixture.close());

test("the owner of a key is notified once when it is created or revoked, without the key itself", async () => {
  const trader = await fixture.somebody({});
  const told = () =>
    fixture
      .logged()
      .split("\n")
      .filter((line) => line.includes(trader.email) && line.includes("API key"))
      .map((line) => JSON.parse(line).msg.split(": ").at(-1));
  const created = "An API key was created at Lyrebird";
  await trader.call("POST", "/keys", { body: { label: "wrong code", code: "000000" } });
  expect(told()).toEqual([]);
  const label = "The label of a bot";
  const { key, apiSecret } = await trader.send("POST", "/keys", { label, code: trader.code() });
  expect(told()).toEqual([created]);
  for (let time = 0; time < 2; time += 1) {
    await trader.send("POST", `/keys/${key.keyId}/revoke`, { code: trader.code() });
    expect(told()).toEqual([created, "An API key was revoked at Lyrebird"]);
  }
  for (const own of [label, key.apiKey, apiSecret]) expect(fixture.logged()).not.toContain(own);
});
