// An operation that may succeed once succeeds once, although two stores on one database, each in its own
// thread, request it at the same moment.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Elsewhere } from "./elsewhere.ts";
import { actionsIn, auditOf, sessionOf, signUp, unboundKeyOf } from "./people/people-records.ts";
import { accountOf, commitOf, firstOf, upTo } from "./records.ts";
import type { Opened } from "./store-under-test.ts";

const ROUNDS = 20;

export function raceCases(opened: Opened): void {
  describe("two stores that are asked at the same moment", () => {
    const { store, people } = opened;
    let other: Elsewhere;
    beforeEach(async () => {
      other = await Elsewhere.open(opened.place);
      await signUp(store, "ann", "bob");
    });
    afterEach(() => other.close());

    /** How many of the two say that they did it. */
    const winnersOf = async (there: Promise<boolean>, here: Promise<boolean>) =>
      (await Promise.all([there, here])).filter(Boolean).length;
    const ONE_EACH = upTo(ROUNDS).map(() => 1);

    test("accept the code of a time step once", async () => {
      await people.beginSecondFactor("id-ann", "seed", 1_000);
      const winners: number[] = [];
      for (const step of upTo(ROUNDS)) {
        const there = other.call("acceptTotpStep", "id-ann", step);
        winners.push(await winnersOf(there, people.acceptTotpStep("id-ann", step)));
      }
      expect(winners).toEqual(ONE_EACH);
    });

    test("replace a password once, and audit it once", async () => {
      const audit = auditOf("PASSWORD_CHANGED", "id-ann");
      const winners: number[] = [];
      for (const round of upTo(ROUNDS)) {
        const from = (await people.findPasswordHash("id-ann")) ?? "";
        const change = { personId: "id-ann", from, keptSession: "", at: round };
        const there = other.call("replacePasswordHash", { ...change, to: `there-${round}` }, audit);
        const here = people.replacePasswordHash({ ...change, to: `here-${round}` }, audit);
        winners.push(await winnersOf(there, here));
      }
      expect(winners).toEqual(ONE_EACH);
      expect(await actionsIn(store)).toHaveLength(ROUNDS);
    });

    test("leave no session that began beside a new password and has seen the old one", async () => {
      for (const round of upTo(ROUNDS)) {
        const from = (await people.findPasswordHash("id-ann")) ?? "";
        const change = { personId: "id-ann", from, to: `new-${round}`, keptSession: "", at: round };
        const session = { ...sessionOf("ann"), sessionId: `s-${round}`, tokenHash: `token-${round}` };
        const signIn = async () => {
          await people.createSession(session, 30);
          return await people.findPasswordHash("id-ann");
        };
        const changed = other.call("replacePasswordHash", change, auditOf("PASSWORD_CHANGED", "id-ann"));
        const [seen] = await Promise.all([signIn(), changed]);
        const left = await people.listSessions("id-ann", { expiresAfter: 0, usedAfter: 0 });
        // A sign-in that sees the old password stays signed in: then its session has ended.
        if (seen === from) expect(left.map(({ sessionId }) => sessionId)).not.toContain(session.sessionId);
        await people.endSessions("id-ann", "ALL", null);
      }
    });

    test("take a link once", async () => {
      const takers: number[] = [];
      for (const round of upTo(ROUNDS)) {
        const link = { nameHash: `hash-${round}`, value: "reset ann ", createdAt: 0, expiresAt: 10 };
        await people.createLink(link);
        const taken = await Promise.all([
          other.call("takeLink", link.nameHash, 9),
          people.takeLink(link.nameHash, 9),
        ]);
        takers.push(taken.filter((value) => value === link.value).length);
      }
      expect(takers).toEqual(ONE_EACH);
    });

    test("accept a recovery code once, and audit it once", async () => {
      await people.beginSecondFactor("id-ann", "seed", 1_000);
      const hashes = upTo(ROUNDS).map((number) => `hash-${number}`);
      const begun = { personId: "id-ann", sealedSeed: "seed", keptSession: "" };
      await people.enableSecondFactor(begun, hashes, auditOf("SECOND_FACTOR_ENABLED", "id-ann"));
      const audit = auditOf("RECOVERY_CODE_USED", "id-ann");
      const winners: number[] = [];
      for (const hash of hashes) {
        const there = other.call("useRecoveryCode", "id-ann", hash, audit);
        winners.push(await winnersOf(there, people.useRecoveryCode("id-ann", hash, audit)));
      }
      expect(winners).toEqual(ONE_EACH);
      expect(await actionsIn(store)).toHaveLength(1 + ROUNDS);
      expect(await people.verifyAudit()).toBeNull();
    });

    test("take one submission of a person, and decide it once", async () => {
      const taken: number[] = [];
      const decided: number[] = [];
      for (const round of upTo(ROUNDS)) {
        const submission = { personId: "id-ann", sealedForm: "sealed", submittedAt: round };
        const submitted = auditOf("KYC_SUBMITTED", "id-ann");
        const there = { ...submission, submissionId: `there-${round}` };
        const here = { ...submission, submissionId: `here-${round}` };
        taken.push(
          await winnersOf(other.call("submitKyc", there, submitted), people.submitKyc(here, submitted)),
        );
        const [pending] = await people.listKyc("PENDING", { limit: 2 });
        const decision = {
          submissionId: pending?.submissionId ?? "",
          status: "REJECTED",
          decidedBy: "op",
          at: round,
        } as const;
        const rejected = auditOf("KYC_REJECTED", "op");
        decided.push(
          await winnersOf(
            other.call("decideKyc", { ...decision, reason: "there" }, rejected),
            people.decideKyc({ ...decision, reason: "here" }, rejected),
          ),
        );
        const [last] = await people.listKycOf("id-ann");
        // The person sees the reason of the decision that took effect.
        expect((await people.findPerson("id-ann"))?.kycReason).toBe(last?.reason);
      }
      expect([taken, decided]).toEqual([ONE_EACH, ONE_EACH]);
      expect(await actionsIn(store)).toHaveLength(2 * ROUNDS);
    });

    test("bind a key to one strategy, and one key to a strategy", async () => {
      const outcomes: number[] = [];
      for (const round of upTo(ROUNDS)) {
        const names = ["first", "spare", "rival"].map((name) => `${name}-${round}`);
        for (const name of names) {
          await people.createKey(unboundKeyOf(name, "id-ann"), auditOf("KEY_CREATED", "id-ann"));
        }
        const [first = "", spare = "", rival = ""] = names.map((name) => `id-${name}`);
        const creation = (strategyId: string) => ({
          first: firstOf(strategyId),
          ownerId: "id-ann",
          name: strategyId,
          keyId: first,
          createdAt: round,
        });
        const created = [auditOf("STRATEGY_CREATED", "id-ann")];
        outcomes.push(
          await winnersOf(
            other.call("createStrategy", creation(`there-${round}`), created),
            people.createStrategy(creation(`here-${round}`), created),
          ),
        );
        const strategyId = (await people.listKeysOf("id-ann")).find(({ key }) => key.keyId === first)?.key
          .strategyId;
        const binding = { strategyId: strategyId ?? "", ownerId: "id-ann" };
        const revoked = { keyId: first, ownerId: "id-ann", at: round };
        await people.revokeOwnKey(revoked, auditOf("KEY_REVOKED", "id-ann"));
        const bound = auditOf("KEY_BOUND", "id-ann");
        outcomes.push(
          await winnersOf(
            other.call("bindKey", { ...binding, keyId: spare }, bound),
            people.bindKey({ ...binding, keyId: rival }, bound),
          ),
        );
      }
      expect(outcomes).toEqual([...ONE_EACH, ...ONE_EACH]);
      expect(await store.countStrategies()).toBe(ROUNDS);
      expect(await people.verifyAudit()).toBeNull();
    });

    test("bind the key of a closed strategy to one new strategy", async () => {
      const outcomes: number[] = [];
      await people.createKey(unboundKeyOf("one", "id-ann"), auditOf("KEY_CREATED", "id-ann"));
      const created = [auditOf("STRATEGY_CREATED", "id-ann")];
      for (const round of upTo(ROUNDS)) {
        const creation = (strategyId: string) => ({
          first: firstOf(strategyId),
          ownerId: "id-ann",
          name: strategyId,
          keyId: "id-one",
          createdAt: round,
        });
        outcomes.push(
          await winnersOf(
            other.call("createStrategy", creation(`there-${round}`), created),
            people.createStrategy(creation(`here-${round}`), created),
          ),
        );
        const [bound] = await people.listKeysOf("id-ann");
        const strategyId = bound?.key.strategyId ?? "";
        expect(await store.commit([commitOf(accountOf(strategyId, "CLOSED"), 2)])).toEqual(["COMMITTED"]);
      }
      expect(outcomes).toEqual(ONE_EACH);
      expect(await store.countStrategies()).toBe(ROUNDS);
      expect(await people.verifyAudit()).toBeNull();
    });

    test("add to the audit in turns: the chain is whole and has all of them", async () => {
      const adding = upTo(50).flatMap((number) => [
        other.call("audit", auditOf("SIGNED_IN", `there-${number}`)),
        people.audit(auditOf("SIGNED_IN", `here-${number}`)),
      ]);
      await Promise.all(adding);
      expect(await people.verifyAudit()).toBeNull();
      expect(await other.call("verifyAudit")).toBeNull();
      const records = await people.listAudit({ limit: 1_000 });
      // Two people have signed up before.
      expect(records.map(({ position }) => position)).toEqual(upTo(102).toReversed());
      expect(new Set(records.map(({ about }) => about.id)).size).toBe(102);
    });
  });
}
