// Owners get mail about their keys. Without a mail server the mail is a line of the log.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DashboardStage, openDashboardStage } from "../../../test/support/dashboard-stage.ts";

let stage: DashboardStage;
beforeAll(async () => {
  stage = await openDashboardStage();
});
afterAll(() => stage.close());

test("whoever has a key created or revoked is told, once, and not of the key itself", async () => {
  const trader = await stage.somebody({});
  const told = () =>
    stage
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
  for (const own of [label, key.apiKey, apiSecret]) expect(stage.logged()).not.toContain(own);
});
