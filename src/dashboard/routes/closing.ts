// Closing a strategy for good: what it would do is shown first, and what is typed must be what was shown.
import { z } from "zod";
import type { Account } from "../../domain/account.ts";
import type { OwnedStrategy } from "../../store/people-store.ts";
import { previewClose } from "../copying/close-preview.ts";
import { carriedOut } from "../desk-refusals.ts";
import { DashboardError } from "../errors.ts";
import { presentStrategy } from "../present/strategies.ts";
import { type DashboardCall, type DashboardRoute, ownStrategy, personOf, route } from "../route.ts";

const CONFIRMATION_LENGTH_MAX = 200;

export const CLOSING_ROUTES: readonly DashboardRoute[] = [
  route({
    method: "GET",
    path: "/strategies/:strategyId/close-preview",
    access: "TRADER",
    async answer(call) {
      const strategy = await ownStrategy(call);
      const account = await accountOf(call, strategy);
      return { body: await previewClose(account, confirmationOf(strategy), call.parts) };
    },
  }),

  route({
    method: "POST",
    path: "/strategies/:strategyId/close",
    access: "TRADER",
    body: z.strictObject({ confirmation: z.string().max(CONFIRMATION_LENGTH_MAX) }),
    async answer(call) {
      const strategy = await ownStrategy(call);
      const { strategyId } = strategy;
      if (call.body.confirmation !== confirmationOf(strategy)) {
        throw new DashboardError("BODY_UNFIT", { fields: { confirmation: "is not the text to type" } });
      }
      const { desk, store } = call.parts.gateway;
      // First: nothing is done that the audit knows nothing of.
      await store.people.audit({
        who: { kind: "PERSON", personId: personOf(call).personId },
        what: "STRATEGY_CLOSE_ASKED",
        about: { kind: "STRATEGY", id: strategyId },
        at: call.now,
        details: {},
      });
      carriedOut(await desk.execute(strategyId, { type: "CloseStrategy" }));
      return { body: await presentStrategy(call.parts, await ownStrategy(call)) };
    },
  }),
];

/** What is to be typed: the strategy's name. */
function confirmationOf({ name }: OwnedStrategy): string {
  return name;
}

async function accountOf(
  { parts }: Pick<DashboardCall, "parts">,
  { strategyId }: OwnedStrategy,
): Promise<Account> {
  const loaded = await parts.gateway.store.loadAccount(strategyId);
  if (loaded === null) throw new Error(`a strategy has an account: ${strategyId}`);
  return loaded.account;
}
