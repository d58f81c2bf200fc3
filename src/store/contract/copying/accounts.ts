// Copiers' accounts at venues: bounded, theirs alone, and without credentials once they are disconnected.
import { describe, expect, test } from "vitest";
import type { VenueAccount } from "../../../domain/copying.ts";
import type { KeyDigests } from "../../ports/copies.ts";
import { actionsIn } from "../people/people-records.ts";
import { upTo } from "../records.ts";
import type { Opened } from "../store-under-test.ts";
import {
  auditedAs,
  COPIED_AT,
  claim,
  follow,
  leave,
  openToCopiers,
  VENUE,
  venueAccountOf,
} from "./records.ts";

export function copyingAccountCases(opened: Opened): void {
  describe("venue accounts", () => {
    const { store, copying } = opened;

    const connect = (account: VenueAccount, liveMax = 9) =>
      copying.connectAccount(account, auditedAs("VENUE_ACCOUNT_CONNECTED", account.personId), { liveMax });
    const disconnect = (accountId: string, personId = "ann", at = 5_000) =>
      copying.disconnectAccount(
        { accountId, personId, at },
        auditedAs("VENUE_ACCOUNT_DISCONNECTED", personId),
      );
    const replace = (accountId: string, personId = "ann") =>
      copying.replaceCredentials(
        { accountId, personId, sealed: "other", keyHint: "wxyz", at: 6_000 },
        auditedAs("VENUE_ACCOUNT_RENEWED", personId),
      );

    test("are found as they were connected, and listed newest first, disconnected ones last", async () => {
      const accounts = upTo(4).map((number) =>
        venueAccountOf("ann", {
          accountId: `a${number}`,
          createdAt: number,
          type: number === 2 ? "FUTURES" : "SPOT",
        }),
      );
      for (const account of accounts) expect(await connect(account)).toBe("CONNECTED");
      await connect(venueAccountOf("bob"));
      expect(await copying.findAccount("a2")).toEqual(accounts[1]);
      for (const nobody of ["ghost", ""]) expect(await copying.findAccount(nobody)).toBeNull();
      expect(await disconnect("a3")).toBe(true);
      const listed = await copying.listAccountsOf("ann");
      expect(listed.map(({ accountId }) => accountId)).toEqual(["a4", "a2", "a1", "a3"]);
      expect(listed.slice(0, 1)).toEqual([accounts[3]]);
      expect(await copying.listAccountsOf("nobody")).toEqual([]);
      expect(await copying.countAccounts()).toEqual([
        { venue: VENUE, status: "CONNECTED", count: 4 },
        { venue: VENUE, status: "DISCONNECTED", count: 1 },
      ]);
    });

    test("of one person are no more than the bound, however many are connected at once", async () => {
      const accounts = upTo(6).map((number) => venueAccountOf("ann", { accountId: `a${number}` }));
      const outcomes = await Promise.all(accounts.map((account) => connect(account, 4)));
      expect(outcomes.filter((outcome) => outcome === "CONNECTED")).toHaveLength(4);
      expect(await copying.listAccountsOf("ann")).toHaveLength(4);
      expect(await connect(venueAccountOf("bob"), 1)).toBe("CONNECTED");
      const [last] = await copying.listAccountsOf("ann");
      await disconnect(last?.accountId ?? "");
      expect(await connect(venueAccountOf("ann"), 4)).toBe("CONNECTED");
      await expect(connect(venueAccountOf("ann", { personId: "cat" }))).rejects.toThrow();
      expect(await store.people.verifyAudit()).toBeNull();
      expect(await actionsIn(store)).toHaveLength(7);
    });

    test("say what the last check has found, in the venue's own words, unless they are disconnected", async () => {
      const account = venueAccountOf("ann");
      await connect(account);
      const failure = `"no" \0 ${"ä".repeat(9)}`;
      await copying.noteAccountChecked(account.accountId, { status: "FAILED", failure, at: 7_000 });
      const failed = { ...account, status: "FAILED", failure, checkedAt: 7_000 };
      expect(await copying.findAccount(account.accountId)).toEqual(failed);
      await copying.noteAccountChecked(account.accountId, { status: "CONNECTED", failure: null, at: 8_000 });
      expect(await copying.findAccount(account.accountId)).toEqual({ ...account, checkedAt: 8_000 });
      await disconnect(account.accountId);
      const before = await copying.findAccount(account.accountId);
      await copying.noteAccountChecked(account.accountId, { status: "FAILED", failure: "no", at: 9_000 });
      await copying.noteAccountChecked("ghost", { status: "FAILED", failure: "no", at: 9_000 });
      expect(await copying.findAccount(account.accountId)).toEqual(before);
    });

    test("get other credentials from their owner alone, and lose them for good when they are disconnected", async () => {
      const account = venueAccountOf("ann", { status: "FAILED", failure: "refused" });
      const { accountId } = account;
      await connect(account);
      for (const [nobody, personId] of [
        [accountId, "bob"],
        ["ghost", "ann"],
      ] as const) {
        expect(await replace(nobody, personId)).toBe("GONE");
        expect(await disconnect(nobody, personId)).toBe(false);
      }
      expect(await copying.findAccount(accountId)).toEqual(account);
      expect(await replace(accountId)).toBe("REPLACED");
      const renewed = { ...account, sealed: "other", keyHint: "wxyz", checkedAt: 6_000 };
      expect(await copying.findAccount(accountId)).toEqual({
        ...renewed,
        status: "CONNECTED",
        failure: null,
      });
      expect(await disconnect(accountId)).toBe(true);
      expect(await copying.findAccount(accountId)).toMatchObject({
        sealed: null,
        status: "DISCONNECTED",
        disconnectedAt: 5_000,
      });
      expect([await disconnect(accountId), await replace(accountId)]).toEqual([false, "GONE"]);
      expect(await actionsIn(store)).toEqual([
        "VENUE_ACCOUNT_CONNECTED",
        "VENUE_ACCOUNT_RENEWED",
        "VENUE_ACCOUNT_DISCONNECTED",
      ]);
    });

    test("have keys of their own, of the same or different people, until they are disconnected", async () => {
      const digests = (kept: string, ...older: readonly string[]) => ({ kept, known: [...older, kept] });
      const connectWith = (personId: string, keyDigests: KeyDigests) =>
        copying.connectAccount(venueAccountOf(personId), auditedAs("VENUE_ACCOUNT_CONNECTED", personId), {
          liveMax: 9,
          keyDigests,
        });
      const renew = (personId: string, keyDigests: KeyDigests) =>
        copying.replaceCredentials(
          { accountId: `account-of-${personId}`, personId, sealed: "s", keyHint: "k", keyDigests, at: 6_000 },
          auditedAs("VENUE_ACCOUNT_RENEWED", personId),
        );
      expect(await connectWith("ann", digests("old"))).toBe("CONNECTED");
      expect(await connectWith("bob", digests("new", "old"))).toBe("TAKEN");
      expect(await copying.findAccount("account-of-bob")).toBeNull();
      expect(await connectWith("bob", digests("bobs"))).toBe("CONNECTED");
      expect(await renew("bob", digests("new", "old"))).toBe("TAKEN");
      expect(await copying.findAccount("account-of-bob")).toEqual(venueAccountOf("bob"));
      // Her own key, entered again, replaces the stored one.
      expect(await renew("ann", digests("new", "old"))).toBe("REPLACED");
      const seals = { from: "s", to: "t", keyDigest: "newest" };
      expect(await copying.resealAccount("account-of-ann", seals)).toBe(true);
      expect(await connectWith("cat", digests("newest", "new"))).toBe("TAKEN");
      await copying.noteAccountChecked("account-of-ann", { status: "FAILED", failure: "no", at: 7_000 });
      expect(await connectWith("cat", digests("newest"))).toBe("TAKEN");
      expect(await disconnect("account-of-ann")).toBe(true);
      expect(await connectWith("cat", digests("newest"))).toBe("CONNECTED");
      const racing = ["dan", "eve", "fay"].map((personId) => connectWith(personId, digests("same")));
      expect((await Promise.all(racing)).toSorted()).toEqual(["CONNECTED", "TAKEN", "TAKEN"]);
    });

    test("are not disconnected while a live copy uses them", async () => {
      await openToCopiers(store, "one");
      const [copyId = ""] = await follow(store, "one", "ann");
      expect(await disconnect("account-of-ann")).toBe(false);
      expect(await copying.findAccount("account-of-ann")).toEqual(venueAccountOf("ann"));
      await leave(store, copyId);
      expect(await disconnect("account-of-ann")).toBe(true);
    });

    test("let their copies and leads be seen to have changed, and no others", async () => {
      await openToCopiers(store, "one", "two");
      const [hers = ""] = await follow(store, "one", "ann");
      const [his = ""] = await follow(store, "two", "bob");
      await claim(store);
      const revisions = async () => {
        const leads = await copying.listClaimed("one process");
        const copies = await copying.revisionsOf([hers, his]);
        return [...leads.map(({ revision }) => revision), copies.get(hers), copies.get(his)];
      };
      const [one = 0, two, own = 0, other] = await revisions();
      await copying.noteAccountChecked("account-of-ann", { status: "FAILED", failure: "no", at: COPIED_AT });
      expect(await revisions()).toEqual([one + 1, two, own + 1, other]);
      expect(await replace("account-of-ann")).toBe("REPLACED");
      expect(await revisions()).toEqual([one + 2, two, own + 2, other]);
      expect(await replace("account-of-ann", "bob")).toBe("GONE");
      expect(await revisions()).toEqual([one + 2, two, own + 2, other]);
    });

    test("are resealed unless they have changed since they were read", async () => {
      await connect(venueAccountOf("ann"));
      await connect(venueAccountOf("bob"));
      await connect(venueAccountOf("cat"));
      await disconnect("account-of-cat", "cat");
      expect(await copying.listSealedAccounts()).toEqual([
        { accountId: "account-of-ann", sealed: "seal2 of ann" },
        { accountId: "account-of-bob", sealed: "seal2 of bob" },
      ]);
      const reseal = (from: string) => copying.resealAccount("account-of-ann", { from, to: "new" });
      expect(await reseal("seal2 of bob")).toBe(false);
      expect(await reseal("seal2 of ann")).toBe(true);
      expect(await reseal("seal2 of ann")).toBe(false);
      expect((await copying.findAccount("account-of-ann"))?.sealed).toBe("new");
      expect((await copying.findAccount("account-of-bob"))?.sealed).toBe("seal2 of bob");
    });
  });
}
