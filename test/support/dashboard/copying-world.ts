// Copiers on a fixture whose own server is the venue: strategies that may be followed, accounts there, and
// copies. What a copier would send is sent; nobody works at the copies, so that their logs are what a test
// writes.
import { LeadJournal } from "../../../src/copy/leads/leads.ts";
import type { StrategyType } from "../../../src/domain/account.ts";
import type { CopyBook, MirrorEntry } from "../../../src/domain/copying.ts";
import { type SeededStrategy, seedStrategies } from "../../../src/keys/seed.ts";
import { type Amount, decimal } from "../../../src/money/decimal.ts";
import type { CopyProgress } from "../../../src/store/ports/copies.ts";
import type { Browser } from "./client.ts";
import type { DashboardFixture } from "./fixture.ts";

/** In whose name a test works at copies. */
const HOLDER = "a test";

/** The key of an account at the venue that has just its seed. */
export async function newVenueKey(fixture: DashboardFixture, type: StrategyType) {
  const { store, master, wallNow } = fixture.gateway;
  const [seeded] = await seedStrategies(store, master, [type], wallNow());
  if (seeded === undefined) throw new Error("an account was made");
  return { apiKey: seeded.apiKey, apiSecret: seeded.apiSecret };
}

/** Connects an account as its owner does. */
export async function connectAccount(
  fixture: DashboardFixture,
  copier: Browser,
  type: StrategyType,
): Promise<{ readonly accountId: string; readonly secret: string }> {
  const keys = await newVenueKey(fixture, type);
  const terms = { family: type, venue: fixture.url, label: `My ${type}`, code: copier.code() };
  const { account } = await copier.send("POST", "/copying/accounts", { ...terms, ...keys });
  return { accountId: account.accountId, secret: keys.apiSecret };
}

/** A strategy that anybody may follow, with its key. */
export async function newLead(
  fixture: DashboardFixture,
  type: StrategyType = "SPOT",
  ownerId: string | null = null,
): Promise<SeededStrategy> {
  const { store, master, wallNow, markets } = fixture.gateway;
  const [seeded] = await seedStrategies(store, master, [type], wallNow(), {
    marketNow: markets[type].now(),
    names: [`On offer (${type})`],
    ownerId,
  });
  if (seeded === undefined) throw new Error("a strategy was made");
  await open(fixture, seeded);
  return seeded;
}

/** The id of a new one. */
export async function newOffer(fixture: DashboardFixture): Promise<string> {
  return (await newLead(fixture)).strategyId;
}

/**
 * So many strategies of a trader that anybody may follow, called "Offer 1" and so on; the first is the
 * oldest.
 */
export async function newOffers(fixture: DashboardFixture, count: number, ownerId: string): Promise<void> {
  const { store, master, wallNow, markets } = fixture.gateway;
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  for (const number of numbers) {
    fixture.pass(1);
    const [seeded] = await seedStrategies(store, master, ["SPOT"], wallNow(), {
      marketNow: markets.SPOT.now(),
      names: [`Offer ${number}`],
      ownerId,
    });
    if (seeded !== undefined) await open(fixture, seeded);
  }
}

async function open({ gateway }: DashboardFixture, { strategyId }: SeededStrategy): Promise<void> {
  const { store, wallNow } = gateway;
  await store.copying.setOpenToCopiers(strategyId, true, {
    who: { kind: "SERVICE" },
    what: "STRATEGY_OPENED_TO_COPIERS",
    about: { kind: "STRATEGY", id: strategyId },
    at: wallNow(),
    details: {},
  });
}

/** Begins a copy as its owner does. */
export async function follow(copier: Browser, strategyId: string, accountId: string): Promise<string> {
  const settings = { share: "1", maxPerOrder: null, stopLoss: "0.2" };
  return (await copier.send("POST", "/copies", { strategyId, accountId, settings })).copyId;
}

/** Turns the events of a strategy into actions, as a copier does. */
export async function catchUp({ gateway }: DashboardFixture, strategyId: string): Promise<void> {
  const { copying } = gateway.store;
  const claimed = await claim(gateway.store.copying, gateway.wallNow());
  const strategy = claimed.find((each) => each.strategyId === strategyId);
  if (strategy === undefined) throw new Error(`nobody can claim ${strategyId}`);
  const step = await new LeadJournal({ store: copying, strategy, holder: HOLDER }).step();
  if (step.kind === "LOST") throw new Error(`the lead is another's: ${strategyId}`);
}

