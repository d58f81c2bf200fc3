// A trader's strategies: the list, creating one with a key and a fill profile, renaming it, and binding
// another key after its key was revoked.
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { accountOf } from "../../http/routes/strategy.ts";
import { firstCommit } from "../../keys/seed.ts";
import type { OwnedStrategy } from "../../store/ports/people.ts";
import { codeText, demandCode } from "../codes.ts";
import { DashboardError } from "../errors.ts";
import { chosenProfile, feeTierRows, PROFILE_FIELDS, termsInAudit } from "../fill-profiles.ts";
import type { DashboardParts } from "../parts.ts";
import { lineField } from "../reading.ts";
import { audited, type DashboardCall, ownStrategy, personOf, route } from "../route.ts";
import { rows } from "../schemas/fields.ts";
import { feeTierSchema, strategySchema } from "../schemas/strategies.ts";
import { valuationOf } from "../valuation.ts";
import { findOwnKey } from "./keys.ts";

/** Strategies of one person that are not closed. */
export const STRATEGIES_MAX = 50;
const NAME_LENGTH_MAX = 60;

const nameText = lineField(NAME_LENGTH_MAX);
const keyIdText = z.string().min(1).max(64);
const KEY_NOT_FREE = {
  message: "The key cannot be bound.",
  action: "Choose a live key that is not bound to an open strategy, or create one.",
  fields: { keyId: "is revoked, or bound to an open strategy already" },
};

export const STRATEGY_ROUTES = [
  route("GET /strategies", "TRADER", rows(strategySchema), async (call) => {
    const strategies = await call.parts.gateway.store.people.listStrategiesOf(personOf(call).personId);
    return { body: { rows: await strategyAnswers(call.parts, strategies) } };
  }),

  route("POST /strategies", "TRADER", strategySchema, {
    growsDisk: true,
    needsKyc: true,
    body: z.strictObject({
      ...{ name: nameText, type: z.enum(["SPOT", "FUTURES"]), keyId: keyIdText },
      ...PROFILE_FIELDS,
    }),
    async answer(call) {
      const { store, markets } = call.parts.gateway;
      const { personId } = personOf(call);
      const { name, type, keyId, ...chosen } = call.body;
      const profile = chosenProfile(type, chosen, call.parts.feeTiers);
      await findOwnKey(call, keyId);
      await demandRoom(call);
      const strategyId = randomBytes(8).toString("hex");
      const first = firstCommit(strategyId, type, markets[type].now(), profile);
      const created = { first, ownerId: personId, name, keyId, createdAt: call.now, openMax: STRATEGIES_MAX };
      const isCreated = await store.people.createStrategy(created, [
        audited(
          call,
          "STRATEGY_CREATED",
          { kind: "STRATEGY", id: strategyId },
          { name, type, ...termsInAudit(profile) },
        ),
        audited(call, "KEY_BOUND", { kind: "KEY", id: keyId }, { strategyId }),
      ]);
      if (!isCreated) {
        await demandRoom(call);
        throw new DashboardError("BODY_UNFIT", KEY_NOT_FREE);
      }
      return { status: 201, body: await changed(call, strategyId) };
    },
  }),

  route("GET /fee-tiers", "TRADER", rows(feeTierSchema), async (call) => ({
    body: { rows: feeTierRows(call.parts.feeTiers) },
  })),

  route("GET /strategies/:strategyId", "TRADER", strategySchema, async (call) => ({
    body: await strategyAnswer(call.parts, await ownStrategy(call)),
  })),

  route("PUT /strategies/:strategyId/name", "TRADER", strategySchema, {
    body: z.strictObject({ name: nameText }),
    async answer(call) {
      const { strategyId, name: from, status } = await ownStrategy(call);
      const { name: to } = call.body;
      if (status === "CLOSED")
        throw new DashboardError("STATE_CHANGED", { message: "The strategy is closed." });
      if (to !== from) {
        const isRenamed = await call.parts.gateway.store.people.renameStrategy(
          { strategyId, from, to },
          audited(call, "STRATEGY_RENAMED", { kind: "STRATEGY", id: strategyId }, { from, to }),
        );
        if (!isRenamed) throw new DashboardError("STATE_CHANGED");
      }
      return { body: await changed(call, strategyId) };
    },
  }),

  route("PUT /strategies/:strategyId/key", "TRADER", strategySchema, {
    needsKyc: true,
    body: z.strictObject({ keyId: keyIdText, code: codeText }),
    async answer(call) {
      const { people } = call.parts.gateway.store;
      const { strategyId, key } = await ownStrategy(call);
      const { keyId, code } = call.body;
      const { personId } = personOf(call);
      await findOwnKey(call, keyId);
      if (key !== null) {
        throw new DashboardError("STATE_CHANGED", {
          message: "The strategy has a live key already.",
          action: "Revoke that one first.",
        });
      }
      await demandCode(call, code);
      const isBound = await people.bindKey(
        { keyId, strategyId, ownerId: personId },
        audited(call, "KEY_BOUND", { kind: "KEY", id: keyId }, { strategyId }),
      );
      if (!isBound) throw new DashboardError("BODY_UNFIT", KEY_NOT_FREE);
      return { body: await changed(call, strategyId) };
    },
  }),
];

/** Strategies at the last known prices: a list of them never waits for a market. */
async function strategyAnswers(
  { gateway, observability, prices }: AnswerParts,
  strategies: readonly OwnedStrategy[],
): Promise<readonly StrategyAnswer[]> {
  const { store } = gateway;
  const uses = await observability.keyUses.lastUses(strategies.flatMap(({ key }) => key?.keyId ?? []));
  return await Promise.all(
    strategies.map(async (strategy) => {
      const { key } = strategy;
      const account = await accountOf(gateway, strategy);
      return {
        ...strategy,
        ...(await valuationOf(account, { prices, store })),
        status: account.status,
        fillProfile: account.profile,
        key: key && { ...key, lastUse: uses.get(key.keyId) ?? null },
        openOrders: account.openOrders.size,
        openPositions: account.positions.size,
      };
    }),
  );
}

export async function strategyAnswer(parts: AnswerParts, strategy: OwnedStrategy): Promise<StrategyAnswer> {
  const [answer] = await strategyAnswers(parts, [strategy]);
  if (answer === undefined) throw new Error("every strategy has an answer");
  return answer;
}

type AnswerParts = Pick<DashboardParts, "gateway" | "observability" | "prices">;
type StrategyAnswer = z.output<typeof strategySchema>;

/** Throws if the caller has as many strategies that are not closed as one may have. */
async function demandRoom(call: Pick<DashboardCall, "parts" | "signedIn">): Promise<void> {
  const strategies = await call.parts.gateway.store.people.listStrategiesOf(personOf(call).personId);
  if (strategies.filter(({ status }) => status !== "CLOSED").length < STRATEGIES_MAX) return;
  throw new DashboardError("BODY_UNFIT", {
    message: `You have ${STRATEGIES_MAX} strategies, the maximum.`,
    action: "Close one that you do not need.",
  });
}

/** The strategy in its present state. */
async function changed(call: Pick<DashboardCall, "parts">, strategyId: string) {
  const strategy = await call.parts.gateway.store.people.findStrategy(strategyId);
  if (strategy === null) throw new Error(`a strategy that was created stays: ${strategyId}`);
  return await strategyAnswer(call.parts, strategy);
}
