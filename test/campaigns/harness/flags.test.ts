// The flags of all campaigns: their tables are read, bounded and described.
import { describe, expect, test } from "vitest";
import { CAMPAIGN as COPY_FAULTS } from "../copy-faults/campaign.ts";
import { CAMPAIGN as CRASH } from "../crash/campaign.ts";
import { CAMPAIGN as FIRE } from "../fire/campaign.ts";
import { CAMPAIGN as FUZZ } from "../fuzz/campaign.ts";
import { CAMPAIGN as HOSTILE } from "../hostile/campaign.ts";
import { CAMPAIGN as SOAK } from "../soak/campaign.ts";
import { CAMPAIGN as WALK } from "../walk/campaign.ts";
import { type Campaign, helpOf } from "./campaign.ts";
import { OptionError, readFlags } from "./flags.ts";

const seed = expect.any(Number);
/** Each campaign with what its flags are when none is given, and flags that it refuses. */
const CAMPAIGNS: readonly (readonly [Campaign<never>, object, readonly string[]])[] = [
  [
    COPY_FAULTS,
    {
      ...{ orders: 20_000, leads: 4, copiers: 25, store: null, seed, killEvery: 30, hideMax: 600 },
      ...{ noKills: false, noCuts: false, noExchange: false, mutation: null, json: false },
    },
    ["--orders 0", "--copiers 1", "--hide-max 0", "--kill-every 0", "--mutation nothing", "--orders many"],
  ],
  [
    CRASH,
    { cycles: 100, failovers: 0, servers: 1, store: null, seed, json: false },
    ["--cycles 0", "--cycles many", "--store mysql"],
  ],
  [
    FIRE,
    { signals: 10_000, store: null, seed, plain: false, noKills: false, noCuts: false, json: false },
    ["--signals 0", "--signals many", "--store mysql"],
  ],
  [FUZZ, { requests: 200_000, seed }, ["--requests 0", "--requests many", "--seed 1.5"]],
  [HOSTILE, { sockets: Number.NaN, quick: false, json: false }, ["--sockets 0"]],
  [
    SOAK,
    { minutes: 10, clients: 500, subscriptions: 20, storm: 1_000, seed, json: false },
    ["--minutes 0", "--clients many", "--subscriptions 21", "--storm -1"],
  ],
  [WALK, { commands: 1_000_000, seed, json: false }, ["--commands 0", "--seed 4294967296", "--steps 5"]],
].map(([campaign, ...rest]) => [campaign, ...rest] as never);

describe.each(CAMPAIGNS)("the flags of npm run $name", (campaign, usual, wrong) => {
  const { flags }: Campaign = campaign as never;

  test("have a value when they are not given", () => {
    expect(readFlags([], flags)).toEqual(usual);
  });

  test.each([...wrong, "--seed -1", "--frob", "more"])("%s is refused", (text) => {
    expect(() => readFlags(text.split(" "), flags)).toThrow(OptionError);
  });

  test("are all in the help, with their bounds", () => {
    expect(readFlags(["--help"], flags)).toBe("help");
    const help = helpOf(campaign as never);
    const names = Object.keys(flags).map((name) =>
      name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    );
    for (const name of names) expect(help).toContain(`--${name}`);
    for (const flag of Object.values(flags))
      if (flag.kind === "number") expect(help).toContain(`to ${flag.most}`);
  });
});

test("given flags are read", () => {
  const args = "--orders 50 --leads 1 --copiers 3 --store sqlite --seed 1 --no-kills --no-cuts --no-exchange";
  const more = "--hide-max 5 --kill-every 8 --json --mutation random-ids";
  expect(readFlags(`${args} ${more}`.split(" "), COPY_FAULTS.flags)).toEqual({
    ...{
      orders: 50,
      leads: 1,
      copiers: 3,
      store: "sqlite",
      seed: 1,
      killEvery: 8,
      hideMax: 5,
      mutation: "random-ids",
    },
    ...{ noKills: true, noCuts: true, noExchange: true, json: true },
  });
  expect(readFlags(["--storm", "0"], SOAK.flags)).toMatchObject({ storm: 0 });
});
