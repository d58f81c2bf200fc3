// API keys and the names of strategies as the browser gets them. A secret is in neither.
import type { KeyUse, OwnedStrategy } from "../../store/people-store.ts";
import type { ApiKeyRecord } from "../../store/store.ts";
import type { KeyShape, StrategyNameShape } from "../shapes.ts";

/** `strategies` by id are those of the key's owner. */
export function presentKey(
  key: ApiKeyRecord,
  strategies: ReadonlyMap<string, Pick<OwnedStrategy, "strategyId" | "name" | "type" | "status">>,
  uses: ReadonlyMap<string, KeyUse>,
): KeyShape {
  const { keyId, apiKey, label, createdAt, revokedAt, strategyId } = key;
  const strategy = strategyId === null ? undefined : strategies.get(strategyId);
  return {
    keyId,
    apiKey,
    label,
    createdAt,
    revokedAt,
    strategy: strategy === undefined ? null : presentName(strategy),
    lastUse: presentUse(uses.get(keyId)),
  };
}

export function presentName({
  strategyId,
  name,
  type,
  status,
}: Pick<OwnedStrategy, "strategyId" | "name" | "type" | "status">): StrategyNameShape {
  return { strategyId, name, type, status };
}

export function presentUse(use: KeyUse | undefined): KeyShape["lastUse"] {
  return use === undefined ? null : { at: use.at, address: use.address, route: use.route };
}
