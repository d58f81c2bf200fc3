// What happens to signals, each as a command of a model-based test. Most of them only begin something; how
// far it comes before the next one begins is a command, too.
import * as fc from "fast-check";
import { awaitsTrigger } from "../../src/domain/order.ts";
import { type Fixture, SYMBOL } from "./fixture.ts";

type Act = fc.AsyncCommand<object, Fixture>;

/**
 * A bot's orders: filled at once, open, waiting for a trigger, too expensive. The market begins at 99 to 100.
 */
const BODIES = [
  { tradeType: "BUY", quantity: "0.1" },
  { tradeType: "BUY", orderType: "LIMIT", quantity: "0.1", price: "95" },
  { tradeType: "BUY", orderType: "LIMIT", quantity: "100", price: "95" },
  { tradeType: "BUY", orderType: "STOP_LOSS", quantity: "0.1", stopPrice: "110" },
  { tradeType: "BUY", orderType: "MARKET", quoteOrderQty: "20" },
  { tradeType: "SELL", orderType: "MARKET", quantity: "0.05" },
  { tradeType: "BUY", orderType: "LIMIT", quantity: "0.1", price: "100" },
  { tradeType: "SELL", orderType: "LIMIT", quantity: "0.05", price: "105" },
].map((terms) => JSON.stringify({ symbol: SYMBOL, ...terms }));

/** So few keys that they are used again. */
const KEYS = 4;

const ALL_AT_ONCE_MAX = 12;
const WAITS_MS = [1_000, 10_000, 31_000];

const strategies = fc.nat(1);
const processes = fc.nat(1);
/** A key and the body sent under it: mostly the same body for a key, so that most repetitions are equal. */
const signals = fc
  .tuple(fc.nat(KEYS - 1), fc.oneof({ weight: 2, arbitrary: fc.constant(null) }, fc.nat(BODIES.length - 1)))
  .map(([key, other]) => ({ key: `key-${key}`, own: bodyOf(key), body: bodyOf(other ?? key) }));

function bodyOf(index: number): string {
  const body = BODIES[index];
  if (body === undefined) throw new Error(`there is no body ${index}`);
  return body;
}

