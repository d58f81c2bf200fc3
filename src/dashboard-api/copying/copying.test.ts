// A futures account's key, of which only the spot of the same operator tells what it may do.
import { expect, test } from "vitest";
import { createManualTime } from "../../concurrency/testing/manual-time.ts";
import type { AccountCheck, KeyRights, Venue, VenueAnswer } from "../../copy/venue/venue.ts";
import type { StrategyType } from "../../domain/account.ts";
import type { MasterKey } from "../../keys/master-key.ts";
import { ZERO } from "../../money/decimal.ts";
import { Copying } from "./copying.ts";

const FUTURES = "https://fapi.example.com";
const SPOT = "https://api.example.com";
const FOUND: AccountCheck = {
  balances: { wallet: ZERO, available: ZERO, held: new Map(), locked: new Map() },
  canTrade: true,
  canWithdraw: null,
  isHedgeMode: false,
};

/** The result of a futures account's check if spot answers this, and the requests that it sent. */
async function checked(allowed: readonly string[], told: VenueAnswer<KeyRights>) {
  const time = createManualTime();
  const asked: string[] = [];
  const venue = (origin: string, type: StrategyType) => ({
    account: () => ({
      async check() {
        asked.push(`${origin} ${type} check`);
        return { kind: "OK", value: FOUND } as const;
      },
      async keyRights(of: StrategyType) {
        asked.push(`${origin} ${type} rights of ${of}`);
        return told;
      },
    }),
  });
  const copying = new Copying({
    allowed,
    venues: { venue: (...of) => venue(...of) as unknown as Venue, close: async () => undefined },
    master: {} as MasterKey,
    wallNow: time.now,
    after: time.after,
  });
  const place = { accountId: "account", type: "FUTURES", venue: FUTURES } as const;
  const answer = await copying.check("person", place, { apiKey: "key", apiSecret: "secret" });
  await copying.close();
  return { answer, asked };
}

const WITHDRAWS = { kind: "OK", value: { mayTrade: true, mayWithdraw: true } } as const;

test("is asked for there, if copiers may connect to it", async () => {
  const { answer, asked } = await checked([SPOT, FUTURES], WITHDRAWS);
  expect(answer).toMatchObject({ kind: "OK", value: { canTrade: true, canWithdraw: true } });
  expect(asked).toEqual([`${FUTURES} FUTURES check`, `${SPOT} SPOT rights of FUTURES`]);
});

test("is not sent to an exchange that the operator has not named", async () => {
  const { answer, asked } = await checked([FUTURES, "https://api.example.org"], WITHDRAWS);
  expect(answer).toMatchObject({ kind: "OK", value: { canWithdraw: null } });
  expect(asked).toEqual([`${FUTURES} FUTURES check`]);
});

test("without futures permission may not trade; nothing is reported of one that spot refuses; silence is no answer", async () => {
  const noFutures = { kind: "OK", value: { mayTrade: false, mayWithdraw: false } } as const;
  expect((await checked([SPOT, FUTURES], noFutures)).answer).toMatchObject({
    value: { canTrade: false, canWithdraw: false },
  });
  const refused = { kind: "REJECTED", code: -2015, message: "Invalid API-key" } as const;
  expect((await checked([SPOT, FUTURES], refused)).answer).toEqual({ kind: "OK", value: FOUND });
  const silent = { kind: "UNKNOWN", reason: "cut off" } as const;
  expect((await checked([SPOT, FUTURES], silent)).answer).toEqual(silent);
});
