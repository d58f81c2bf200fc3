// The figures of servers that share a database: each number of servers against one server.
import { against, countText, type Figure, plain, type Section } from "../figures.ts";
import { spreadOf } from "../statistics.ts";
import type { PerOrder, ServersMeasured } from "./servers.ts";

export function serversSection(measured: readonly ServersMeasured[]): Section {
  const [one] = measured;
  const figures = measured.flatMap((each): Figure[] => [
    ...orderFigures(each, one, "by turns", ({ byTurns }) => byTurns),
    ...orderFigures(each, one, "by key", ({ byKey }) => byKey),
    against(
      {
        name: `a second of the market, on each of ${serversOf(each)}, ${countText(each.manyOrders)} open orders`,
        unit: "ms",
        value: spreadOf(each.perSecond.many),
        aim: "its own share of the triggers",
      },
      { name: `${countText(each.fewOrders)} open orders`, value: spreadOf(each.perSecond.few) },
    ),
  ]);
  return { title: "Servers on one PostgreSQL database: processor time", figures, missing: null };
}

export const SERVERS_NOTES = [
  "processor time of an order that is placed, rests and is canceled: of all servers and PostgreSQL together, what they take without load taken off",
  "processor time of a server in a second in which it follows the symbol: its messages, leases and periodic tasks, with many open orders against few",
];

const AIMS: Readonly<Record<string, string>> = {
  "by turns": "4 servers: at most 1.6 times",
  "by key": "4 servers: at most 1.25 times",
};

function orderFigures(
  measured: ServersMeasured,
  one: ServersMeasured | undefined,
  how: string,
  of: (measured: ServersMeasured) => PerOrder,
): Figure[] {
  const name = `an order, ${serversOf(measured)}, ${how}`;
  const value = spreadOf([of(measured).all]);
  const postgres = plain("  of it PostgreSQL", "ms", spreadOf([of(measured).postgres]));
  if (one === undefined || one === measured) return [plain(name, "ms", value), postgres];
  const ceiling = { name: serversOf(one), value: spreadOf([of(one).all]) };
  return [against({ name, unit: "ms", value, aim: AIMS[how] }, ceiling), postgres];
}

function serversOf({ count }: ServersMeasured): string {
  return count === 1 ? "1 server" : `${count} servers`;
}