/** Every action; `step` executes this many pending steps. */
export function acts(step: (count: number) => Promise<void>): fc.Arbitrary<Act>[] {
  const submit = fc
    .tuple(processes, strategies, signals)
    .map(([process, strategy, { key, body }]) =>
      act(`submit ${key} of ${strategy} at ${process}: ${body}`, (fixture) =>
        fixture.submit(process, fixture.strategy(strategy), key, body),
      ),
    );
  const submitTwice = fc.tuple(strategies, signals).map(([strategy, { key, own, body }]) =>
    act(`submit ${key} of ${strategy} at both: ${own} and ${body}`, (fixture) => {
      fixture.submit(0, fixture.strategy(strategy), key, own);
      fixture.submit(1, fixture.strategy(strategy), key, body);
    }),
  );
  const sweep = processes.map((process) =>
    act(`sweep at ${process}`, (fixture) => fixture.begin(process, ({ sweep }) => sweep.run())),
  );
  const onOrder = (name: string, begin: (fixture: Fixture, on: OnOrder) => void) =>
    fc.tuple(processes, strategies, fc.nat(5)).map(([process, strategy, pick]) =>
      act(`${name} ${pick} of ${strategy} at ${process}`, (fixture) => {
        const open = fixture.open(fixture.strategy(strategy));
        const order = open[pick % open.length];
        const on = { process, strategy: fixture.strategy(strategy) };
        if (order !== undefined) begin(fixture, { ...on, orderId: order.orderId, order });
      }),
    );
  const cancel = onOrder("cancel", (fixture, { process, strategy, orderId }) =>
    fixture.begin(process, async ({ desk }) => {
      await desk.execute(strategy, { type: "CancelOrder", orderId });
    }),
  );
  // As the watcher of either process does it, and at times of both.
  const reach = onOrder("reach", (fixture, { process, strategy, orderId, order }) => {
    const isStop = awaitsTrigger(order);
    const seen = isStop ? order.stopPrice : order.price;
    const type = isStop ? "TriggerStop" : "FillRestingOrder";
    const key = `${isStop ? "trigger" : "fill"}:${orderId}`;
    for (const each of orderId % 2 === 0 ? [process] : [0, 1]) {
      fixture.begin(
        each,
        async ({ desk }) => void (await desk.execute(strategy, { type, orderId, seen }, { key })),
      );
    }
  });
  const place = fc
    .tuple(processes, strategies, fc.constantFrom("95", "100"))
    .map(([process, strategy, price]) =>
      act(`place at ${price} for ${strategy} at ${process}`, (fixture) =>
        fixture.place(process, fixture.strategy(strategy), price),
      ),
    );
  const close = fc.tuple(processes, strategies).map(([process, strategy]) =>
    act(`close ${strategy} at ${process}`, (fixture) =>
      fixture.begin(process, async ({ desk }) => {
        await desk.execute(fixture.strategy(strategy), { type: "CloseStrategy" });
      }),
    ),
  );
  const revoke = fc.tuple(processes, strategies).map(([process, strategy]) =>
    act(`revoke the key of ${strategy} at ${process}`, (fixture) =>
      fixture.begin(process, async ({ store }) => {
        const id = fixture.strategy(strategy);
        await store.revokeKey(`key-${id}`, fixture.time.now());
        fixture.revoked.add(id);
      }),
    ),
  );
  const kill = processes.map((process) => act(`kill ${process}`, (fixture) => fixture.replace(process)));
  const stall = processes.map((process) => act(`${process} stalls`, (fixture) => fixture.stall(process)));
  const goOn = processes.map((process) => act(`${process} goes on`, (fixture) => fixture.goOn(process)));
  const wait = fc.constantFrom(...WAITS_MS).map((byMs) =>
    act(`${byMs} ms pass`, (fixture) => {
      fixture.time.advance(byMs);
    }),
  );
  const market = fc
    .constantFrom<Move>(
      ["stands at 95", ({ market }) => market.show(SYMBOL, "94", "95")],
      ["stands at 110", ({ market }) => market.show(SYMBOL, "109", "110")],
      // Most transient refusals come from this.
      ...Array.from({ length: 3 }, () => SILENT),
      ...Array.from({ length: 3 }, () => BACK),
      ["is halted", ({ market }) => void market.halted.add(SYMBOL)],
      ["trades again", ({ market }) => void market.halted.delete(SYMBOL)],
    )
    .map(([what, move]) => act(`the market ${what}`, move));
  const steps = fc
    .integer({ min: 1, max: ALL_AT_ONCE_MAX })
    .map((count): Act => ({ ...NAMED(`${count} steps`), run: async () => await step(count) }));
  // Signals and steps are most of it.
  return [
    ...[submit, submit, submit, submitTwice, submitTwice, steps, steps, steps, steps],
    ...[
      stall,
      stall,
      goOn,
      sweep,
      sweep,
      wait,
      wait,
      market,
      market,
      market,
      cancel,
      reach,
      reach,
      place,
      kill,
    ],
    fc.oneof(close, revoke),
  ];
}

type OnOrder = {
  readonly process: number;
  readonly strategy: string;
  readonly orderId: number;
  readonly order: ReturnType<Fixture["open"]>[number];
};

type Move = readonly [what: string, move: (fixture: Fixture) => void];

const SILENT: Move = ["is silent", ({ market }) => market.silence(SYMBOL)];
const BACK: Move = ["is back", ({ market }) => market.show(SYMBOL, "99", "100")];

function act(name: string, begin: (fixture: Fixture) => void): Act {
  return { ...NAMED(name), run: async (_, fixture) => begin(fixture) };
}

const NAMED = (name: string) => ({ check: () => true, toString: () => name });
