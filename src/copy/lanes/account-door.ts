// A lane's way to its account: the credentials are opened when they are first needed, and the client is kept. Once the venue
// has rejected them nothing is sent until the account has others, or has been checked and found good.
import type { VenueAccount } from "../../domain/copying.ts";
import { isOnlyUnfit } from "../../domain/unfit-account.ts";
import type { MasterKey } from "../../identity/master-key.ts";
import type { CopyStore } from "../../store/copy-store.ts";
import { openCredentials } from "../credentials.ts";
import type { Venue, VenueClient, VenueRejection } from "../venue/venue.ts";
import type { Venues } from "../venue/venues.ts";
import { AccountGone } from "./endings.ts";

export type DoorParts = {
  readonly store: Pick<CopyStore, "findAccount" | "noteAccountChecked">;
  readonly venues: Pick<Venues, "venue">;
  readonly master: MasterKey;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
};

export type OpenDoor = {
  readonly account: VenueAccount;
  readonly venue: Venue;
  readonly client: VenueClient;
  /** The same account's, for looking at it. */
  readonly looker: VenueClient;
};

export class AccountDoor {
  readonly #parts: DoorParts;
  readonly #accountId: string;
  #open: OpenDoor | null = null;

  constructor(parts: DoorParts, accountId: string) {
    this.#parts = parts;
    this.#accountId = accountId;
  }

  /** Null before it was opened, and while its account is to be read anew. */
  get opened(): OpenDoor | null {
    return this.#open;
  }

  /** Throws if there is no such account, and AccountGone if its credentials are destroyed. */
  async open(): Promise<OpenDoor> {
    if (this.#open !== null) return this.#open;
    const account = await this.#find();
    const { origin, family } = { origin: account.venue, family: account.family };
    if (account.sealed === null) throw new AccountGone(account.accountId);
    const credentials = openCredentials(this.#parts.master, account.accountId, account.sealed);
    const venue = this.#parts.venues.venue(origin, family);
    const clientOf = (isLooking: boolean) => venue.account(account.accountId, credentials, { isLooking });
    this.#open = { account, venue, client: clientOf(false), looker: clientOf(true) };
    return this.#open;
  }

  /** Whether the venue's rejection of the credentials stands; null while it is not known. */
  get isRejected(): boolean | null {
    if (this.#open === null) return null;
    const { account } = this.#open;
    return account.status === "FAILED" && !isOnlyUnfit(account);
  }

  /**
   * The venue has rejected the credentials. True if the account has others by now, which it is tried with; otherwise the
   * rejection is noted.
   */
  async reject({ code, message }: VenueRejection): Promise<boolean> {
    const account = await this.#find();
    if (this.#open !== null && account.sealed !== this.#open.account.sealed) {
      this.#open = null;
      return true;
    }
    const { store, wallNow } = this.#parts;
    const failure = `${code} ${message}`;
    await store.noteAccountChecked(this.#accountId, { status: "FAILED", failure, at: wallNow() });
    if (this.#open !== null)
      this.#open = { ...this.#open, account: { ...account, status: "FAILED", failure } };
    return false;
  }

  /** Something of the account may have changed: if its credentials were rejected, it is looked at anew. */
  async refresh(): Promise<void> {
    if (this.isRejected !== true) return;
    const account = await this.#find();
    if (account.status === "CONNECTED") this.#open = null;
  }

  async #find(): Promise<VenueAccount> {
    const account = await this.#parts.store.findAccount(this.#accountId);
    if (account === null) throw new Error(`a copy has an account: ${this.#accountId}`);
    return account;
  }
}
