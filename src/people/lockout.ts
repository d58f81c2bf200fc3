// Locks after failed attempts to sign in or to enter a code. The store counts failures, for all servers and
// across restarts. An attempt on an account is recorded before it is checked and removed if it succeeds, so
// that simultaneous attempts do not exceed the bound together. For a network address, which many people may
// share, only failures are recorded; there attempts in flight may exceed the bound. A right password without
// its code counts until the next success. Audit records of locks are written in the background: waiting for
// one would reveal by timing whether the account exists.
import { isIPv6 } from "node:net";
import type { Logger } from "pino";
import { BoundedMap } from "../concurrency/bounded-map.ts";
import type { MasterKey } from "../keys/master-key.ts";
import type { PeopleStore } from "../store/ports/people.ts";
import { Background } from "./background.ts";
import type { Caller, Cookies } from "./cookies.ts";
import { deviceCookieOf, knownDevice, newDevice } from "./devices.ts";

/** How long a failed attempt counts, and so the longest duration of a lock, ms. */
export const FAILURES_COUNT_MS = 15 * 60_000;
/** Failed attempts on an account from all browsers that it does not know. */
export const UNKNOWN_BROWSERS_FAILURES_MAX = 10;
/** Failed attempts on an account from one browser that it knows. */
export const KNOWN_BROWSER_FAILURES_MAX = 10;
/**
 * Failed codes of an account from all browsers: the sum of both, so that unknown browsers alone never reach
 * it.
 */
export const CODE_FAILURES_MAX = UNKNOWN_BROWSERS_FAILURES_MAX + KNOWN_BROWSER_FAILURES_MAX;
/** Failed attempts from one network address on all accounts: a household or an office shares one. */
export const ADDRESS_FAILURES_MAX = 50;
/** Locks that are known to be audited; beyond it the oldest may be audited again. */
const AUDITED_LOCKS_MAX = 10_000;

/** The account of an attempt; the person is null if nobody has that e-mail address. */
type TriedAccount = { readonly email: string; readonly personId: string | null };

export type Locked = { readonly lockedForSeconds: number };

/**
 * What an attempt guesses: the password, or a code of the second factor. A code beside a password that was
 * admitted belongs to the attempt that the password's bucket counts already.
 */
type Tried = "PASSWORD" | "CODE" | "CODE_BESIDE_PASSWORD";

/** A count of failures, and its bound. */
type Bucket = { readonly holder: string; readonly max: number };

/** Every admitted attempt is recorded in `own`, and removed if it succeeds; `address` gets failures only. */
type Buckets = {
  readonly own: readonly Bucket[];
  /** The bucket of the browser, also of a code that counts beside its password. */
  readonly browser: Bucket;
  readonly address: Bucket | null;
};

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
 * Counts failures in four kinds of buckets: of a network address; of an account and all browsers that it does
 * not know; of an account and one known browser; and, for codes only, of an account and all browsers. An
 * account knows a browser after somebody has signed in with it, or has opened a link mailed to the account's
 * address.
 *
 * Strangers cannot lock the owner out. The cookie of a known browser is signed for the account, and only
 * proven owners get one, so strangers fill only the buckets of unknown browsers and of their addresses.
 * Neither applies to a known browser: its own bucket does, and for codes that of codes, which unknown
 * browsers alone cannot fill. If strangers keep the bucket of unknown browsers full, an owner with a new
 * browser requests a link to set a new password. No bucket applies to links, and opening one makes the
 * browser known.
 *
 * All strangers together have ten guesses of a password per quarter of an hour, whatever the number of their
 * addresses. Codes can be guessed only with the password, a session or the mailbox. All browsers together
 * have twenty guesses per quarter of an hour, 1,920 a day. Three of a million codes are valid at a time, so
 * one such day in 174 succeeds.
 */
export class Lockout {
  readonly #parts: LockoutParts;
  readonly #background: Background;
  /** The ends of the audited locks, by holder. */
  readonly #auditedUntil = new BoundedMap<string, number>(AUDITED_LOCKS_MAX);

  constructor(parts: LockoutParts) {
    this.#parts = parts;
    this.#background = new Background(parts.log);
  }

