// Locks after failed attempts to sign in or to give a code. `Lockout` says who is locked out of what, and why not the owner.
//
// Failures are kept in the store: they hold for all servers on it, and outlive a restart. An attempt on an account is noted
// before it is looked at, and forgotten with success, so that attempts of the same moment, on whatever server, do not get past
// the bound together. For an address only what has failed is noted, since many may share one; there the bound may be passed by
// as many attempts as are under way at once. Knowingly, a password that was right and not followed by its code counts until
// the next success.
//
// That a lock was told to the audit is nobody's wait: only people are audited, so that waiting would tell whether there is one.
import { isIPv6 } from "node:net";
import type { Logger } from "pino";
import { BoundedMap } from "../concurrency/bounded-map.ts";
import type { MasterKey } from "../identity/master-key.ts";
import type { PeopleStore } from "../store/people-store.ts";
import { Background } from "./background.ts";
import type { Caller } from "./caller.ts";
import type { Cookies } from "./cookies.ts";
import { deviceCookieOf, knownDevice, newDevice } from "./devices.ts";

/** How long a failed attempt counts, and so the longest that a lock lasts, ms. */
export const FAILURES_COUNT_MS = 15 * 60_000;
/** Failed attempts on an account from all browsers that are not known to it. */
export const UNKNOWN_BROWSERS_FAILURES_MAX = 10;
/** Failed attempts on an account from one browser that is known to it. */
export const KNOWN_BROWSER_FAILURES_MAX = 10;
/**
 * Failed codes of an account from all its browsers together: as many as those that are not known and one that is known may give, so
 * that browsers that are not known never fill it.
 */
export const CODE_FAILURES_MAX = UNKNOWN_BROWSERS_FAILURES_MAX + KNOWN_BROWSER_FAILURES_MAX;
/** Failed attempts from one address on whatever accounts: a household or an office shares one. */
export const ADDRESS_FAILURES_MAX = 50;
/** Locks that were told in the audit log are remembered at once; beyond it the oldest may be told again. */
const LOCKS_TOLD_MAX = 10_000;

/** Whose account is tried: the person is null where nobody has that e-mail address. */
export type TriedAccount = { readonly email: string; readonly personId: string | null };

export type Locked = { readonly lockedForSeconds: number };

/** What is tried: the password, or a code of the second factor. */
type Tried = "PASSWORD" | "CODE";

/** What failures are counted by, and how many there may be. */
type Bucket = { readonly holder: string; readonly max: number };

/** Whatever is admitted is noted in `own` at once, and forgotten there with success; in `address` only what has failed is. */
type Buckets = { readonly own: readonly Bucket[]; readonly address: Bucket | null };

type LockoutParts = {
  readonly people: Pick<
    PeopleStore,
    "noteFailedSignIn" | "listFailedSignIns" | "forgetFailedSignIns" | "audit"
  >;
  readonly master: MasterKey;
  readonly cookies: Cookies;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly log: Pick<Logger, "error">;
};

/**
 * Counts failures in four kinds of buckets: of an address, of an account and all browsers that are not known to it, of an
 * account and one browser that is known to it, and, of codes alone, of an account and all browsers. A browser is known to an
 * account once somebody signed in with it, or opened a link that was sent to the account's e-mail address.
 *
 * Why a stranger cannot lock the owner out: a stranger's browser is not known to the account, since the cookie that makes it known
 * is signed for that account and given to nobody who has not proved to be its owner. So whatever a stranger does fills the bucket
 * of the unknown browsers, and that of an address. A known browser is held against neither of them, only against its own, and,
 * with a code, against that of codes, which holds more than unknown browsers may ever give. An
 * owner with a new browser, while a stranger keeps the bucket of the unknown ones full, asks for a link to set a new password,
 * which is not held against any bucket: opening it makes that browser known.
 *
 * What guessing is left with: ten guesses in a quarter of an hour for all strangers together, however many addresses they have. Of
 * codes, which only who has the password, a session or the mailbox gets to guess at, twenty for all browsers together, however many
 * were made known by links: 1,920 a day, of which each hits with three in a million (three of a million codes are right at a time),
 * so one such day in 174 does.
 */
