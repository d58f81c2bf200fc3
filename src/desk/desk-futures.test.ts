import { describe, expect, test } from "vitest";
import type { PlaceLeg, PlaceOrder } from "../domain/command.ts";
import { legKey } from "../domain/command.ts";
import { decimal } from "../money/decimal.ts";
import { buy, cleanFixtures, createFixture, deskOn, executed } from "./testing/fixture.ts";

cleanFixtures();

describe("a futures strategy at the desk", () => {
  test("trades on the market of contracts, a spot strategy beside it on its own", async () => {
    const { desk } = await createFixture({ strategies: ["spot"], futures: ["perpetual"] });
    const entry: PlaceOrder = { ...buy("market", "entry"), size: { quantity: decimal("1") } };
    const [spot, perpetual] = await Promise.all([
      desk.execute("spot", { ...entry, size: { quantity: decimal("0.1") } }),
      desk.execute("perpetual", entry),
    ]);
    expect(executed(spot).orders).toMatchObject([{ status: "FILLED", reservedAsset: "USDT" }]);
    expect(executed(perpetual).events).toMatchObject([
      { type: "OrderPlaced" },
      { type: "OrderFilled", trade: { feeAsset: "USDT" }, position: { quantity: decimal("1") } },
    ]);
  });

  test("announces the account that was committed, its type and its legs", async () => {
    const { desk, announced } = await createFixture({ futures: ["perpetual"] });
    await desk.execute("perpetual", ENTRY);
    await desk.execute("perpetual", LEG, { key: legKey("stop") });
    expect(announced.map(({ type, legs }) => [type, legs.map(({ clientLegId }) => clientLegId)])).toEqual([
      ["FUTURES", []],
      ["FUTURES", ["stop"]],
    ]);
    expect(announced[1]?.account.positions.get("BTCUSDT")?.quantity).toBe(decimal("1"));
  });

  test("keeps what it committed: positions, legs and incomes are there for another desk", async () => {
    const { desk, file, store } = await createFixture({ futures: ["perpetual"] });
    await desk.execute("perpetual", ENTRY);
    await desk.execute("perpetual", LEG);
    const loaded = await store.loadAccount("perpetual");
    const other = await deskOn(file);
    expect(await other.store.loadAccount("perpetual")).toEqual(loaded);
    expect(loaded?.account.openLegs.size).toBe(1);
    const incomes = await store.listIncomes("perpetual", { limit: 10, offset: 0 });
    expect(incomes.map(({ type }) => type)).toEqual(["TRANSFER", "COMMISSION"]);
    const closed = await other.desk.execute("perpetual", { type: "CloseStrategy" });
    expect(executed(closed).legs).toMatchObject([{ status: "CANCELED" }]);
  });

  test("one client id, one leg: a repeated one answers with the leg in its present state", async () => {
    const { desk } = await createFixture({ futures: ["perpetual"] });
    await desk.execute("perpetual", ENTRY);
    const first = executed(await desk.execute("perpetual", LEG, { key: legKey("stop") }));
    const [placed] = first.legs;
    await desk.execute("perpetual", { type: "CancelLeg", legId: placed?.legId ?? 0 });
    const again = executed(await desk.execute("perpetual", LEG, { key: legKey("stop") }));
    expect(again).toMatchObject({ replayed: true, legs: [{ legId: placed?.legId, status: "CANCELED" }] });
  });

  test("what the market brings is never refused because the desk is full", async () => {
    const { desk, storage } = await createFixture({ futures: ["perpetual"] });
    await desk.execute("perpetual", ENTRY);
    const gate = Promise.withResolvers<void>();
    storage.beforeCommit = () => gate.promise;
    const crowd = Array.from({ length: 500 }, (_, index) =>
      desk.execute("perpetual", { type: "ChangeLeverage", symbol: "BTCUSDT", leverage: 21 + (index % 2) }),
    );
    expect(await desk.execute("perpetual", LEG)).toEqual({ refusal: "BUSY" });
    const seen = decimal<never>("1");
    const liquidation = desk.execute("perpetual", { type: "LiquidatePosition", symbol: "BTCUSDT", seen });
    gate.resolve();
    await Promise.all(crowd);
    expect(executed(await liquidation).orders).toMatchObject([{ type: "LIQUIDATION", status: "FILLED" }]);
  });
});

const ENTRY: PlaceOrder = { ...buy("market", "entry"), size: { quantity: decimal("1") } };
const LEG: PlaceLeg = {
  type: "PlaceLeg",
  symbol: "BTCUSDT",
  side: "SELL",
  legType: "STOP_MARKET",
  triggerPrice: decimal("98"),
  clientLegId: "stop",
};
