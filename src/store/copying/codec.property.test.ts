// Whatever a copy can know of itself, its log can say and a lead can do comes back from its text as it was.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  type CopyBook,
  type CopySettings,
  EXACT_SETTINGS,
  type Holding,
  type LeadAction,
  type LeadCancel,
  type LeadFilled,
  type LeadState,
  MIRROR_KINDS,
  MIRROR_STATUSES,
  type MirrorEntry,
  type OrderIntent,
  SCALES,
  type Scale,
  SKIP_REASONS,
  type Skip,
  type VenueSnapshot,
} from "../../domain/copying.ts";
import { type Amount, type Decimal, decimal, type Rate } from "../../money/decimal.ts";
import {
  decodeAction,
  decodeBook,
  decodeEntry,
  decodeSettings,
  encodeAction,
  encodeBook,
  encodeEntry,
  encodeSettings,
} from "./codec.ts";

/** Twenty integer digits and eight decimals. */
const UNITS_MAX = 10n ** 28n - 1n;
const RUNS = 1_000;

test("what a copy knows of itself", async () => {
  await fc.assert(
    fc.property(BOOKS, (book) => {
      const decoded = decodeBook(encodeBook(book));
      expect(decoded).toEqual(book);
      // Maps are equal whatever their order.
      expect([...decoded.holdings.keys()]).toEqual([...book.holdings.keys()]);
      const held = [decoded, book].map(({ snapshot }) => [...(snapshot?.held.keys() ?? [])]);
      expect(held[0]).toEqual(held[1]);
    }),
    { numRuns: RUNS },
  );
});

test("the settings of a copy", async () => {
  await fc.assert(
    fc.property(SETTINGS, (settings) => {
      expect(decodeSettings(encodeSettings(settings))).toEqual(settings);
    }),
    { numRuns: RUNS },
  );
});

test("settings that were stored before copies had limits follow exactly, and actions promise nothing", () => {
  const { size: _, ...exactly } = EXACT_SETTINGS;
  const stored = '{"share":"0.5","maxPerOrder":"20.5","stopLoss":null}';
  const read = decodeSettings(stored);
  expect(read).toEqual({
    ...{ ...exactly, size: { by: "RATIO" } },
    ...{ share: decimal("0.5"), maxPerOrder: decimal("20.5") },
  });
  const lead = '{"wallet":"1000","held":[["BTC","0.5"]],"lastPrices":[]}';
  const action = decodeAction({ seq: 1, version: 1 }, `{"kind":"CLOSE","at":1,"lead":${lead}}`);
  expect(action.lead.promised).toEqual(new Map());
});

test("a line of a mirror log, with its row's place", async () => {
  await fc.assert(
    fc.property(ENTRIES, (entry) => {
      const { copyId, entryId } = entry;
      expect(decodeEntry({ copyId, entryId }, encodeEntry(entry))).toEqual(entry);
    }),
    { numRuns: RUNS },
  );
});

test("actions of every kind, with their rows' places", async () => {
  await fc.assert(
    fc.property(ACTIONS, (actions) => {
      for (const action of actions) {
        const { seq, version } = action;
        expect(decodeAction({ seq, version }, encodeAction(action))).toEqual(action);
      }
    }),
    { numRuns: RUNS },
  );
});

test("no amount is written as a number", async () => {
  await fc.assert(
    fc.property(BOOKS, ENTRIES, ACTIONS, (book, entry, actions) => {
      const texts = [encodeBook(book), encodeEntry(entry), ...actions.map(encodeAction)];
      for (const text of texts) JSON.parse(text, demandWholeNumbersOfOurs);
    }),
    { numRuns: RUNS },
  );
});

/**
 * Times, places, leverages and what the venue calls an error are numbers; everything else that counts is
 * text.
 */
const NUMBERS = [
  "at",
  "count",
  "nextEntryId",
  "takenSeq",
  "week",
  "day",
  "seq",
  "orderId",
  "legId",
  "leverage",
  "code",
  "leadAt",
  "sentAt",
  "acknowledgedAt",
  "updatedAt",
  "unseenSince",
  "sends",
  "queries",
];
function demandWholeNumbersOfOurs(name: string, value: unknown): unknown {
  if (typeof value === "number") expect(NUMBERS).toContain(name);
  return value;
}

