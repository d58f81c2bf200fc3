// Where copying plays: two real gateways in processes of their own, the leads' with the copier inside and the
// venue with the copiers' accounts, on one market that is in the test's hands. Their databases are open
// beside them.
import { openDataDirectory } from "../../src/config/data-directory.ts";
import type { StrategyType } from "../../src/domain/account.ts";
import type { Copy, MirrorEntry } from "../../src/domain/copying.ts";
import { seedStrategies } from "../../src/keys/seed.ts";
import { HEEDS_ADDRESSES } from "../campaigns/harness/markets.ts";
import { openSteeredMarket, type SteeredMarket } from "../campaigns/harness/steered-market.ts";
import { eventually } from "../support/eventually.ts";
import { signedUnits } from "../support/exact.ts";
import { priced } from "../support/prices.ts";
import { type Credentials, type GatewayProcess, startGateway } from "../support/servers/gateway.ts";
import { signed, type WireAnswer } from "../support/signed-client.ts";
import {
  type Books,
  type Copier,
  type Lead,
  newCopier,
  newLeads,
  newVenueAccounts,
  type Terms,
} from "./actors.ts";
import { tradesAt } from "./probe.ts";

export type Side = Books & { readonly gateway: GatewayProcess };

/** Asking beside a server costs it something. */
const ASK_AGAIN_MS = 20;
/** A request over the wire has a weight of up to five, of 1,200 in a minute. */
const QUERY_AGAIN_MS = 300;
const ENTRIES_MAX = 1_000;
export type Parameters = Readonly<Record<string, string | number>>;

export class CopyFixture {
  readonly market: SteeredMarket;
  readonly lead: Side;
  readonly venue: Side;
  /** Where the copier finds the venue. */
  readonly origin: string;

  private constructor(market: SteeredMarket, lead: Side, venue: Side, origin: string) {
    this.market = market;
    this.lead = lead;
    this.venue = venue;
    this.origin = origin;
  }

  /** `venueMarket`: the venue's own, if it has one. `through`: another origin that leads to the venue. */
  static async open({
    venueMarket,
    through = async (url) => url,
  }: {
    readonly venueMarket?: SteeredMarket;
    readonly through?: (url: string) => Promise<string>;
  } = {}): Promise<CopyFixture> {
    const market = await openSteeredMarket();
    const venue = await openSide({ ...(venueMarket ?? market).env, ...HEEDS_ADDRESSES });
    const origin = await through(venue.gateway.url);
    const lead = await openSide({ ...market.env, ...HEEDS_ADDRESSES, COPY_VENUES: origin });
    return new CopyFixture(market, lead, venue, origin);
  }

  /** A new strategy that may be followed. */
  async newLead(type: StrategyType): Promise<Lead> {
    const [lead] = await newLeads(this.lead, [type]);
    if (lead === undefined) throw new Error("a strategy was made");
    return lead;
  }

  /** A new strategy of somebody, which nobody may follow yet. */
  async newLeadOf(ownerId: string, type: StrategyType): Promise<Lead> {
    const { store, master } = this.lead;
    const [seeded] = await seedStrategies(store, master, [type], Date.now(), { ownerId });
    if (seeded === undefined) throw new Error("a strategy was made");
    return { ...seeded, ownerId };
  }

  async newVenueAccount(type: StrategyType): Promise<Credentials> {
    const [account] = await newVenueAccounts(this.venue, type, 1);
    if (account === undefined) throw new Error("an account was made");
    return account;
  }

  /** Somebody new who follows it with a new account at the venue. */
  async newCopier(lead: Lead, terms: Terms = {}): Promise<Copier> {
    const venue = await this.newVenueAccount(lead.type);
    return await newCopier(this.lead, { lead, venue, origin: this.origin, terms });
  }

  /** A signed request of a strategy that must succeed; answers its body. */
  async trade(lead: Credentials, method: string, path: string, parameters: Parameters = {}) {
    const send = () => signed(this.lead.gateway.url, lead, method, path, parameters);
    return bodyOf(await priced(send), `${method} ${path}`);
  }

  /** The same of a copier's account at the venue. */
  async atVenue({ venue }: Pick<Copier, "venue">, method: string, path: string, parameters: Parameters = {}) {
    const send = () => signed(this.venue.gateway.url, venue, method, path, parameters);
    return bodyOf(await priced(send), `${method} ${path}`);
  }

  /** Resolves when an order of a strategy has a status. */
  async leadOrderIs(lead: Lead, path: string, order: Parameters, status: string): Promise<void> {
    const isSo = async () => (await this.trade(lead, "GET", path, order)).status === status;
    await eventually(`the order is ${status}`, isSo, { askAgainMs: QUERY_AGAIN_MS });
  }

  /** Resolves when a strategy's own position is so large, in units of 1e-8. */
  async positionIs(lead: Lead, symbol: string, quantity: bigint): Promise<void> {
    await eventually(
      `the strategy's position of ${symbol} is ${quantity}`,
      async () => {
        const rows = await this.trade(lead, "GET", "/fapi/v3/positionRisk", { symbol });
        return signedUnits(rows[0]?.positionAmt ?? "0") === quantity;
      },
      { askAgainMs: QUERY_AGAIN_MS },
    );
  }

  /** Has the venue take a copier's key no more. */
  async revoke({ venue }: Pick<Copier, "venue">): Promise<void> {
    await this.venue.store.revokeKey(venue.apiKey, Date.now());
  }

