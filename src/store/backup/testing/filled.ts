// Databases to back up: something in every table, and enough of it for several pages.

import { decimal, type Quantity, ZERO } from "../../../money/decimal.ts";
import {
  actionOf,
  auditedAs,
  claim,
  entryOf,
  FULL_BOOK,
  follow,
  HOLDER,
  openToCopiers,
  progressOf,
  skippedOf,
  VENUE,
} from "../../contract/copying/records.ts";
import { BANNED } from "../../contract/copying/venue-reports.ts";
import { counterfactualOf } from "../../contract/counterfactuals.ts";
import { eventsOfEveryKind } from "../../contract/events-of-every-kind.ts";
import { futuresAccountOf, incomeOf, legOf } from "../../contract/futures-records.ts";
import {
  auditOf,
  SIGNED_UP_AT,
  sessionOf,
  signUp,
  unboundKeyOf,
} from "../../contract/people/people-records.ts";
import {
  budgetsOf,
  commitOf,
  createdOf,
  firstOf,
  HUGE,
  keyOf,
  orderOf,
  tradeOf,
} from "../../contract/records.ts";
import { settledOf, signalOf } from "../../contract/signals/records.ts";
import type { Store } from "../../store.ts";

/** Spot strategies, each with a key, an order and a trade. */
const STRATEGIES = 1_203;
/** All that is hard to keep as it is: quotation marks, ends of lines, other scripts. */
const LABEL = `"quoted", a\\b, line\nand\u2028line\r\n, ライアーバード 🐦`;

/** Fills a new store. */
export async function fill(store: Store): Promise<void> {
  await fillPeople(store);
  await fillCopying(store);
  const names = Array.from({ length: STRATEGIES }, (_, index) => `strategy-${index}`);
  await store.createStrategies(names.map((name) => createdOf(name)));
  const perpetuals = ["perpetual-1", "perpetual-2"].map((name) => {
    const incomes = [incomeOf(1), incomeOf(2, { symbol: null, tradeId: null })];
    return createdOf(name, { first: commitOf(futuresAccountOf(name), 1, { incomes }) });
  });
  await store.createStrategies(perpetuals);
  await store.commit(perpetuals.map(({ first: { account } }) => commitOf(account, 2, { legs: [legOf(9)] })));
  const [first, ...others] = names.map((name) => {
    const { account } = firstOf(name);
    return commitOf(account, 2, {
      key: "order:client-1",
      orders: [orderOf(1)],
      trades: [tradeOf(1, 1)],
    });
  });
  await store.commit(others);
  if (first !== undefined) {
    await store.commit([{ ...first, entry: { ...first.entry, events: eventsOfEveryKind() } }]);
  }
  const signed = { signature: "0".repeat(64), expiresAt: 9_000 };
  const signals = [
    signalOf("one", { signed }),
    signalOf("two", { idempotencyKey: LABEL }),
    signalOf("three"),
  ];
  await store.receiveSignals(
    signals.map((signal) => ({ ...signal, strategyId: "strategy-5" })),
    { claimedUntil: 9_000 },
  );
  const { account } = firstOf("strategy-5");
  await store.commit([commitOf(account, 3, { key: "signal:one", signals: [settledOf("one", orderOf(2))] })]);
  await store.postponeSignal("two", { reason: { refusal: "MARKET_SILENT" }, dueAt: 9_500 });
  await store.noteFailedHandshake({ apiKey: keyOf("strategy-5").apiKey, address: "ip:192.0.2.1" }, 6_000, {
    forgetBefore: 0,
  });
  await store.openListenKey(
    { apiKey: keyOf("strategy-5").apiKey, listenKey: "a".repeat(64), expiresAt: 9_000 },
    6_000,
  );
  const key = keyOf("labelled", { label: LABEL, createdAt: Number.MAX_SAFE_INTEGER });
  await store.createStrategies([createdOf("labelled", { key })]);
  await store.revokeKey(keyOf("strategy-7").apiKey, 5_000);
  await store.noteHeard([{ type: "SPOT", symbol: "BTCUSDT", at: 7_000 }]);
  const position = { ahead: decimal<Quantity>(HUGE), tradedAtPrice: ZERO, canceledAhead: ZERO };
  await store.noteQueues([
    { strategyId: "one", orderId: 1, symbol: "BTCUSDT", ...position, tradeId: 5, at: 7_000 },
  ]);
  await store.storeCounterfactuals([counterfactualOf(1, ["-90000000", "0.00000001", null, HUGE])]);
  await store.noteFunding("BTCUSDT", 8_000);
  await store.rememberMasterKey(1, "check");
  await store.logBudgets([budgetsOf("one", 1_000)], { forgetBefore: 0 });
}

