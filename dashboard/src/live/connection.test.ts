// The dashboard reloads the data of a strategy once the server has acknowledged the subscription, and not
// before: data that was loaded earlier may be stale, and no change message would correct it.
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { openLiveServer } from "../../../test/support/dashboard/live-server.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { queryClient } from "../api/call.ts";
import { disconnect, listen, watch } from "./connection.ts";

let server: Awaited<ReturnType<typeof openLiveServer>>;
beforeAll(async () => {
  server = await openLiveServer();
  vi.stubGlobal("location", { protocol: "http:", host: server.host });
});
afterAll(async () => {
  disconnect();
  vi.unstubAllGlobals();
  await server.close();
});

const KEYS = {
  one: ["strategy", "one", "orders"],
  two: ["strategy", "two", "orders"],
  other: ["markets"],
  copy: ["copy", "own", "entries"],
  copies: ["copies"],
} as const;
type Name = keyof typeof KEYS;

/** Everything was just loaded. */
function load(): void {
  for (const key of Object.values(KEYS)) queryClient.setQueryData(key, []);
}
beforeEach(load);

const outdated = () =>
  (Object.keys(KEYS) as Name[]).filter((name) => queryClient.getQueryState(KEYS[name])?.isInvalidated);

/** The next of what the server is asked, once it was. */
async function asked(id: string) {
  const index = () => server.asked.findIndex((each) => each.id === id);
  await eventually(`it is asked to watch ${id}`, () => index() !== -1);
  return server.asked.splice(index(), 1)[0];
}

/** Resolves when the browser has received and handled all messages sent so far. */
async function heardAll(): Promise<void> {
  const heard = Promise.withResolvers<void>();
  const end = listen("refused", () => heard.resolve());
  server.say("refused", { code: "BUSY", message: "" });
  await heard.promise;
  await nextTurn();
  end();
}

test("a strategy is reloaded when its subscription is acknowledged", async () => {
  const endOne = watch("strategy", "one");
  const first = await asked("one");
  await heardAll();
  expect(outdated()).toEqual([]);
  first?.acknowledge();
  await heardAll();
  expect(outdated()).toEqual(["one"]);

  const endTwo = watch("strategy", "two");
  const second = await asked("two");
  await heardAll();
  expect(outdated()).toEqual(["one"]);
  second?.acknowledge();
  await heardAll();
  expect(outdated()).toEqual(["one", "two"]);
  endOne();
  endTwo();
});

test("everything is, after a reconnect, when all watching is acknowledged", async () => {
  const ends = [watch("strategy", "one"), watch("strategy", "two")];
  for (const strategyId of ["one", "two"]) (await asked(strategyId))?.acknowledge();
  await heardAll();
  load();
  server.cut();
  const again = [await asked("one"), await asked("two")];
  again[0]?.acknowledge();
  await heardAll();
  expect(outdated()).toEqual([]);
  again[1]?.acknowledge();
  await heardAll();
  expect(outdated()).toEqual(["one", "two", "other", "copy", "copies"]);
  for (const end of ends) end();
});

test("nothing is by what was lost before it was acknowledged", async () => {
  const end = watch("strategy", "one");
  await asked("one");
  server.cut();
  const again = await asked("one");
  await heardAll();
  expect(outdated()).toEqual([]);
  again?.acknowledge();
  await heardAll();
  expect(outdated()).toEqual(["one", "two", "other", "copy", "copies"]);
  end();
});

test("a copy and the list of copies are, when its watching is acknowledged and when it has changed", async () => {
  const end = watch("copy", "own");
  const first = await asked("own");
  await heardAll();
  expect(outdated()).toEqual([]);
  first?.acknowledge();
  await heardAll();
  expect(outdated()).toEqual(["copy", "copies"]);
  load();
  server.say("copyChanged", { copyId: "another" });
  await heardAll();
  expect(outdated()).toEqual(["copies"]);
  server.say("copyChanged", { copyId: "own" });
  await heardAll();
  expect(outdated()).toEqual(["copy", "copies"]);
  end();
});