export class Lockout {
  readonly #parts: LockoutParts;
  readonly #background: Background;
  /** Until when a lock lasts that the audit log has been told of, by holder. */
  readonly #told = new BoundedMap<string, number>(LOCKS_TOLD_MAX);

  constructor(parts: LockoutParts) {
    this.#parts = parts;
    this.#background = new Background(parts.log);
  }

  /** Begins an attempt: null if it may go on, else for how long this caller is locked out. */
  async admit(account: TriedAccount, caller: Caller, tried: Tried = "PASSWORD"): Promise<Locked | null> {
    const now = this.#parts.wallNow();
    const { own, address } = this.#bucketsOf(account, caller, tried);
    const lock = await this.#lockOf(address === null ? own : [...own, address], now);
    if (lock !== null) return this.#locked(lock, account, caller);
    for (const bucket of own) await this.#note(bucket, now);
    // This one is noted already, so that only more than the bound are too many.
    const raced = await this.#lockOf(
      own.map(({ holder, max }) => ({ holder, max: max + 1 })),
      now,
    );
    return raced === null ? null : this.#locked(raced, account, caller);
  }

  /** An attempt that was admitted has failed. */
  async failed(account: TriedAccount, caller: Caller, tried: Tried = "PASSWORD"): Promise<void> {
    const now = this.#parts.wallNow();
    const { own, address } = this.#bucketsOf(account, caller, tried);
    if (address !== null) await this.#note(address, now);
    const lock = await this.#lockOf(own, now);
    if (lock !== null) this.#locked(lock, account, caller);
  }

  /** An attempt that was admitted came from who it should: what was counted with it is forgotten, of an address it is not. */
  async passed(account: TriedAccount, caller: Caller, tried: Tried = "PASSWORD"): Promise<void> {
    const { own } = this.#bucketsOf(account, caller, tried);
    for (const { holder } of own) await this.#parts.people.forgetFailedSignIns(holder);
  }

  /** Ends the lock of the unknown browsers of an account. */
  async clear(account: TriedAccount): Promise<void> {
    await this.#parts.people.forgetFailedSignIns(unknownBrowsersOf(account));
  }

  /** The cookie that makes the caller's browser known to the account, as a value of `set-cookie`; one that is known stays the same. */
  deviceCookie(personId: string, caller: Caller): string {
    return this.#deviceCookie(personId, this.#deviceOf(personId, caller) ?? newDevice());
  }

  /** A cookie that makes a browser known to the account anew: what failed in it before, or in a copy of it, is not held against it. */
  newDeviceCookie(personId: string): string {
    return this.#deviceCookie(personId, newDevice());
  }

  #deviceCookie(personId: string, device: string): string {
    const { cookies, master, wallNow } = this.#parts;
    return cookies.set("lyrebird-device", deviceCookieOf(master, device, { personId, now: wallNow() }));
  }

  /** The caller's browser as the account knows it; null if it does not. */
  #deviceOf(personId: string, caller: Caller): string | null {
    const { cookies, master, wallNow } = this.#parts;
    const cookie = cookies.read("lyrebird-device", caller.cookies);
    return knownDevice(master, cookie, { personId, now: wallNow() });
  }

  #bucketsOf(account: TriedAccount, caller: Caller, tried: Tried): Buckets {
    const { personId } = account;
    const device = personId === null ? null : this.#deviceOf(personId, caller);
    const codes =
      tried === "CODE" && personId !== null ? [{ holder: `codes:${personId}`, max: CODE_FAILURES_MAX }] : [];
    if (device !== null) {
      const browser = { holder: `browser:${personId}:${device}`, max: KNOWN_BROWSER_FAILURES_MAX };
      return { own: [browser, ...codes], address: null };
    }
    return {
      own: [{ holder: unknownBrowsersOf(account), max: UNKNOWN_BROWSERS_FAILURES_MAX }, ...codes],
      address: { holder: `address:${networkOf(caller.address)}`, max: ADDRESS_FAILURES_MAX },
    };
  }

  async #note({ holder }: Bucket, now: number): Promise<void> {
    await this.#parts.people.noteFailedSignIn(holder, now, { forgetBefore: now - FAILURES_COUNT_MS });
  }

  /** The bucket of these that is full for longest, and until when; null if none is. */
  async #lockOf(
    buckets: readonly Bucket[],
    now: number,
  ): Promise<{ readonly holder: string; readonly until: number; readonly now: number } | null> {
    const failures = await this.#parts.people.listFailedSignIns(
      buckets.map(({ holder }) => holder),
      now - FAILURES_COUNT_MS + 1,
    );
    const locks = buckets.flatMap(({ holder, max }) => {
      const oldestThatCounts = failures.get(holder)?.at(-max);
      return oldestThatCounts === undefined
        ? []
        : [{ holder, until: oldestThatCounts + FAILURES_COUNT_MS, now }];
    });
    return locks.sort((one, other) => other.until - one.until)[0] ?? null;
  }

  /** Resolves when every lock that was told of is audited. */
  async settled(): Promise<void> {
    await this.#background.settled();
  }

  /** Has a lock of an account audited once, and says how long it lasts. */
  #locked(
    { holder, until, now }: { readonly holder: string; readonly until: number; readonly now: number },
    { personId }: TriedAccount,
    { address }: Caller,
  ): Locked {
    const isTold = (this.#told.get(holder) ?? 0) > now;
    if (!isTold && personId !== null && !holder.startsWith("address:")) {
      const isTaken = this.#background.run("auditing a lock", () =>
        this.#parts.people.audit({
          who: { kind: "SERVICE" },
          what: "LOCKED_OUT",
          about: { kind: "PERSON", id: personId },
          at: now,
          details: { locked: lockedBy(holder), address },
        }),
      );
      // What was not taken is told with the next attempt.
      if (isTaken) this.#told.set(holder, until);
    }
    return { lockedForSeconds: Math.max(1, Math.ceil((until - now) / 1_000)) };
  }
}