/** Two people with all that can be kept of them, and a strategy of their own. */
async function fillPeople(store: Store): Promise<void> {
  const { people } = store;
  const ann = await signUp(store, "ann", LABEL);
  await people.createSession({ ...sessionOf("ann"), userAgent: LABEL, tokenHash: "t" }, 30);
  await people.createLink({
    nameHash: "i",
    value: "w",
    createdAt: SIGNED_UP_AT,
    expiresAt: SIGNED_UP_AT + 1,
  });
  const submission = { submissionId: "k", personId: ann, sealedForm: "f", submittedAt: 1_000 };
  await people.submitKyc(submission, auditOf("KYC_SUBMITTED", ann, { details: { note: LABEL } }));
  const factor = { personId: ann, sealedSeed: "sealed", keptSession: sessionOf("ann").sessionId };
  await people.beginSecondFactor(ann, factor.sealedSeed, 2_000);
  await people.enableSecondFactor(factor, ["one", "two"], auditOf("SECOND_FACTOR_ENABLED", ann));
  await people.acceptTotpStep(ann, 58_000_000);
  await people.noteFailedSignIn("account:ann", 3_000, { forgetBefore: 0 });
  const key = unboundKeyOf("owned", ann);
  await people.createKey(key, auditOf("KEY_CREATED", ann));
  const creation = { first: firstOf("owned"), ownerId: ann, name: LABEL, keyId: key.keyId, createdAt: 4_000 };
  await people.createStrategy(creation, [auditOf("STRATEGY_CREATED", ann)]);
  await people.noteKeyUses([{ keyId: key.keyId, at: 5_000, address: "::1", route: "GET /api/v3/account" }]);
}

/** A strategy that two people copy, with something of all that can be kept of it. */
async function fillCopying(store: Store): Promise<void> {
  const { copying } = store;
  await openToCopiers(store, "lead");
  const { account } = firstOf("lead");
  await store.commit([commitOf(account, 2)]);
  const [copyId = "", other = ""] = await follow(store, "lead", "cat", LABEL);
  await claim(store);
  const actions = [actionOf(1, 2), actionOf(2, 2, { kind: "CLOSE" })];
  const advance = { strategyId: "lead", type: "SPOT", account, version: 2, seq: 2 } as const;
  await copying.advanceLead({ ...advance, holder: HOLDER, fromVersion: 0, actions });
  const entries = [entryOf(copyId, 1), skippedOf(copyId, 2), entryOf(copyId, 3, { symbol: LABEL })];
  await copying.recordProgress("lead", HOLDER, [
    progressOf(copyId, 2, { entries, book: FULL_BOOK }),
    progressOf(other, 1, { entries: [entryOf(other, 1, { status: "RESTING" })] }),
  ]);
  const request = { requestId: "look", copyId, kind: "LOOK", mayIncrease: false, askedAt: 1_000 } as const;
  await copying.addRequest({ ...request, doneAt: null, failure: null }, null);
  await copying.noteAccountChecked("account-of-cat", { status: "FAILED", failure: LABEL, at: 2_000 });
  const halted = { kind: "VENUE", id: VENUE, reason: LABEL, setBy: "op", setAt: 3_000 } as const;
  await copying.setSwitch(halted, auditedAs("KILL_SWITCH_SET", "op"));
  await copying.noteVenueReport({ copier: LABEL, at: 4_000, venues: [BANNED] }, { forgetBefore: 0 });
}