  /** The copier's position at the venue, in units of 1e-8. */
  async positionOf(copier: Pick<Copier, "venue">, symbol: string): Promise<bigint> {
    const rows = await this.atVenue(copier, "GET", "/fapi/v3/positionRisk", { symbol });
    return signedUnits(rows[0]?.positionAmt ?? "0");
  }

  /** Moves a price, and resolves when both gateways trade at it. */
  async setPrice(
    type: StrategyType,
    symbol: string,
    shown: { readonly bid: string; readonly ask: string; readonly mark?: string },
  ): Promise<void> {
    this.market.setPrice(symbol, shown);
    await Promise.all([this.lead, this.venue].map((side) => tradesAt(side, type, symbol, shown)));
  }

  /**
   * Resolves when all that a strategy did is dealt with by all live copies of it, and their fees are known.
   */
  async caughtUp({ strategyId }: Pick<Lead, "strategyId">): Promise<void> {
    const { store } = this.lead;
    await eventually(
      "the copies are as far as their strategy",
      async () => {
        const version = (await store.loadAccount(strategyId))?.version;
        const lead = await store.copying.findLead(strategyId);
        if (lead === null || lead.version !== version) return false;
        const copies = await store.copying.listCopiesOfStrategy(strategyId, { isLive: true });
        if (!copies.every(({ doneSeq }) => doneSeq === lead.seq)) return false;
        const open = await store.copying.listOpenEntries({ strategyId });
        return open.every(({ isFeeDue }) => isFeeDue !== true);
      },
      { askAgainMs: ASK_AGAIN_MS, msMax: CAUGHT_UP_MS_MAX },
    );
  }

  async copyOf({ copyId }: Pick<Copier, "copyId">): Promise<Copy> {
    const copy = await this.lead.store.copying.findCopy(copyId);
    if (copy === null) throw new Error("the copy was made");
    return copy;
  }

  /** The mirror log, oldest first. */
  async entriesOf({ copyId }: Pick<Copier, "copyId">): Promise<readonly MirrorEntry[]> {
    return (await this.lead.store.copying.listMirrorEntries(copyId, { limit: ENTRIES_MAX })).toReversed();
  }

  /** Resolves when a copy has become what is expected of it. */
  async becomes(
    what: string,
    copier: Pick<Copier, "copyId">,
    holds: (copy: Copy, entries: readonly MirrorEntry[]) => boolean,
  ): Promise<void> {
    const isSo = async () => holds(await this.copyOf(copier), await this.entriesOf(copier));
    try {
      await eventually(what, isSo, { askAgainMs: ASK_AGAIN_MS, msMax: CAUGHT_UP_MS_MAX });
    } catch (error) {
      const { book: _, settings: __, ...copy } = await this.copyOf(copier);
      const last = (await this.entriesOf(copier)).slice(-ENTRIES_SHOWN);
      const shown = [copy, ...last].map((each) => JSON.stringify(each, textOfBigint)).join("\n");
      throw new Error(`${error instanceof Error ? error.message : error}\n${shown}`);
    }
  }

  /** Resolves when the copier knows of all changes that people have made so far. */
  async isKnown(copier: Pick<Copier, "copyId">): Promise<void> {
    // What is asked for is learned together with what was changed.
    await this.looksUntil("what was changed is known", copier, () => true);
  }

  /** Has a copy ask the venue what it holds, as often as it takes, until the answer is as expected. */
  async looksUntil(
    what: string,
    { copyId }: Pick<Copier, "copyId">,
    holds: (copy: Copy, entries: readonly MirrorEntry[]) => boolean,
  ): Promise<void> {
    const { copying } = this.lead.store;
    await eventually(
      what,
      async () => {
        const asked = await copying.addRequest(
          {
            ...{ requestId: `look-${copyId}-${Date.now()}`, copyId, kind: "LOOK", mayIncrease: false },
            ...{ askedAt: Date.now(), doneAt: null, failure: null },
          },
          null,
        );
        await eventually(
          "the look is done",
          async () =>
            (await copying.listRequests(copyId, ENTRIES_MAX)).some(
              ({ requestId, doneAt }) => requestId === asked.requestId && doneAt !== null,
            ),
          { askAgainMs: ASK_AGAIN_MS, msMax: CAUGHT_UP_MS_MAX },
        );
        return holds(await this.copyOf({ copyId }), await this.entriesOf({ copyId }));
      },
      { askAgainMs: LOOK_AGAIN_MS, msMax: CAUGHT_UP_MS_MAX },
    );
  }

  async close(): Promise<void> {
    for (const { gateway, store } of [this.lead, this.venue]) {
      await store.close();
      const code = await gateway.stop();
      if (code !== 0) throw new Error(`told to stop a gateway ended with ${code}:\n${gateway.output()}`);
    }
    await this.market.close();
  }
}

/** Lines of the mirror log in the message of what did not become so. */
const ENTRIES_SHOWN = 12;

const textOfBigint = (_: string, value: unknown) => (typeof value === "bigint" ? `${value}` : value);

/**
 * What a copy waits for at most, ms: an account is polled every 15 s, and a copy that is closed sells nothing
 * for 30 s while the outcome of an order is unknown, as on a machine so busy that an answer came too late.
 */
const CAUGHT_UP_MS_MAX = 60_000;
const LOOK_AGAIN_MS = 250;

async function openSide(env: Readonly<Record<string, string>>): Promise<Side> {
  const gateway = await startGateway({ env });
  const { store, master } = await openDataDirectory(gateway.dataDir, null);
  return { gateway, store, master };
}

function bodyOf({ status, body }: WireAnswer, what: string) {
  if (status !== 200) throw new Error(`${what} is refused: ${JSON.stringify(body)}`);
  return body;
}