/** How many failures lock a kind of holder, by how its name begins. */
const FAILURES_MAX: readonly (readonly [prefix: string, max: number])[] = [
  ["account:", UNKNOWN_BROWSERS_FAILURES_MAX],
  ["browser:", KNOWN_BROWSER_FAILURES_MAX],
  ["codes:", CODE_FAILURES_MAX],
  ["address:", ADDRESS_FAILURES_MAX],
];

/** Whether so many failures that still count lock a holder. */
export function isLockedBy(holder: string, failures: number): boolean {
  const max = FAILURES_MAX.find(([prefix]) => holder.startsWith(prefix))?.[1];
  return max !== undefined && failures >= max;
}

/** What a lock of an account keeps out, in words for the audit. */
function lockedBy(holder: string): string {
  if (holder.startsWith("codes:")) return "codes of the second factor";
  return holder.startsWith("browser:") ? "one known browser" : "browsers that are not known";
}

function unknownBrowsersOf({ email }: TriedAccount): string {
  return `account:${email}`;
}

/** What an address is counted as: of IPv6 the network of 64 bits, since a household has that many addresses to choose from. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [bare = ""] = address.split("%");
  const [head = "", tail] = bare.split("::").map((part) => (part === "" ? [] : part.split(":")));
  const zeros = Array.from({ length: 8 - head.length - (tail?.length ?? 0) }, () => "0");
  const groups = [...head, ...zeros, ...(tail ?? [])].slice(0, 4);
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(":")}::/64`;
}
