// `lyrebird prune`: strategies that were closed long ago leave the database of a running server, into a file.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { linesOf } from "../../src/store/backup/testing/lines.ts";
import { priced } from "../support/prices.ts";
import {
  type Credentials,
  type GatewayProcess,
  newDirectory,
  runNode,
  startGateway,
} from "../support/servers/gateway.ts";
import { signed } from "../support/signed-client.ts";

let gateway: GatewayProcess;
let closed: Credentials;
let live: Credentials;

beforeAll(async () => {
  gateway = await startGateway();
  [closed, live] = [gateway.seed(), gateway.seed()];
  for (const trader of [closed, live]) {
    const order = { symbol: "BTCUSDT", side: "BUY", type: "MARKET", quoteOrderQty: "50" };
    const place = () => signed(gateway.url, trader, "POST", "/api/v3/order", order);
    expect(await priced(place)).toMatchObject({ status: 200 });
  }
  expect(await signed(gateway.url, closed, "POST", "/api/v3/platform/strategy/close")).toMatchObject({
    status: 200,
  });
  const database = new DatabaseSync(join(gateway.dataDir, "lyrebird.sqlite"), { timeout: 5_000 });
  database.exec(
    `UPDATE journal SET at = at - ${400 * 86_400_000} WHERE strategy_id = '${closed.strategyId}'`,
  );
  database.close();
});
afterAll(() => gateway.kill());

const lyrebird = (...args: string[]) => runNode(["src/cli.ts", ...args, "--data", gateway.dataDir]);

test("what a key reads stays, and unreadable data is listed, moved and audited, beside the server", async () => {
  expect(lyrebird("prune", "--json")).toMatchObject({ status: 0, stdout: "" });
  expect(lyrebird("keys", "revoke", closed.apiKey)).toMatchObject({ status: 0 });
  expect(lyrebird("prune", "--older-than", "401", "--json")).toMatchObject({ status: 0, stdout: "" });
  const listed = lyrebird("prune", "--json");
  expect(listed.stdout.trimEnd().split("\n")).toHaveLength(1);
  expect(JSON.parse(listed.stdout)).toMatchObject({ strategyId: closed.strategyId, type: "SPOT" });
  expect(lyrebird("prune").stdout).toMatch(/^STRATEGY .*\n.*\bspot\b/);

  const file = join(newDirectory(), "closed.backup");
  const pruned = lyrebird("prune", file, "--yes");
  expect(pruned).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/1 strategy, .* rows are removed$/m),
  });
  const exported = linesOf(file).join("\n");
  expect(exported).toContain(closed.strategyId);
  expect(exported).not.toContain(live.strategyId);
  expect(lyrebird("prune", file, "--yes").stdout).toContain("nothing is done");

  expect(await signed(gateway.url, live, "GET", "/api/v3/account")).toMatchObject({ status: 200 });
  expect(await signed(gateway.url, closed, "GET", "/api/v3/account")).toMatchObject({ status: 401 });
  const [record] = lyrebird("audit", "--json").stdout.trimEnd().split("\n").reverse();
  expect(JSON.parse(record ?? "")).toMatchObject({ what: "STRATEGY_ARCHIVED" });

  const restored = join(newDirectory(), "restored");
  const back = runNode(["src/cli.ts", "restore", file, "--data", restored]);
  expect(back).toMatchObject({ status: 0, stdout: expect.stringContaining("restored") });
});

test.each([
  [["prune", "--yes"], /takes the name of one file/],
  [["prune", "one", "two"], /takes the name of one file/],
  [["prune", "--older-than", "0"], /a number of days, from 1 to/],
  [["prune", "--older-than", "soon"], /a number of days, from 1 to/],
])("called wrongly, as in %j, it says how", (args, why) => {
  expect(lyrebird(...args)).toMatchObject({ status: 2, stderr: expect.stringMatching(why) });
});
