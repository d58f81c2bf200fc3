// The copies that an order is sent to: accounts at the venue and copies of one strategy, put into the
// database before the server starts, in sets and without the audit.

import { openDataDirectory } from "../../src/config/data-directory.ts";
import { sealCredentials } from "../../src/copy/credentials.ts";
import type { StrategyType } from "../../src/domain/account.ts";
import { type CopySettings, EMPTY_BOOK, EXACT_SETTINGS } from "../../src/domain/copying.ts";
import { seedStrategies } from "../../src/keys/seed.ts";
import { encodeBook, encodeSettings } from "../../src/store/copying/codec.ts";
import { openRows } from "../../test/campaigns/harness/stored-rows.ts";
import type { Place } from "../stores.ts";
import type { Credentials } from "../wire/requests.ts";
import { keyOf, secretOf } from "./terms.ts";

/** Rows of one statement. */
const BATCH = 500;
const SETTINGS: CopySettings = EXACT_SETTINGS;

export type Prepared = {
  /** The strategy that is followed. */
  readonly lead: Credentials;
  /** Strategies without copies. */
  readonly others: readonly Credentials[];
};

/** Makes a strategy with this many copies at a venue, and others without copies. */
export async function prepareCopies(
  place: Place,
  {
    copies,
    others,
    origin,
    type = "SPOT",
  }: {
    readonly copies: number;
    readonly others: number;
    readonly origin: string;
    readonly type?: StrategyType;
  },
): Promise<Prepared> {
  const { store, master } = await openDataDirectory(place.dataDir, null, place.databaseUrl);
  const now = Date.now();
  const types = Array.from({ length: 1 + others }, () => type);
  const [lead, ...rest] = await seedStrategies(store, master, types, now);
  if (lead === undefined) throw new Error("strategies were made");
  const { strategyId } = lead;
  await store.copying.setOpenToCopiers(strategyId, true, {
    ...{ who: { kind: "SERVICE" }, what: "STRATEGY_OPENED_TO_COPIERS", at: now, details: {} },
    about: { kind: "STRATEGY", id: strategyId },
  });
  await store.close();

  const rows = openRows(place);
  try {
    await rows.transaction().execute(async (transaction) => {
      for (let first = 1; first <= copies; first += BATCH) {
        const numbers = Array.from(
          { length: Math.min(BATCH, copies - first + 1) },
          (_, index) => first + index,
        );
        const accounts = numbers.map((number) => {
          const id = `account-${number}`;
          const apiKey = keyOf(number);
          return {
            ...({
              id,
              person_id: `person-${number}`,
              family: type,
              venue: origin,
              label: "bench",
            } as const),
            ...{ key_hint: apiKey, credentials: number },
            ...({ status: "CONNECTED", failure: null, created_at: now, checked_at: now } as const),
            disconnected_at: null,
          };
        });
        await transaction.insertInto("venue_accounts").values(accounts).execute();
        const sealed = numbers.map((number) => {
          const apiKey = keyOf(number);
          const credentials = { apiKey, apiSecret: secretOf(apiKey) };
          return { position: number, sealed: sealCredentials(master, `account-${number}`, credentials) };
        });
        await transaction.insertInto("venue_credentials").values(sealed).execute();
        const made = numbers.map((number) => ({
          ...({ id: `copy-${number}`, person_id: `person-${number}`, strategy_id: strategyId } as const),
          ...({
            account_id: `account-${number}`,
            family: type,
            settings: encodeSettings(SETTINGS),
          } as const),
          ...({ status: "FOLLOWING", reason: null, started_at: now, ended_at: null } as const),
          ...{ from_version: 1, done_seq: 0, revision: 1, book: encodeBook(EMPTY_BOOK) },
        }));
        await transaction.insertInto("copies").values(made).execute();
      }
    });
  } finally {
    await rows.destroy();
  }
  return { lead, others: rest };
}
