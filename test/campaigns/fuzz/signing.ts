// Key, time and signature of a signed request: mostly right, sometimes nearly right. The gateway must never
// execute a forged request.
import { createHmac } from "node:crypto";
import type { StrategyType } from "../../../src/domain/account.ts";
import type { Credentials } from "../../support/servers/gateway.ts";
import type { Draw } from "./draw.ts";
import type { Parameter, Scenario } from "./scenario.ts";
import { hostileValue } from "./values.ts";

/** The two parts of a request that hold parameters. */
export type Parts = { readonly query: string; readonly body: string };
export type SignedParts = Parts & {
  /** Whether the signature is missing, wrong, or not what the parts say. */
  readonly isForged: boolean;
};

type Key = Pick<Credentials, "apiKey" | "apiSecret"> & {
  /** Whether nothing that bears it may be carried out. */
  readonly isForged: boolean;
};

/** Whose key a request to a type's route bears: mostly the strategy's own. An empty one is not sent. */
export function drawKey(
  draw: Draw,
  { strategy, others }: Scenario,
  type: StrategyType,
  isHonest: boolean,
): Key {
  const dice = isHonest ? 0 : draw.below(100);
  if (dice < 94) return { ...strategy, isForged: false };
  if (dice < 96) {
    const bystanders = others.bystanders[type === "SPOT" ? "FUTURES" : "SPOT"];
    return { ...draw.pick(bystanders), isForged: false };
  }
  if (dice < 97) return { ...draw.pick(others.unbound), isForged: false };
  if (dice < 98) return { ...draw.pick(others.revoked), isForged: true };
  const { apiKey, apiSecret } = strategy;
  return {
    isForged: true,
    apiSecret,
    apiKey: draw.pick([
      "",
      " ",
      "x",
      "\xfc",
      apiKey.toUpperCase(),
      `${apiKey}0`,
      apiKey.slice(0, -1),
      "a".repeat(2_000),
    ]),
  };
}

/** Timestamp and recvWindow: mostly of now, sometimes old, ahead, in other units, or nonsense. */
export function drawTimes(draw: Draw, isHonest: boolean): Parameter[] {
  const now = Date.now();
  const window: Parameter[] =
    isHonest || draw.chance(0.6) ? [] : [["recvWindow", draw.pick(["5000", "10000", "30000", "5000.5"])]];
  if (isHonest || draw.chance(0.96)) return [["timestamp", String(now)], ...window];
  if (draw.chance(0.2)) {
    const odd = draw.pick(["0", "-1", "30001", "60000", "0.0001", "", "1e4", hostileValue(draw)]);
    return [
      ["timestamp", String(now)],
      ["recvWindow", odd],
    ];
  }
  const times = [
    now - 6_000,
    now - 60_000,
    now + 1_500,
    now + 60_000,
    now * 1_000,
    Math.floor(now / 1_000),
    0,
  ];
  const timestamp = draw.chance(0.6) ? String(draw.pick(times)) : hostileValue(draw);
  return draw.chance(0.1) ? window : [["timestamp", timestamp], ...window];
}

/** With the signature, mostly right and last; sometimes elsewhere, twice, misspelt or missing. */
export function signedParts(
  draw: Draw,
  { query, body }: Parts,
  secret: string,
  isHonest: boolean,
): SignedParts {
  const digits = createHmac("sha256", secret)
    .update(query + body, "latin1")
    .digest("hex");
  const signature = `signature=${digits}`;
  const toQuery = body === "" || (query !== "" && draw.chance(0.5));
  const put = (isForged: boolean, place: (part: string) => string): SignedParts =>
    toQuery ? { query: place(query), body, isForged } : { query, body: place(body), isForged };
  const right = (place: (part: string) => string) => put(false, place);
  const forged = (text: string) => put(true, (part) => joined(part, text));
  if (isHonest || draw.chance(0.95)) return right((part) => joined(part, signature));
  switch (draw.below(8)) {
    case 0:
      return { query, body, isForged: true };
    case 1:
      return forged(signature.toUpperCase());
    case 2:
      return forged(`signature=${digits.toUpperCase()}`);
    case 3:
      return right((part) => joined(signature, part));
    case 4:
      return right((part) => inTheMiddle(part, signature));
    case 5:
      return forged(joined(signature, signature));
    case 6:
      return { query: joined(query, signature), body: joined(body, signature), isForged: true };
    default:
      return forged(`signature=${draw.chance(0.5) ? digits.slice(1) : hostileValue(draw)}`);
  }
}

/** Two parts of parameters as one. */
export function joined(one: string, other: string): string {
  return one === "" || other === "" ? one + other : `${one}&${other}`;
}

function inTheMiddle(part: string, signature: string): string {
  const first = part.indexOf("&");
  return first === -1 ? joined(part, signature) : `${part.slice(0, first)}&${signature}${part.slice(first)}`;
}
