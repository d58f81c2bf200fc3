// A signal is recorded once under its key, as received. Look-ups, lists and answers have its current state.
import { beforeEach, describe, expect, test } from "vitest";
import { accountOf, commitOf, upTo } from "../records.ts";
import { commit, create, type Opened } from "../store-under-test.ts";
import { received, rejectedOf, signalOf } from "./records.ts";

const CLAIMED = { claimedUntil: 1_000 };

export function receivedSignalCases(opened: Opened): void {
  describe("received signals", () => {
    const { store } = opened;
    beforeEach(async () => {
      await create(store, "one", "two");
    });

    test("are found by their ids and by their keys, as they were given", async () => {
      const signal = signalOf("a");
      expect(await store.receiveSignals([signal], CLAIMED)).toEqual([
        { signal: received(signal), isNew: true },
      ]);
      expect(await store.findSignal("one", { signalId: "a" })).toEqual(received(signal));
      expect(await store.findSignal("one", { idempotencyKey: "key-a" })).toEqual(received(signal));
    });

    test("belong to their strategy, with their keys", async () => {
      const mine = signalOf("a", { idempotencyKey: "same" });
      const theirs = signalOf("b", { idempotencyKey: "same", strategyId: "two" });
      const both = await store.receiveSignals([mine, theirs], CLAIMED);
      expect(both.map(({ isNew }) => isNew)).toEqual([true, true]);
      expect(await store.findSignal("two", { signalId: "a" })).toBeNull();
      expect(await store.findSignal("one", { signalId: "b" })).toBeNull();
      expect(await store.findSignal("one", { idempotencyKey: "same" })).toEqual(received(mine));
      expect(await store.findSignal("two", { idempotencyKey: "same" })).toEqual(received(theirs));
      expect(await store.listSignals("two", { limit: 9 })).toEqual([received(theirs)]);
    });

    test("are answered with what was recorded under their key before, as it now stands", async () => {
      const first = signalOf("a", { idempotencyKey: "same" });
      await store.receiveSignals([first], CLAIMED);
      const later = signalOf("b", { idempotencyKey: "same", body: "{}" });
      const other = signalOf("c");
      expect(await store.receiveSignals([later, other], CLAIMED)).toEqual([
        { signal: received(first), isNew: false },
        { signal: received(other), isNew: true },
      ]);
      const settled = rejectedOf("a");
      await commit(store, [commitOf(accountOf("one"), 2, { signals: [settled] })]);
      expect(await store.receiveSignals([later], CLAIMED)).toEqual([
        { signal: { ...first, state: settled.state }, isNew: false },
      ]);
      expect(await store.findSignal("one", { signalId: "b" })).toBeNull();
    });

    test("of one key at once are one signal, from one sender or several", async () => {
      const signals = upTo(20).map((id) => signalOf(`s${id}`, { idempotencyKey: "same" }));
      const answers = await Promise.all([
        store.receiveSignals(signals.slice(0, 5), CLAIMED),
        ...signals.slice(5).map((signal) => store.receiveSignals([signal], CLAIMED)),
      ]);
      expect(answers.flat().filter(({ isNew }) => isNew)).toHaveLength(1);
      const recorded = await store.listSignals("one", { limit: 99 });
      expect(recorded).toHaveLength(1);
      expect(new Set(answers.flat().map(({ signal }) => signal?.signalId))).toEqual(
        new Set([recorded[0]?.signalId]),
      );
    });

    test("that bring a signal twice record it once, and the second is not new", async () => {
      const signal = signalOf("a");
      const both = await store.receiveSignals([signal, signal], CLAIMED);
      expect(both.map(({ isNew }) => isNew)).toEqual([true, false]);
      expect(await store.receiveSignals([signal], CLAIMED)).toEqual([
        { signal: received(signal), isNew: false },
      ]);
    });

    test("of one signature and several keys are one signal, at any time and from any process", async () => {
      const other = await opened.reopen();
      const signed = (at = 1) => ({ signed: { signature: `signature-${at}`, expiresAt: 5_000 } });
      const signals = upTo(20).map((id) => signalOf(`s${id}`, signed()));
      const answers = await Promise.all([
        store.receiveSignals(signals.slice(0, 5), CLAIMED),
        ...signals
          .slice(5)
          .map((signal, index) => (index % 2 === 0 ? store : other).receiveSignals([signal], CLAIMED)),
      ]);
      expect(answers.flat().filter(({ isNew }) => isNew)).toHaveLength(1);
      expect(answers.flat().filter(({ signal }) => signal === null)).toHaveLength(19);
      expect(await store.listSignals("one", { limit: 99 })).toHaveLength(1);
      const later = signalOf("later", signed());
      expect(await store.receiveSignals([later], CLAIMED)).toEqual([{ signal: null, isNew: false }]);
      // What was not recorded may be, under a signature of its own.
      const [again] = await store.receiveSignals([{ ...later, ...signed(2) }], CLAIMED);
      expect(again?.isNew).toBe(true);
    });

    test("may come again under their signature, or another one, which is no other key's either", async () => {
      const signed = (signature: string) => ({ signed: { signature, expiresAt: 5_000 } });
      const first = signalOf("a", signed("first"));
      const again = { signal: received(signalOf("a")), isNew: false };
      await store.receiveSignals([first], CLAIMED);
      expect(await store.receiveSignals([first], CLAIMED)).toEqual([again]);
      // Both at once: the second signature is recorded although the first row of its key is what is answered.
      const resent = [first, { ...first, ...signed("second") }];
      expect(await store.receiveSignals(resent, CLAIMED)).toEqual([again, again]);
      const stolen = [signalOf("b", signed("first")), signalOf("c", signed("second"))];
      const refused = { signal: null, isNew: false };
      expect(await store.receiveSignals(stolen, CLAIMED)).toEqual([refused, refused]);
      // One that was stolen beside the owner's own of that key.
      const mixed = [signalOf("d", signed("second")), signalOf("d", signed("third"))];
      expect(await store.receiveSignals(mixed, CLAIMED)).toEqual([
        refused,
        { signal: received(signalOf("d")), isNew: true },
      ]);
      const theirs = signalOf("e", { strategyId: "two", idempotencyKey: "key-a", ...signed("first") });
      expect(await store.receiveSignals([theirs], CLAIMED)).toEqual([refused]);
    });

    test("have their signatures forgotten once these have expired", async () => {
      const signed = { signed: { signature: "first", expiresAt: 5_000 } };
      await store.receiveSignals([signalOf("a", signed)], { claimedUntil: 90_000 });
      await store.claimSignals({ now: 5_000, until: 6_000, limit: 9 });
      expect(await store.receiveSignals([signalOf("b", signed)], CLAIMED)).toEqual([
        { signal: null, isNew: false },
      ]);
      await store.claimSignals({ now: 5_001, until: 6_000, limit: 9 });
      const [later] = await store.receiveSignals([signalOf("b", signed)], CLAIMED);
      expect(later?.isNew).toBe(true);
    });

    test("of five hundred callers at once are all recorded, each answered with its own", async () => {
      const signals = upTo(500).map((id) => signalOf(`s${id}`, { strategyId: id % 2 === 0 ? "one" : "two" }));
      const answers = await Promise.all(signals.map((signal) => store.receiveSignals([signal], CLAIMED)));
      expect(answers).toEqual(signals.map((signal) => [{ signal: received(signal), isNew: true }]));
      const listed = await store.listSignals("two", { limit: 999 });
      expect(listed.map(({ signalId }) => signalId)).toEqual(
        upTo(250).map((each) => `s${2 * (250 - each) + 1}`),
      );
    });

    test("are listed with the newest first, as many as are wanted", async () => {
      for (const id of upTo(4)) await store.receiveSignals([signalOf(`s${id}`)], CLAIMED);
      const idsOf = async (limit: number) =>
        (await store.listSignals("one", { limit })).map(({ signalId }) => signalId);
      expect(await idsOf(9)).toEqual(["s4", "s3", "s2", "s1"]);
      expect(await idsOf(3)).toEqual(["s4", "s3", "s2"]);
      expect(await store.listSignals("two", { limit: 9 })).toEqual([]);
    });

    test.each([
      ["quotes and the ends of lines", `'";--\\ \n\r\n \u2028`],
      ["other scripts", "ライアーバード 🐦 äöü"],
      ["a NUL", "before\0after"],
      ["half of a pair", "\ud83d"],
      ["nothing", ""],
      ["what looks like JSON", '"a"'],
      ["many characters", "k".repeat(10_000)],
    ])("keep a key of %s", async (_what, idempotencyKey) => {
      const signal = signalOf("a", { idempotencyKey });
      await store.receiveSignals([signal, signalOf("b", { idempotencyKey: "before" })], CLAIMED);
      expect(await store.findSignal("one", { idempotencyKey })).toEqual(received(signal));
      expect(await store.receiveSignals([{ ...signal, signalId: "c" }], CLAIMED)).toEqual([
        { signal: received(signal), isNew: false },
      ]);
    });

    test("keep their body as it was written", async () => {
      const body = `{ "symbol" : "BTC\\u0000USDT", "quantity":0.10,\n\t"note":"'\\"ライアー🐦" }`;
      const signal = signalOf("a", { body });
      await store.receiveSignals([signal], CLAIMED);
      expect((await store.findSignal("one", { signalId: "a" }))?.body).toBe(body);
    });

    test("are not found where nothing is, whatever is asked for", async () => {
      for (const unknown of ["", "a", "\0", "a\0", "\ud83d", "'"]) {
        expect(await store.findSignal("one", { signalId: unknown })).toBeNull();
        expect(await store.findSignal("one", { idempotencyKey: unknown })).toBeNull();
        expect(await store.findSignal("ghost", { signalId: unknown })).toBeNull();
      }
    });

    test("are recorded for good when they are answered, beside commits that are under way", async () => {
      const [, outcomes] = await Promise.all([
        store.receiveSignals([signalOf("a")], CLAIMED),
        store.commit([commitOf(accountOf("one"), 2)]),
        store.receiveSignals([signalOf("b")], CLAIMED),
      ]);
      expect(outcomes).toEqual(["COMMITTED"]);
      await store.close();
      await expect(store.receiveSignals([signalOf("c")], CLAIMED)).rejects.toThrow();
      const again = await opened.reopen();
      const listed = await again.listSignals("one", { limit: 9 });
      expect(listed.map(({ signalId }) => signalId).sort()).toEqual(["a", "b"]);
    });
  });
}
