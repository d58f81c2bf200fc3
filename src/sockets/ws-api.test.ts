import { expect, test } from "vitest";
import { signedParams } from "../../test/support/api-socket.ts";
import { newDirectory } from "../../test/support/gateway.ts";
import { openDataDirectory } from "../config/data-directory.ts";
import type { Gateway } from "../http/pipeline.ts";
import { ROUTES } from "../http/server.ts";
import { seedStrategies } from "../keys/seed.ts";
import { UNOBSERVED } from "../observability/sighting.ts";
import { Budgets } from "../rate-limits/budgets.ts";
import type { Connection } from "./connection.ts";
import { KeyChecks } from "./key-checks.ts";
import { createWsApi } from "./ws-api.ts";

test("while the account is loaded, a second subscription to it is refused, and its events come once", async () => {
  const { store, master } = await openDataDirectory(newDirectory(), null);
  const [key] = await seedStrategies(store, master, ["SPOT"], Date.now());
  if (key === undefined) throw new Error("one strategy was asked for");
  const loaded = Promise.withResolvers<void>();
  const listeners: unknown[] = [];
  const sent: string[] = [];
  const log = { warn() {}, error() {} };
  const wsApi = createWsApi({
    gateway: {
      store,
      master,
      budgets: new Budgets(),
      observer: UNOBSERVED,
      wallNow: () => Date.now(),
    } as unknown as Gateway,
    routes: ROUTES,
    userStreams: {
      async open(strategyId) {
        await loaded.promise;
        const listen = (onEvent: unknown) => {
          listeners.push(onEvent);
          return () => {};
        };
        return { strategyId, type: "SPOT", listen };
      },
    },
    keyChecks: new KeyChecks({ store, every: () => () => {}, log }),
    log,
  });
  const connection = { isOpen: true, openedAt: 0, send: (text: string) => void sent.push(text) };
  const upgrade = {
    path: "/ws-api/v3",
    query: "",
    address: "192.0.2.1",
    request: { headers: {}, socket: {} },
  };
  const handler = wsApi
    .find((endpoint) => endpoint.takes(upgrade.path))
    ?.open(connection as unknown as Connection, upgrade as never);
  const subscribe = (id: number) =>
    handler?.onMessage(
      JSON.stringify({ id, method: "userDataStream.subscribe.signature", params: signedParams(key, {}) }),
    );
  const both = Promise.all([subscribe(1), subscribe(2)]);
  loaded.resolve();
  await both;
  const answers = sent.map((text) => JSON.parse(text));
  expect(answers.map(({ id, status }) => [id, status])).toEqual([
    [1, 200],
    [2, 400],
  ]);
  expect(answers[1].error.code).toBe(-2035);
  expect(listeners).toHaveLength(1);
  await store.close();
});
