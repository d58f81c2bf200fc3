// The faulty network between copier and venue: some requests never arrive, others arrive but lose their
// answer.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { seededRandom } from "../../support/random.ts";
import { type FaultyWay, openFaultyWay } from "./faulty-way.ts";

const REQUESTS = 200;
const PLACEMENT = "/api/v3/order?newClientOrderId=";
const closes: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closes.splice(0)) await close();
});

/** A venue that takes everything, and a way to it. */
async function open(draw: () => number): Promise<{ way: FaultyWay; taken: string[] }> {
  const taken: string[] = [];
  const server = createServer((request, response) => {
    taken.push(request.url ?? "");
    response.writeHead(200, { "content-length": 2 }).end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const way = await openFaultyWay(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, draw);
  closes.push(async () => {
    await way.close();
    server.closeAllConnections();
    server.close();
  });
  return { way, taken };
}

/** The status of the answer; null if there was none. */
async function place(url: string, id: number): Promise<number | null> {
  const headers = { "x-mbx-apikey": "a key" };
  const answer = await fetch(`${url}${PLACEMENT}${id}`, { method: "POST", headers }).catch(() => null);
  return answer?.status ?? null;
}

test("an executed request is counted, whatever answer its sender received", async () => {
  // Of the fates that are drawn none waits for longer than a moment.
  const drawn = seededRandom(1);
  const quick = [0.01, 0.1, 0.14, 0.215, 0.24, 0.2645, 0.2654, 0.9];
  const { way, taken } = await open(() => quick[Math.floor(drawn() * quick.length)] ?? 0.9);
  const statuses = await Promise.all(Array.from({ length: REQUESTS }, (_, id) => place(way.url, id)));
  const { fates, accepted } = way;
  const arrived = fates.PASSED + fates.HELD + fates.CUT_AFTER + fates.FAULT_AFTER;
  expect(taken.length).toBe(arrived);
  expect(accepted.size).toBe(arrived);
  const count = (status: number | null) => statuses.filter((each) => each === status).length;
  expect(count(200)).toBe(fates.PASSED + fates.HELD);
  expect(count(null)).toBe(fates.CUT_BEFORE + fates.CUT_AFTER);
  expect(count(503)).toBe(fates.FAULT_BEFORE + fates.FAULT_AFTER);
  expect(count(429)).toBe(fates.LIMITED);
  expect(count(418)).toBe(fates.BANNED);
  for (const fate of ["CUT_BEFORE", "CUT_AFTER", "FAULT_AFTER", "LIMITED", "BANNED"] as const) {
    expect(fates[fate], fate).toBeGreaterThan(0);
  }
});

test("a placement that comes twice is seen", async () => {
  const { way } = await open(() => 0.99);
  await place(way.url, 1);
  await place(way.url, 1);
  expect(way.accepted.get("1")).toBe(2);
});
