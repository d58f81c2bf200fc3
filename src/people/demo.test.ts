// The trader of a demo: created once, with a password that is shown once, as the owner of strategies without
// one.
import { verify } from "@node-rs/argon2";
import { expect, test } from "vitest";
import { seedStrategies } from "../keys/seed.ts";
import { DEMO_EMAIL, provideDemoPerson } from "./demo.ts";
import { openFactorFixture } from "./testing/fixture.ts";

const AT = Date.UTC(2026, 0, 1);

test("is created approved and verified, as a trader, with a password that only the first start prints", async () => {
  const { store } = await openFactorFixture();
  const { personId, password } = await provideDemoPerson(store.people, AT);
  expect(password).toMatch(/^[\w-]{24}$/);
  expect(await store.people.findPerson(personId)).toEqual({
    personId,
    email: DEMO_EMAIL,
    name: "Demo trader",
    isEmailVerified: true,
    role: "PERSON",
    profile: "TRADER",
    kyc: "APPROVED",
    kycReason: null,
    hasSecondFactor: false,
    lockedAt: null,
    closedAt: null,
    createdAt: AT,
  });
  expect(await verify((await store.people.findPasswordHash(personId)) ?? "", password ?? "")).toBe(true);
  expect(await provideDemoPerson(store.people, AT + 1)).toEqual({ personId, password: null });
  expect(await store.people.listAudit({ limit: 10 })).toMatchObject([
    { what: "SIGNED_UP", who: { kind: "SERVICE" }, about: { kind: "PERSON", id: personId } },
  ]);
});

test("of two servers that start at once one makes it", async () => {
  const { store } = await openFactorFixture();
  const [one, other] = await Promise.all([
    provideDemoPerson(store.people, AT),
    provideDemoPerson(store.people, AT),
  ]);
  expect(one.personId).toBe(other.personId);
  expect([one.password, other.password].filter((password) => password !== null)).toHaveLength(1);
});

test("becomes the owner of strategies and keys of an older demo, and of nobody else's", async () => {
  const { store, master, newPerson } = await openFactorFixture();
  const { personId: trader } = await newPerson();
  const [own] = await seedStrategies(store, master, ["SPOT"], AT, { ownerId: trader });
  const [older] = await seedStrategies(store, master, ["FUTURES"], AT);
  const { personId } = await provideDemoPerson(store.people, AT);
  const idsOf = async (owner: string) =>
    (await store.people.listStrategiesOf(owner)).map(({ strategyId }) => strategyId);
  expect(await idsOf(personId)).toEqual([older?.strategyId]);
  expect(await idsOf(trader)).toEqual([own?.strategyId]);
  expect((await store.people.listKeysOf(personId)).map(({ key }) => key.apiKey)).toEqual([older?.apiKey]);
});