function units<D extends Decimal>(): fc.Arbitrary<D> {
  const values = fc.oneof(
    fc.bigInt({ min: -UNITS_MAX, max: UNITS_MAX }),
    fc.bigInt({ min: -100n, max: 100n }),
  );
  return values as fc.Arbitrary<bigint> as fc.Arbitrary<D>;
}

function mapOf<Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Map<string, Value>> {
  return fc.array(fc.tuple(text, value), { maxLength: 4 }).map((entries) => new Map(entries));
}

const id = fc.nat();
const time = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const text = fc.string({ unit: "grapheme", maxLength: 12 });
const side = fc.constantFrom("BUY" as const, "SELL" as const);
const orderType = fc.constantFrom(
  "MARKET" as const,
  "LIMIT" as const,
  "STOP_LOSS" as const,
  "STOP_LOSS_LIMIT" as const,
);
const legType = fc.constantFrom("STOP_MARKET" as const, "TAKE_PROFIT_MARKET" as const);

const SETTINGS: fc.Arbitrary<CopySettings> = fc.record({
  share: units(),
  maxPerOrder: fc.option(units()),
  stopLoss: fc.option(units()),
  takeProfit: fc.option(units()),
  size: fc.oneof(
    fc.record({ by: fc.constant("RATIO" as const) }),
    fc.record({ by: fc.constant("FIXED_RATIO" as const), ratio: units<Rate>() }),
    fc.record({ by: fc.constant("FIXED_AMOUNT" as const), amount: units<Amount>() }),
  ),
  budget: fc.option(units()),
  leverageMax: fc.option(fc.integer({ min: 1, max: 125 })),
  positionMax: fc.option(units()),
  exposureMax: fc.option(units()),
  ordersPerMinuteMax: fc.option(id),
  lossPerDayMax: fc.option(units()),
  symbols: fc.option(fc.array(text, { maxLength: 3 })),
  slippageMax: fc.option(fc.record({ major: units<Rate>(), other: units<Rate>() })),
  copyExisting: fc.boolean(),
  closeAfterSeconds: fc.option(id),
});

const snapshot: fc.Arbitrary<VenueSnapshot> = fc.record({
  at: time,
  wallet: units(),
  available: units(),
  equity: units(),
  held: mapOf(units()),
});
/** What there need not be, beside what there always is. */
function withSome<All extends object>(
  always: fc.Arbitrary<object>,
  model: { readonly [K in keyof All]?: fc.Arbitrary<All[K]> },
): fc.Arbitrary<All> {
  const some = fc.record<object>(model, { requiredKeys: [] });
  return fc.tuple(always, some).map(([one, other]) => ({ ...one, ...other }) as All);
}

const holding = withSome<Holding>(fc.record({ quantity: units(), cost: units() }), {
  target: units(),
  ahead: units(),
});
const alwaysInBook = fc.record({
  holdings: mapOf(holding),
  realized: units(),
  fees: units(),
  startEquity: fc.option(units()),
  startShare: fc.option(units()),
  stopBase: fc.option(units()),
  snapshot: fc.option(snapshot),
  nextEntryId: id,
});
const BOOKS = withSome<CopyBook>(alwaysInBook, {
  takenSeq: id,
  startBudget: fc.option(units<Amount>()),
  profitMark: fc.record({ week: id, mark: units<Amount>() }),
  dayStart: fc.record({ day: id, equity: units<Amount>() }),
});

