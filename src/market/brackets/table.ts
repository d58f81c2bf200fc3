// Leverage brackets by symbol, and how one follows from the brackets before it.
import type { Bracket } from "../../domain/symbol.ts";
import { type Amount, add, type Rate, SCALE, subtract, ZERO } from "../../money/decimal.ts";

/** Ascending by notional, at least one each. */
export type BracketTable = ReadonlyMap<string, readonly Bracket[]>;

/** The given values of a bracket; its number, its floor and its `cum` follow from the ones before it. */
export type Tier = {
  readonly initialLeverage: number;
  readonly maintenanceRate: Rate;
  readonly notionalCap: Amount;
};

/** The bracket that follows on another, null for the first. Source: reference exchange, section 15.1. */
export function following(
  before: Bracket | null,
  { initialLeverage, maintenanceRate, notionalCap }: Tier,
): Bracket {
  const notionalFloor = before?.notionalCap ?? ZERO;
  return {
    bracket: (before?.bracket ?? 0) + 1,
    initialLeverage,
    notionalFloor,
    notionalCap,
    maintenanceRate,
    cum: add(before?.cum ?? ZERO, stepOf(notionalFloor, before?.maintenanceRate ?? ZERO, maintenanceRate)),
  };
}

/**
 * floor × (rate − rate before it). Floors are whole and rates have few digits, so that there is nothing to
 * round.
 */
function stepOf(floor: Amount, rateBefore: Rate, rate: Rate): Amount {
  return ((floor * subtract(rate, rateBefore)) / SCALE) as Amount;
}
