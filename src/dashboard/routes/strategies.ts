// A trader's strategies: listed, created with a key, renamed, and given another key when theirs was ended.
import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { NewAuditRecord } from "../../domain/audit.ts";
import { firstCommit } from "../../identity/seed.ts";
import { codeText, demandCode } from "../codes.ts";
import { DashboardError } from "../errors.ts";
import { presentStrategies, presentStrategy } from "../present/strategies.ts";
import { lineField } from "../reading.ts";
import { type DashboardCall, type DashboardRoute, ownStrategy, personOf, route } from "../route.ts";
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

export const STRATEGY_ROUTES: readonly DashboardRoute[] = [
  route({
    method: "GET",
    path: "/strategies",
    access: "TRADER",
    async answer(call) {
      const strategies = await call.parts.gateway.store.people.listStrategiesOf(personOf(call).personId);
      return { body: { rows: await presentStrategies(call.parts, strategies) } };
    },
  }),

  route({
    method: "POST",
    path: "/strategies",
    access: "TRADER",
    growsDisk: true,
    needsKyc: true,
    body: z.strictObject({ name: nameText, type: z.enum(["SPOT", "FUTURES"]), keyId: keyIdText }),
    async answer(call) {
      const { store, markets } = call.parts.gateway;
      const { personId } = personOf(call);
      const { name, type, keyId } = call.body;
      await findOwnKey(call, keyId);
      await demandRoom(call);
      const strategyId = randomBytes(8).toString("hex");
      const first = firstCommit(strategyId, type, markets[type].now());
      const created = { first, ownerId: personId, name, keyId, createdAt: call.now, openMax: STRATEGIES_MAX };
      const isCreated = await store.people.createStrategy(created, [
        audited(call, "STRATEGY_CREATED", { kind: "STRATEGY", id: strategyId }, { name, type }),
        audited(call, "KEY_BOUND", { kind: "KEY", id: keyId }, { strategyId }),
      ]);
      if (!isCreated) {
        await demandRoom(call);
        throw new DashboardError("BODY_UNFIT", KEY_NOT_FREE);
      }
      const body = await presented(call, strategyId);
      return { status: 201, body };
    },
  }),

  route({
    method: "GET",
    path: "/strategies/:strategyId",
    access: "TRADER",
    async answer(call) {
      return { body: await presentStrategy(call.parts, await ownStrategy(call)) };
    },
  }),

  route({
    method: "PUT",
    path: "/strategies/:strategyId/name",
    access: "TRADER",
    body: z.strictObject({ name: nameText }),
    async answer(call) {
      const { strategyId, name: from, status } = await ownStrategy(call);
      const { name: to } = call.body;
      // What is closed is history, to be read.
      if (status === "CLOSED")
        throw new DashboardError("STATE_CHANGED", { message: "The strategy is closed." });
      if (to !== from) {
        const isRenamed = await call.parts.gateway.store.people.renameStrategy(
          { strategyId, from, to },
          audited(call, "STRATEGY_RENAMED", { kind: "STRATEGY", id: strategyId }, { from, to }),
        );
        if (!isRenamed) throw new DashboardError("STATE_CHANGED");
      }
      return { body: await presented(call, strategyId) };
    },
  }),

  route({
    method: "PUT",
    path: "/strategies/:strategyId/key",
    access: "TRADER",
    needsKyc: true,
    body: z.strictObject({ keyId: keyIdText, code: codeText }),
    async answer(call) {
      const { people } = call.parts.gateway.store;
      const { strategyId, status, key } = await ownStrategy(call);
      const { keyId, code } = call.body;
      const { personId } = personOf(call);
      await findOwnKey(call, keyId);
      if (status !== "LIVE")
        throw new DashboardError("STATE_CHANGED", { message: "The strategy is closed." });
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
      return { body: await presented(call, strategyId) };
    },
  }),
];

/** Throws if the caller has as many strategies that are not closed as one may have. */
async function demandRoom(call: Pick<DashboardCall, "parts" | "signedIn">): Promise<void> {
  const strategies = await call.parts.gateway.store.people.listStrategiesOf(personOf(call).personId);
  if (strategies.filter(({ status }) => status !== "CLOSED").length < STRATEGIES_MAX) return;
  throw new DashboardError("BODY_UNFIT", {
    message: `You have ${STRATEGIES_MAX} strategies, the maximum.`,
    action: "Close one that you do not need.",
  });
}

async function presented(call: Pick<DashboardCall, "parts">, strategyId: string) {
  const strategy = await call.parts.gateway.store.people.findStrategy(strategyId);
  if (strategy === null) throw new Error(`a strategy that was created stays: ${strategyId}`);
  return await presentStrategy(call.parts, strategy);
}

function audited(
  call: Pick<DashboardCall, "signedIn" | "now">,
  what: NewAuditRecord["what"],
  about: NewAuditRecord["about"],
  details: NewAuditRecord["details"],
): NewAuditRecord {
  return { who: { kind: "PERSON", personId: personOf(call).personId }, what, about, at: call.now, details };
}
