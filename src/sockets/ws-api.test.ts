import { expect, test } from "vitest";
import { signedParams } from "../../test/support/api-socket.ts";
import { newDirectory } from "../../test/support/gateway.ts";
import { openDataDirectory } from "../config/data-directory.ts";
import type { Gateway } from "../http/pipeline.ts";
import { ROUTES } from "../http/server.ts";
import { secretOf } from "../keys/api-keys.ts";
import { KeyChecks } from "../keys/key-checks.ts";
import { seedStrategies } from "../keys/seed.ts";
import { diagnose } from "../observability/diagnosis.ts";
import { type SeenRequest, UNOBSERVED } from "../observability/sighting.ts";
import { Budgets } from "../rate-limits/budgets.ts";
import type { Connection } from "./connection.ts";
import { createWsApi } from "./ws-api.ts";

/** The WebSocket API of spot on one connection; accounts load when the test lets them. */
async function openStage() {
  const { store, master } = await openDataDirectory(newDirectory(), null);
  const [key] = await seedStrategies(store, master, ["SPOT"], Date.now());
  if (key === undefined) throw new Error("one strategy was asked for");
  const loaded = Promise.withResolvers<void>();
  const listeners: unknown[] = [];
  const sent: string[] = [];
  const seen: SeenRequest[] = [];
  const log = { warn() {}, error() {} };
  const observer = {
    ...UNOBSERVED,
    answered: (_context: unknown, request: SeenRequest) => void seen.push(request),
  };
  const wallNow = () => Date.now();
  const wsApi = createWsApi({
    gateway: { store, master, budgets: new Budgets(), observer, wallNow } as unknown as Gateway,
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
  return {
    key,
    loaded,
    listeners,
    seen,
    store,
    master,
    answers: () => sent.map((text) => JSON.parse(text)),
    subscribe: (id: number, params: Readonly<Record<string, unknown>> = signedParams(key, {})) =>
      handler?.onMessage(JSON.stringify({ id, method: "userDataStream.subscribe.signature", params })),
  };
}

test("while the account is loaded, a second subscription to it is refused, and its events come once", async () => {
  const { subscribe, loaded, answers, listeners, store } = await openStage();
  const both = Promise.all([subscribe(1), subscribe(2)]);
  loaded.resolve();
  await both;
  expect(answers().map(({ id, status }) => [id, status])).toEqual([
    [1, 200],
    [2, 400],
  ]);
  expect(answers()[1].error.code).toBe(-2035);
  expect(listeners).toHaveLength(1);
  await store.close();
});

test("a signature of another secret is diagnosed by what the client signed", async () => {
  const { key, subscribe, seen, store, master } = await openStage();
  await subscribe(1, signedParams({ apiKey: key.apiKey, apiSecret: key.apiKey }, {}));
  const bound = await store.findKey(key.apiKey);
  const [request] = seen;
  if (bound === null || request === undefined) throw new Error("the request names a key");
  const diagnosis = diagnose({
    check: "SIGNATURE",
    family: "EXCHANGE",
    request: { ...request, body: "" },
    key: bound.key,
    secret: secretOf(master, bound.key),
    others: [],
    at: Date.now(),
  });
  expect(diagnosis.hints).toEqual([
    "The API key was used as the secret. Sign with the secret that belongs to it.",
  ]);
  expect(Math.abs(diagnosis.clockOffsetMs ?? Number.NaN)).toBeLessThan(60_000);
  await store.close();
});
