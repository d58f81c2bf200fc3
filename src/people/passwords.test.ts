// Hashing passwords: argon2id, with bounds on those hashed at once and those that wait.
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

const ADA = { email: "ada@example.org", name: "Ada Lovelace" };

/** Different characters, each of two code units. */
function rarely(count: number): string {
  return Array.from({ length: count }, (_, index) =>
    String.fromCodePoint(0x1f400 + ((index * 37) % 211)),
  ).join("");
}

test("a length is counted in characters", async () => {
  expect(await passwordFault(rarely(9), ADA)).toBe("Use at least 10 characters.");
  expect(await passwordFault(rarely(10), ADA)).toBe(null);
  expect(await passwordFault(rarely(200), ADA)).toBe(null);
  expect(await passwordFault(rarely(201), ADA)).toBe("Use at most 200 characters.");
});

test.each([
  ["common", ["basketball", "1029384756", "Password123!", "letmein12345", "P@ssw0rd2024", "1234567890a"]],
  [
    "common",
    ["iloveyouforever", "monkey1234567", "qazwsxedcrfv", "trustno1!!", "michaeljordan23", "Summer2025!"],
  ],
  ["repeats itself", ["11111111111", "aaaaaaaaaaa", "abcabcabcabc", "dragondragon", "x".repeat(200)]],
  ["a sequence", ["abcdefghijkl"]],
  ["a run of keys", ["qwertyuiop[]"]],
  [
    "what this service is about",
    ["lyrebirdlyrebird", "Lyrebird123!", "Lyrebird2026", "tradingbot2024", "Bitcoin2025!"],
  ],
  [
    "made of your name, your address",
    ["ada@example.org", "ada@example.org1", "Lovelace1815", "lovelace ada"],
  ],
  ["easy to guess", ["changemenow", "mynewpassword", "zaq12wsxCDE#"]],
])(
  "a password that is guessed first is refused, and it is said why and what to do: %s",
  async (why, passwords) => {
    for (const password of passwords) {
      const fault = await passwordFault(password, ADA);
      expect(fault, password).toContain("Use four or more words that don’t belong together.");
      if (!["easy to guess", "repeats itself"].includes(why)) expect(fault, password).toContain(why);
    }
  },
);

test("a password that takes long to guess is taken, whatever it is made of", async () => {
  const fit = [
    ...["seven lyrebirds sing at dusk", "Tr0ub4dor&3", "marble-otter-fig", "adagio for a left hand"],
    ...["9kq2xvz7wp", "пять слов без смысла", "4@8({[<369!1|0$57+%2"],
  ];
  for (const password of fit) expect(await passwordFault(password, ADA), password).toBe(null);
});
