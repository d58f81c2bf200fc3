// Hashing passwords: argon2id, only so many at once, and only so many that wait.
import { expect, test } from "vitest";
import { PASSWORDS_WAITING_MAX, Passwords, passwordFault } from "./passwords.ts";

test("a password is verified against its own hash alone, and never without one", async () => {
  const passwords = new Passwords();
  const hashed = await passwords.hash("a fine long password");
  expect(hashed).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await passwords.verify(hashed, "a fine long password")).toBe(true);
  expect(await passwords.verify(hashed, "another long password")).toBe(false);
  expect(await passwords.verify(null, "a password that nobody has")).toBe(false);
});

test("two are hashed at once, the others wait their turn, and beyond the bound they are refused", async () => {
  let underWay = 0;
  let most = 0;
  const release: (() => void)[] = [];
  const passwords = new Passwords({
    async hash(password) {
      underWay += 1;
      most = Math.max(most, underWay);
      await new Promise<void>((resolve) => release.push(resolve));
      underWay -= 1;
      return `hash of ${password}`;
    },
    verify: async () => true,
  });
  const taken = Array.from({ length: 2 + PASSWORDS_WAITING_MAX }, (_, number) =>
    passwords.hash(String(number)),
  );
  expect(await passwords.hash("one more")).toBe(null);
  const hashed: (string | null)[] = [];
  const all = Promise.all(taken.map(async (each) => hashed.push(await each)));
  while (hashed.length < taken.length) {
    release.shift()?.();
    await Promise.resolve();
  }
  await all;
  expect(most).toBe(2);
  expect(new Set(hashed).size).toBe(taken.length);
  const later = passwords.hash("later");
  release.shift()?.();
  expect(await later).toBe("hash of later");
});

test("a length is counted in characters", () => {
  expect(passwordFault("🦜".repeat(9), "")).toBe("Use at least 10 characters.");
  expect(passwordFault("🦜".repeat(10), "")).toBe(null);
  expect(passwordFault("🦜".repeat(200), "")).toBe(null);
  expect(passwordFault("🦜".repeat(201), "")).toBe("Use at most 200 characters.");
});
