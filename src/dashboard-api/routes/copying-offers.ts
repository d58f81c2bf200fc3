// Strategies that a copier may follow: the list with their performance, one with its curve, and a preview of
// it on an account.
import { z } from "zod";
import { DUST_WORTH, leadStateOf } from "../../copy/leads/actions.ts";
import { spotSymbolOf } from "../../copy/sizing/proportion.ts";
import { type Copy, EMPTY_BOOK, EXACT_SETTINGS } from "../../domain/copying.ts";
import { proceedsDown, type Quantity } from "../../money/decimal.ts";
import { copiersOf } from "../copying/copies.ts";
import { previewOf } from "../copying/copy-preview.ts";
import { copySettingsForm, settingsFrom } from "../copying/copy-settings.ts";
import { connectedAccount, followsStrategy } from "../copying/own-copies.ts";
import { DashboardError } from "../errors.ts";
import { PAGE_ROWS, pageOf, placeText } from "../paging.ts";
import { type DashboardCall, personOf, route } from "../route.ts";
import { previewSchema } from "../schemas/copies.ts";
import { offerDetailSchema, offersSchema } from "../schemas/copying.ts";

const ID_LENGTH_MAX = 64;
const SEARCH_LENGTH_MAX = 100;

const strategyType = z.enum(["SPOT", "FUTURES"]);
const idText = z.string().min(1).max(ID_LENGTH_MAX);

export const COPYING_OFFER_ROUTES = [
  route("GET /copying/offers", "COPIER", offersSchema, {
    query: z.strictObject({
      type: strategyType.optional(),
      search: z.string().trim().min(1).max(SEARCH_LENGTH_MAX).optional(),
      before: placeText.optional(),
    }),
    async answer(call) {
      const { parts, query } = call;
      parts.copying.demand();
      const { personId } = personOf(call);
      const { copying } = parts.gateway.store;
      const { before, ...filter } = query;
      const found = await copying.listOpenStrategies({ ...filter, after: before, limit: PAGE_ROWS + 1 });
      const { rows: strategies, next } = pageOf(
        found,
        ({ createdAt, strategyId }) => `${createdAt}-${strategyId}`,
      );
      const total = await copying.countOpenStrategies(filter);
      const summaries = await parts.copyOffers.summaries(personId, strategies);
      const own = await ownCopies(call);
      const rows = strategies.map((strategy, index) => ({
        ...strategy,
        copiers: strategy.copies,
        performance: summaries[index]?.performance ?? null,
        smallestBalances: summaries[index]?.smallestBalances ?? null,
        copyId: own.get(strategy.strategyId)?.copyId ?? null,
      }));
      return { body: { rows, next, total } };
    },
  }),

  route("GET /copying/offers/:strategyId", "COPIER", offerDetailSchema, async (call) => {
    const { strategyId } = call.params;
    const { parts } = call;
    const { name, type, createdAt, copy } = await visibleStrategy(call, strategyId);
    const summary = await parts.copyOffers.summary(personOf(call).personId, { strategyId, type });
    const tally = await parts.gateway.store.copying.tallyCopies({ strategyId });
    const { FOLLOWING, PAUSED, CLOSING } = copiersOf(tally);
    return {
      body: {
        ...{ strategyId, name, type, createdAt },
        copiers: FOLLOWING + PAUSED + CLOSING,
        ...summary,
        copyId: copy?.copyId ?? null,
        holds: await heldBy(parts, strategyId),
      },
    };
  }),

  route("POST /copying/preview", "COPIER", previewSchema, {
    needsKyc: true,
    body: z.strictObject({ strategyId: idText, accountId: idText, settings: copySettingsForm }),
    async answer(call) {
      const { strategyId, accountId } = call.body;
      const account = await connectedAccount(call, accountId);
      const { type, copy } = await visibleStrategy(call, strategyId);
      call.parts.copying.demand(account.venue);
      if (type !== account.type) {
        throw new DashboardError("BODY_UNFIT", {
          fields: { accountId: "is for the other market than the strategy" },
        });
      }
      const isOwn = copy?.accountId === accountId;
      const settings = settingsFrom(call.body.settings, isOwn ? copy.settings : EXACT_SETTINGS);
      const { holdings } = isOwn ? copy.book : EMPTY_BOOK;
      const isExact = copy !== null && followsStrategy(copy);
      return { body: await previewOf(call.parts, { strategyId, account, settings, holdings, isExact }) };
    },
  }),
];

/**
 * What a strategy holds beside its quote asset, in alphabetical order; coins that are too few for any order
 * are left out.
 */
async function heldBy(
  { gateway, prices }: DashboardCall["parts"],
  strategyId: string,
): Promise<readonly string[]> {
  const loaded = await gateway.store.loadAccount(strategyId);
  if (loaded === null) return [];
  const { type } = loaded.account;
  const isDust = (asset: string, quantity: Quantity): boolean => {
    const price = prices.of(type, spotSymbolOf(asset))?.price;
    return price !== undefined && proceedsDown(price, quantity) < DUST_WORTH;
  };
  return [...leadStateOf(loaded.account, null).held]
    .filter(([name, quantity]) => type === "FUTURES" || !isDust(name, quantity))
    .map(([name]) => name)
    .sort();
}

type Asked = Pick<DashboardCall, "parts" | "signedIn">;

/** A live strategy that is open to copiers, or one that the caller follows already. Throws NOT_FOUND. */
async function visibleStrategy(call: Asked, strategyId: string) {
  const { people, copying } = call.parts.gateway.store;
  const strategy = await people.findStrategy(strategyId);
  const copy = (await ownCopies(call)).get(strategyId) ?? null;
  if (strategy === null) throw new DashboardError("NOT_FOUND");
  const isOffered = strategy.status === "LIVE" && (await copying.isOpenToCopiers(strategyId));
  const isFollowed = copy !== null && followsStrategy(copy);
  if (!isOffered && !isFollowed) throw new DashboardError("NOT_FOUND");
  const { name, type, createdAt } = strategy;
  return { name, type, createdAt, copy };
}

/** The caller's live copies, by the strategy that they follow. */
async function ownCopies(call: Asked): Promise<ReadonlyMap<string, Copy>> {
  const copies = await call.parts.gateway.store.copying.listCopiesOf(personOf(call).personId);
  const live = copies.filter(({ status }) => status !== "STOPPED");
  return new Map(live.map((copy) => [copy.strategyId, copy]));
}
