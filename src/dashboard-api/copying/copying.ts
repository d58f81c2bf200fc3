// The venue requests of the dashboard's copying routes, for which a person waits: the check of an account,
// its funds, and the rules of a symbol. Credentials are decrypted for one request and not kept. The copy
// executors request what orders need themselves.
import { AsyncCache } from "../../concurrency/bounded-map.ts";
import type { Timers } from "../../concurrency/time.ts";
import { digestsOf, openCredentials, sealCredentials } from "../../copy/credentials.ts";
import { restricted, spotOriginOf } from "../../copy/venue/key-rights.ts";
import type {
  AccountCheck,
  Venue,
  VenueAnswer,
  VenueBalances,
  VenueCredentials,
} from "../../copy/venue/venue.ts";
import type { StrategyType } from "../../domain/account.ts";
import type { VenueAccount } from "../../domain/copying.ts";
import type { SymbolRules } from "../../domain/symbol.ts";
import type { MasterKey } from "../../keys/master-key.ts";
import { DashboardError } from "../errors.ts";
import { VenueQuestions } from "./venue-questions.ts";
import { answerOf, keyRefused } from "./venue-words.ts";

/** An account's funds are cached for this long, since every change of a setting requests a new preview. */
const FUNDS_KEPT_MS = 10_000;
const FUNDS_KEPT_MAX = 1_000;
/** Timeout for a venue's rules; after it, other rules are used. */
const RULES_MS_MAX = 5_000;

/** The venue of an account. */
export type AccountPlace = Pick<VenueAccount, "accountId" | "type" | "venue">;

export type CopyingParts = {
  /** The origins that copiers may connect accounts of; none while copying is not offered. */
  readonly allowed: readonly string[];
  readonly venues: {
    venue(origin: string, type: StrategyType): Venue;
    close(): Promise<void>;
  };
  readonly master: MasterKey;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
  readonly after: Timers["after"];
};

export class Copying {
  readonly #parts: CopyingParts;
  readonly #questions: VenueQuestions;
  readonly #funds: AsyncCache<VenueBalances>;

  constructor(parts: CopyingParts) {
    this.#parts = parts;
    this.#questions = new VenueQuestions(parts);
    this.#funds = new AsyncCache(parts, { ttlMs: FUNDS_KEPT_MS, sizeMax: FUNDS_KEPT_MAX });
  }

  /** The venues' origins; none while copying is not offered. */
  get venues(): readonly string[] {
    return this.#parts.allowed;
  }

  /** Throws COPYING_NOT_OFFERED unless copies are carried out here, at this venue if one is named. */
  demand(venue: string | null = null): void {
    if (this.venues.length === 0) throw new DashboardError("COPYING_NOT_OFFERED");
    if (venue !== null && !this.venues.includes(venue)) {
      throw new DashboardError("COPYING_NOT_OFFERED", {
        message: "The account is at an exchange that this server no longer allows.",
        action: "Connect an account at another exchange, or ask the operator to allow this one again.",
      });
    }
  }

  /** What the venue says of an account with these credentials. Throws as `VenueQuestions` does. */
  check(
    personId: string,
    { accountId, type, venue }: AccountPlace,
    credentials: VenueCredentials,
  ): Promise<VenueAnswer<AccountCheck>> {
    const { venues, allowed } = this.#parts;
    return this.#questions.ask(personId, async () => {
      const found = await venues.venue(venue, type).account(accountId, credentials).check();
      const spot = type === "FUTURES" ? spotOriginOf(venue) : null;
      const isToldElsewhere = spot !== null && allowed.includes(spot);
      if (found.kind !== "OK" || !isToldElsewhere) return found;
      // The spot venue has the same operator and accepts the same key, and reports the rights of a key.
      const rights = await venues.venue(spot, "SPOT").account(accountId, credentials).keyRights(type);
      if (rights.kind === "OK") return { kind: "OK", value: restricted(found.value, rights.value) };
      return rights.kind === "DELAYED" || rights.kind === "UNKNOWN" ? rights : found;
    });
  }

  /** The same with the credentials that an account has. */
  checkAgain(account: VenueAccount): Promise<VenueAnswer<AccountCheck>> {
    return this.check(account.personId, account, this.#credentialsOf(account));
  }

  /**
   * What an account has, at most `FUNDS_KEPT_MS` old. Throws as `VenueQuestions` and `answerOf` do, and
   * STATE_CHANGED if the venue does not accept its key any more.
   */
  funds(account: VenueAccount): Promise<VenueBalances> {
    const { accountId, type, venue, personId, sealed } = account;
    // With other credentials it may be another account.
    return this.#funds.get(`${accountId} ${sealed}`, async () => {
      const client = this.#parts.venues.venue(venue, type).account(accountId, this.#credentialsOf(account), {
        isKeyCheck: true,
      });
      const answer = await this.#questions.ask(personId, () => client.balances());
      if (answer.kind === "REFUSED" || answer.kind === "REJECTED") throw keyRefused(answer);
      return answerOf(answer, this.#parts.wallNow());
    });
  }

  /**
   * The venue's rules of symbols. Of one that it does not list null; one that it does not tell of in time is
   * left out.
   */
  async rulesOf(
    { type, venue }: Pick<AccountPlace, "type" | "venue">,
    symbols: Iterable<string>,
  ): Promise<ReadonlyMap<string, SymbolRules | null>> {
    const found = new Map<string, SymbolRules | null>();
    const at = this.#parts.venues.venue(venue, type);
    const asked = [...new Set(symbols)].map(async (symbol) => {
      const answer = await at.rules(symbol);
      if (answer.kind === "OK") found.set(symbol, answer.value);
    });
    await this.#atMost(RULES_MS_MAX, Promise.all(asked));
    return new Map(found);
  }

  /** What is in flight has no answer; resolves when nothing is any more. */
  async close(): Promise<void> {
    await this.#parts.venues.close();
    await this.#questions.close();
  }

  /** Credentials as the store holds them. */
  sealed(accountId: string, keys: VenueCredentials): string {
    return sealCredentials(this.#parts.master, accountId, keys);
  }

  /** The hashes that a key may be stored by, at whichever origin it was connected. */
  keyDigests({ type, venue }: AccountPlace, { apiKey }: VenueCredentials) {
    const { master, allowed } = this.#parts;
    return digestsOf(master, { type, apiKey }, [...new Set([venue, ...allowed])]);
  }

  #credentialsOf({ accountId, sealed }: Pick<VenueAccount, "accountId" | "sealed">): VenueCredentials {
    if (sealed === null)
      throw new DashboardError("STATE_CHANGED", { message: "The account is disconnected." });
    return openCredentials(this.#parts.master, accountId, sealed);
  }

  #atMost(ms: number, work: Promise<unknown>): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.#parts.after(ms, resolve);
      work.then(() => resolve(), reject).finally(cancel);
    });
  }
}