const alwaysInSkip = fc.record<Skip>({
  reason: fc.constantFrom(...SKIP_REASONS),
  filter: fc.option(fc.constantFrom("LOT_SIZE", "NOTIONAL")),
  wanted: fc.option(units()),
  had: fc.option(units()),
  unit: fc.option(fc.constantFrom("BASE", "QUOTE")),
  venue: fc.option(fc.record({ code: fc.integer(), message: text })),
});
const skip = withSome<Skip>(alwaysInSkip, {
  bound: units<Amount>(),
  permitted: fc.record({ count: id, symbols: fc.array(text) }),
});
/** Both sides may have more digits than any decimal. */
const scale: fc.Arbitrary<Scale> = fc.record<Scale>({
  by: fc.constantFrom(...SCALES),
  ours: fc.bigInt(),
  theirs: fc.bigInt(),
});
const alwaysInEntry = fc.record<MirrorEntry>({
  copyId: text,
  entryId: id,
  seq: fc.option(id),
  requestId: fc.option(text),
  collectiveId: fc.option(text),
  kind: fc.constantFrom(...MIRROR_KINDS),
  symbol: fc.option(text),
  status: fc.constantFrom(...MIRROR_STATUSES),
  skip: fc.option(skip),
  side: fc.option(side),
  orderType: fc.option(fc.oneof(orderType, legType)),
  leadQuantity: fc.option(units()),
  leadPrice: fc.option(units()),
  scale: fc.option(scale),
  scaledQuantity: fc.option(units()),
  quantity: fc.option(units()),
  price: fc.option(units()),
  stopPrice: fc.option(units()),
  clientOrderId: fc.option(text),
  venueOrderId: fc.option(text),
  executedQuantity: units(),
  executedQuote: units(),
  fee: units(),
  leadAt: time,
  sentAt: fc.option(time),
  acknowledgedAt: fc.option(time),
  updatedAt: time,
  sends: id,
  queries: id,
});
const ENTRIES = withSome<MirrorEntry>(alwaysInEntry, {
  reduceOnly: fc.boolean(),
  retained: units<Rate>(),
  leadExecuted: units(),
  isFeeDue: fc.constant(true),
  isTargetSet: fc.constant(true),
  isCancelDue: fc.constant(true),
  unseenSince: time,
  profitShare: fc.record({ profit: units<Amount>(), mark: units<Amount>(), share: units<Amount>() }),
});

const filled: fc.Arbitrary<LeadFilled> = fc.record({ quantity: units(), price: units() });
const ofOrder = { symbol: text, orderId: id, collectiveId: text };
const ofLeg = { symbol: text, legId: id, collectiveId: text };
/** The compiler asks for every kind that there is. */
const INTENTS: {
  readonly [K in OrderIntent["kind"]]: fc.Arbitrary<Extract<OrderIntent, { readonly kind: K }>>;
} = {
  PLACE: fc.record({
    kind: fc.constant("PLACE"),
    ...ofOrder,
    side,
    orderType,
    quantity: units(),
    price: units(),
    stopPrice: units(),
    reduceOnly: fc.boolean(),
    leverage: fc.option(fc.integer({ min: 1, max: 125 })),
    filled: fc.option(filled),
  }),
  CANCEL: withSome<LeadCancel>(
    fc.record({ kind: fc.constant("CANCEL"), ...ofOrder, because: fc.constantFrom("CANCELED", "EXPIRED") }),
    { quantity: units(), executed: units() },
  ),
  FILL: fc.record({ kind: fc.constant("FILL"), ...ofOrder, side, filled, empties: fc.boolean() }),
  PLACE_LEG: fc.record({
    kind: fc.constant("PLACE_LEG"),
    ...ofLeg,
    side,
    legType,
    triggerPrice: units(),
  }),
  CANCEL_LEG: fc.record({ kind: fc.constant("CANCEL_LEG"), ...ofLeg }),
  FIRE_LEG: fc.record({ kind: fc.constant("FIRE_LEG"), ...ofLeg, side, filled }),
  LIQUIDATE: fc.record({ kind: fc.constant("LIQUIDATE"), ...ofOrder, side, filled }),
  SET_LEVERAGE: fc.record({ kind: fc.constant("SET_LEVERAGE"), symbol: text, leverage: fc.nat() }),
  CLOSE: fc.record({ kind: fc.constant("CLOSE") }),
};
const lead: fc.Arbitrary<LeadState> = fc.record({
  wallet: units(),
  held: mapOf(units()),
  lastPrices: mapOf(units()),
  promised: mapOf(units()),
});
const place = fc.record({ seq: id, version: id, at: time, lead });
const ACTIONS: fc.Arbitrary<readonly LeadAction[]> = fc.tuple(
  ...Object.values(INTENTS).map((intent: fc.Arbitrary<OrderIntent>) =>
    fc.tuple(place, intent).map(([given, done]) => ({ ...given, ...done })),
  ),
);
