// PositionIndex of a contract, however many there are.
import { expect, test } from "vitest";
import { emptyAccount } from "../domain/account.ts";
import { positionOf } from "../engine/testing/positions.ts";
import { PositionIndex } from "./position-index.ts";

/** More than the arguments that a call of a function takes. */
const MANY = 200_000;

test("of very many holders of one contract the earliest time is known", () => {
  const index = new PositionIndex();
  for (let number = 0; number < MANY; number += 1) {
    const account = emptyAccount(`strategy-${number}`, "FUTURES");
    const position = { ...positionOf("1", "100", "5"), openedAt: MANY - number };
    account.positions = new Map([["BTCUSDT", position]]);
    index.update(account);
  }
  expect(index.contracts()).toEqual([{ symbol: "BTCUSDT", since: 1 }]);
});
