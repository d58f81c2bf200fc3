// A person without an approved identity may end what runs at exchanges, and begin or resume nothing: of
// copies, of accounts and of a strategy that others copy.
import { afterAll, beforeAll, expect, test } from "vitest";
import { auditedAs, copyOf, venueAccountOf } from "../../../src/store/contract/copying/records.ts";
import { newLead, newOffer, newVenueKey } from "../../support/dashboard/copying-world.ts";
import { type DashboardFixture, openDashboardFixture } from "../../support/dashboard/fixture.ts";
import { stayOnLoopback } from "../../support/servers/loopback-only.ts";

stayOnLoopback();

let fixture: DashboardFixture;
beforeAll(async () => {
  fixture = await openDashboardFixture();
});
afterAll(() => fixture.close());

const REASON = { reason: "Not what was agreed" };
const SETTINGS = { share: "1", maxPerOrder: null, stopLoss: null };
const NEEDED = { status: 403, body: { error: { code: "KYC_NEEDED" } } };

test("a copier pauses, halts, stops and disconnects", async () => {
  const copier = await fixture.somebody({ profile: "COPIER", kyc: "REJECTED" });
  const { personId } = copier;
  const { copying } = fixture.gateway.store;
  const strategyId = await newOffer(fixture);
  const account = venueAccountOf(personId, { venue: fixture.url });
  await copying.connectAccount(account, auditedAs("VENUE_ACCOUNT_CONNECTED", personId), { liveMax: 1 });
  const made = copyOf(personId, strategyId);
  expect(await copying.createCopy(made, auditedAs("COPY_STARTED", personId))).toBe("CREATED");
  const path = `/copies/${made.copyId}`;
  const place = `/copying/accounts/${account.accountId}`;

  expect(await copier.send("POST", `${path}/halt`, REASON)).toMatchObject({ halted: { isOwn: true } });
  expect(await copier.call("DELETE", `${path}/halt`)).toMatchObject(NEEDED);
  expect(await copier.send("POST", `${path}/pause`)).toMatchObject({ status: "PAUSED" });
  const keys = await newVenueKey(fixture, "SPOT");
  const begun = [
    await copier.call("POST", `${path}/resume`),
    await copier.call("POST", `${path}/repair`, { body: { mayIncrease: false } }),
    await copier.call("PUT", `${path}/settings`, { body: SETTINGS }),
    await copier.call("PUT", `${place}/credentials`, { body: { ...keys, code: "000000" } }),
    await copier.call("POST", "/copies", {
      body: { strategyId, accountId: account.accountId, settings: SETTINGS },
    }),
  ];
  for (const answer of begun) expect(answer).toMatchObject(NEEDED);
  const closing = await copier.send("POST", `${path}/stop`, { closesAll: true });
  expect(closing).toMatchObject({ status: "CLOSING" });
  expect(await copier.send("POST", `${path}/stop`, { closesAll: false })).toMatchObject({
    status: "STOPPED",
  });
  const ended = await copier.send("DELETE", place, { code: copier.code() });
  expect(ended).toMatchObject({ status: "DISCONNECTED" });
});

test("a trader halts the copies of a strategy, and neither resumes them nor opens it to others", async () => {
  const trader = await fixture.somebody({ kyc: "REJECTED" });
  const { strategyId } = await newLead(fixture, "SPOT", trader.personId);
  const path = `/strategies/${strategyId}/copying`;
  expect(await trader.send("POST", `${path}/halt`, REASON)).toMatchObject({ halted: { isOwn: true } });
  expect(await trader.call("DELETE", `${path}/halt`)).toMatchObject(NEEDED);
  expect(await trader.call("PUT", path, { body: { isOpen: true } })).toMatchObject(NEEDED);
});