  /** Begins an attempt: null if it is admitted, else how long this caller is locked out. */
  async admit(account: TriedAccount, caller: Caller, tried: Tried = "PASSWORD"): Promise<Locked | null> {
    const now = this.#parts.wallNow();
    const { own, address } = this.#bucketsOf(account, caller, tried);
    const lock = await this.#lockOf(address === null ? own : [...own, address], now);
    if (lock !== null) return this.#locked(lock, account, caller);
    for (const bucket of own) await this.#record(bucket, now);
    // This attempt is recorded already, so the bound is one more.
    const raced = await this.#lockOf(
      own.map(({ holder, max }) => ({ holder, max: max + 1 })),
      now,
    );
    return raced === null ? null : this.#locked(raced, account, caller);
  }

  /** Ends an admitted attempt that failed. */
  async failed(account: TriedAccount, caller: Caller, tried: Tried = "PASSWORD"): Promise<void> {
    const now = this.#parts.wallNow();
    const { own, browser, address } = this.#bucketsOf(account, caller, tried);
    if (address !== null) await this.#record(address, now);
    const lock = await this.#lockOf([...new Set([browser, ...own])], now);
    if (lock !== null) this.#locked(lock, account, caller);
  }

  /**
   * Ends an admitted attempt that succeeded: removes the failures of its account and browser, but not those
   * of its address.
   */
  async passed(account: TriedAccount, caller: Caller, tried: Tried = "PASSWORD"): Promise<void> {
    const { own } = this.#bucketsOf(account, caller, tried);
    for (const { holder } of own) await this.#parts.people.forgetFailedSignIns(holder);
  }

  /** Ends the lock of an account's unknown browsers. */
  async clear(account: TriedAccount): Promise<void> {
    await this.#parts.people.forgetFailedSignIns(unknownBrowsersOf(account));
  }

  /**
   * The cookie that makes the caller's browser known, as a value of `set-cookie`. A known browser keeps its
   * name.
   */
  deviceCookie(personId: string, caller: Caller): string {
    return this.#deviceCookie(personId, this.#deviceOf(personId, caller) ?? newDevice());
  }

  /**
   * A cookie that makes a browser known under a new name, so that earlier failures, of it or of its copy, do
   * not count.
   */
  newDeviceCookie(personId: string): string {
    return this.#deviceCookie(personId, newDevice());
  }

  #deviceCookie(personId: string, device: string): string {
    const { cookies, master, wallNow } = this.#parts;
    return cookies.set("lyrebird-device", deviceCookieOf(master, device, { personId, now: wallNow() }));
  }

  /** The name by which the account knows the caller's browser; null if it does not. */
  #deviceOf(personId: string, caller: Caller): string | null {
    const { cookies, master, wallNow } = this.#parts;
    const cookie = cookies.read("lyrebird-device", caller.cookies);
    return knownDevice(master, cookie, { personId, now: wallNow() });
  }

  #bucketsOf(account: TriedAccount, caller: Caller, tried: Tried): Buckets {
    const { personId } = account;
    const device = personId === null ? null : this.#deviceOf(personId, caller);
    const browser =
      device === null
        ? { holder: unknownBrowsersOf(account), max: UNKNOWN_BROWSERS_FAILURES_MAX }
        : { holder: `browser:${personId}:${device}`, max: KNOWN_BROWSER_FAILURES_MAX };
    const codes = { holder: `codes:${personId}`, max: CODE_FAILURES_MAX };
    return {
      own: [
        ...(tried === "CODE_BESIDE_PASSWORD" ? [] : [browser]),
        ...(tried === "PASSWORD" || personId === null ? [] : [codes]),
      ],
      browser,
      address:
        device === null
          ? { holder: `address:${networkOf(caller.address)}`, max: ADDRESS_FAILURES_MAX }
          : null,
    };
  }

  async #record({ holder }: Bucket, now: number): Promise<void> {
    await this.#parts.people.noteFailedSignIn(holder, now, { forgetBefore: now - FAILURES_COUNT_MS });
  }

  /** The bucket that stays full for longest, and until when; null if none is full. */
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

  /** Resolves when every lock is audited. */
  async settled(): Promise<void> {
    await this.#background.settled();
  }

  /** Audits a lock of an account once, and answers how long it lasts. */
  #locked(
    { holder, until, now }: { readonly holder: string; readonly until: number; readonly now: number },
    { personId }: TriedAccount,
    { address }: Caller,
  ): Locked {
    const isAudited = (this.#auditedUntil.get(holder) ?? 0) > now;
    if (!isAudited && personId !== null && !holder.startsWith("address:")) {
      const isAccepted = this.#background.run("auditing a lock", () =>
        this.#parts.people.audit({
          who: { kind: "SERVICE" },
          what: "LOCKED_OUT",
          about: { kind: "PERSON", id: personId },
          at: now,
          details: { locked: lockedBy(holder), address },
        }),
      );
      // Otherwise the next attempt tries again.
      if (isAccepted) this.#auditedUntil.set(holder, until);
    }
    return { lockedForSeconds: Math.max(1, Math.ceil((until - now) / 1_000)) };
  }
}

/** How many failures lock a holder, by the prefix of its name. */
const FAILURES_MAX: readonly (readonly [prefix: string, max: number])[] = [
  ["account:", UNKNOWN_BROWSERS_FAILURES_MAX],
  ["browser:", KNOWN_BROWSER_FAILURES_MAX],
  ["codes:", CODE_FAILURES_MAX],
  ["address:", ADDRESS_FAILURES_MAX],
];

/** Whether this number of failures locks a holder. */
export function isLockedBy(holder: string, failures: number): boolean {
  const max = FAILURES_MAX.find(([prefix]) => holder.startsWith(prefix))?.[1];
  return max !== undefined && failures >= max;
}

/** What a lock of an account applies to, in words for the audit. */
function lockedBy(holder: string): string {
  if (holder.startsWith("codes:")) return "codes of the second factor";
  return holder.startsWith("browser:") ? "one known browser" : "browsers that are not known";
}

function unknownBrowsersOf({ email }: TriedAccount): string {
  return `account:${email}`;
}

/** The holder of an address: of IPv6 its network of 64 bits, since a household has all of its addresses. */
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