/** Has a lead's next action be of this time, without its strategy: copies have not dealt with it yet. */
export async function actAt({ gateway }: DashboardFixture, strategyId: string, at: number): Promise<void> {
  const { copying } = gateway.store;
  await claim(copying, gateway.wallNow());
  const lead = await copying.findLead(strategyId);
  const strategy = await gateway.store.loadAccount(strategyId);
  if (lead === null || strategy === null) throw new Error(`nobody can follow ${strategyId}`);
  const version = strategy.version + 1;
  const state = { wallet: decimal<Amount>("0"), held: new Map(), lastPrices: new Map(), promised: new Map() };
  const deed = { kind: "SET_LEVERAGE", symbol: "BTCUSDT", leverage: 2 } as const;
  const actions = [{ seq: lead.seq + 1, version, at, lead: state, ...deed }];
  const advance = { ...lead, version, seq: lead.seq + 1, holder: HOLDER, fromVersion: lead.version, actions };
  if (!(await copying.advanceLead(advance))) throw new Error("the lead is another's");
}

/** Writes entries of a copy's log, and its book, as a copier does. */
export async function record(
  { gateway }: DashboardFixture,
  copyId: string,
  {
    entries,
    book = {},
    moves = null,
  }: {
    readonly entries: readonly MirrorEntry[];
    readonly book?: Partial<CopyBook>;
    readonly moves?: CopyProgress["moves"];
  },
): Promise<void> {
  const { copying } = gateway.store;
  await claim(copying, gateway.wallNow());
  const copy = await copying.findCopy(copyId);
  if (copy === null) throw new Error(`there is no copy ${copyId}`);
  const nextEntryId = Math.max(copy.book.nextEntryId, ...entries.map(({ entryId }) => entryId + 1));
  const isWritten = await copying.recordProgress(copy.strategyId, HOLDER, [
    {
      copyId,
      entries,
      book: { ...copy.book, ...book, nextEntryId },
      doneSeq: copy.doneSeq,
      moves,
      finishes: [],
    },
  ]);
  if (!isWritten) throw new Error("the lead is another's");
}

/** One line that says that an order was too small. */
export async function recordLine(fixture: DashboardFixture, copyId: string): Promise<void> {
  const skip = {
    ...({ reason: "BELOW_MIN_QUANTITY", filter: "LOT_SIZE", unit: "BASE", venue: null } as const),
    ...{ wanted: decimal<Amount>("0.00001"), had: decimal<Amount>("0.000004") },
  };
  await record(fixture, copyId, { entries: [{ ...lineOf(copyId, 1), status: "SKIPPED", skip }] });
}

/** A line of a log: an order to buy that was filled as the strategy's was, unless more is said. */
export function lineOf(copyId: string, entryId: number): MirrorEntry {
  return {
    copyId,
    entryId,
    seq: null,
    requestId: null,
    collectiveId: null,
    kind: "PLACE",
    symbol: "BTCUSDT",
    status: "FILLED",
    skip: null,
    side: "BUY",
    orderType: "MARKET",
    leadQuantity: decimal("0.01"),
    leadPrice: decimal("50000"),
    scale: { by: "EQUITY", ours: decimal("500"), theirs: decimal("1000") },
    scaledQuantity: decimal("0.0050004"),
    quantity: decimal("0.005"),
    price: null,
    stopPrice: null,
    clientOrderId: `lyre${entryId}`,
    venueOrderId: String(entryId),
    executedQuantity: decimal("0.005"),
    executedQuote: decimal("250.25"),
    fee: decimal("0.25"),
    leadAt: 1_000,
    sentAt: 1_010,
    acknowledgedAt: 1_050,
    updatedAt: 1_050,
    sends: 1,
    queries: 0,
  };
}

function claim(copying: DashboardFixture["gateway"]["store"]["copying"], now: number) {
  return copying.claimLeads({ holder: HOLDER, now, until: now + 3_600_000, isAlone: true });
}
