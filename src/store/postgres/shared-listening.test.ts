import { beforeEach, expect, test } from "vitest";
import type { CommittedElsewhere, ElsewhereListener } from "../ports/trading.ts";
import type { Store } from "../store.ts";
import { sharedListening } from "./shared-listening.ts";

const ONE: CommittedElsewhere = { strategyId: "one", type: "SPOT" };

/** Who listens on each connection that was opened; null once it is closed. */
let connections: (ElsewhereListener | null)[];
let failure: Error | null;
let listen: Store["onCommittedElsewhere"];
beforeEach(() => {
  connections = [];
  failure = null;
  listen = sharedListening(async (everyone) => {
    if (failure !== null) throw failure;
    const index = connections.push(everyone) - 1;
    return async () => {
      connections[index] = null;
    };
  });
});

test("several listeners hear over one connection, each as long as it listens", async () => {
  const [one, two] = [[] as string[], [] as string[]];
  const [stopOne, stopTwo] = await Promise.all([listen(noting(one)), listen(noting(two))]);
  expect(connections).toHaveLength(1);
  connections[0]?.committed([ONE]);
  await stopOne();
  connections[0]?.committed([ONE]);
  await stopOne();
  expect([one, two]).toEqual([["one"], ["one", "one"]]);
  expect(connections).not.toContain(null);
  await stopTwo();
  expect(connections).toEqual([null]);
});

test("who comes when nobody listens any more hears over a new one", async () => {
  await (await listen(noting([])))();
  const heard: string[] = [];
  await listen(noting(heard));
  connections[1]?.committed([ONE]);
  expect([connections[0], heard]).toEqual([null, ["one"]]);
});

test("all subscribers are notified of a loss and of its end, also those that subscribe between the two", async () => {
  const [early, late] = [[] as string[], [] as string[]];
  await listen(noting(early));
  connections[0]?.lost();
  await listen(noting(late));
  connections[0]?.resumed();
  const after: string[] = [];
  await listen(noting(after));
  expect([early, late, after]).toEqual([["lost", "resumed"], ["lost", "resumed"], []]);
});

test("what cannot begin rejects for all who wait for it, and may be tried again", async () => {
  failure = new Error("out of reach");
  const heard: string[] = [];
  const attempts = [listen(noting(heard)), listen(noting(heard))];
  for (const attempt of attempts) await expect(attempt).rejects.toThrow("out of reach");
  failure = null;
  await listen(noting(heard));
  connections[0]?.committed([ONE]);
  expect(heard).toEqual(["one"]);
});

function noting(heard: string[]): ElsewhereListener {
  return {
    committed: (strategies) => heard.push(...strategies.map(({ strategyId }) => strategyId)),
    lost: () => heard.push("lost"),
    resumed: () => heard.push("resumed"),
  };
}
