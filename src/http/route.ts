// A row of the exchange-style routes: what a route asks, costs and requires, and its three steps. Only
// `answer` waits and changes things; `parse` and `present` are pure.
import type { Refusal } from "../domain/refusal.ts";
import type { Strategy } from "../domain/strategy.ts";
import type { Parameters } from "./parameters.ts";
import { type Descriptions, mandatory, optional } from "./parse/descriptions.ts";
import type { Caller, Listings, ParsesInput, Ports, Row, StrategyNeeds } from "./pipeline.ts";

/** JSON text that is ready to be sent, where building the value would be a waste. */
export class ReadyJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/**
 * The answer to a placement whose client id was used before: the present state of the first order. Nothing
 * was placed.
 */
export class Replay {
  readonly body: object;
  constructor(body: object) {
    this.body = body;
  }
}

type Body = ReadyJson | Replay | object;
/** What a row answers: a body, or why there is none. */
export type Answer = Body | Refusal;

/**
 * What is known of the sender of a signed request, or of one with a key alone. Public routes get no call:
 * they have no sender.
 */
export type SignedCall = {
  /** The key that it came with. */
  readonly apiKey: string;
  /** Empty on a route that takes any key. */
  readonly strategyId: string;
  /** The person who owns the key. */
  readonly userId: string;
  /** When it was charged: wall time, Unix ms. */
  readonly admittedAt: number;
  /** Whether the request's time window has ended by now: checked again when its command is executed. */
  readonly lapsed: () => Refusal | null;
};

export type ExchangeCaller = Caller<Parameters> &
  Omit<SignedCall, "admittedAt"> & {
    /** The strategy that the key manages; null while it manages none. */
    readonly strategy: Strategy | null;
  };

type RowHead = {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** The first is the route's name, the others are aliases. */
  readonly paths: readonly [string, ...string[]];
  /** What the route does, in a few words, for the API reference. */
  readonly summary: string;
};

/**
 * What only signed routes have: the strategy that they need, and whether they count against the order
 * budgets.
 */
type Access = StrategyNeeds & { readonly placesOrder: boolean };

export type Route = Row<Parameters, SignedCall, Answer> &
  RowHead &
  Access & {
    /** `key`: it needs a valid key in the header, but no signature. */
    readonly access: "public" | "key" | "signed";
    /**
     * The parameters that it knows, including those that it ignores; the parameters of every signed request
     * are not listed.
     */
    readonly parameters: Descriptions;
    /**
     * The names of all parameters of a signed route, including those of every signed request; null for any
     * other.
     */
    readonly known: ReadonlySet<string> | null;
    readonly weight: (parameters: Parameters) => number;
  };

/** The parameters of every signed request. Source: specification 5.1. */
export const SIGNING_PARAMETERS = {
  timestamp: mandatory(
    "time",
    "When the request was made: not more than `recvWindow` ago, less than a second ahead.",
    { example: "1767225600000" },
  ),
  recvWindow: optional("decimal", "For how many ms the request is valid: more than 0, at most 30000.", {
    default: "5000",
  }),
  signature: mandatory(
    "text",
    "64 lowercase hex digits: HMAC-SHA256 of query and body as sent, without the signature, keyed with the secret.",
    { example: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
  ),
} satisfies Descriptions;

/** The part of a row that knows its own parameters: it can read those that it describes, and no others. */
type Reading<Name extends string> = {
  /** Other paths of the same route. */
  readonly aliases?: readonly string[];
  /** None unless given. */
  readonly parameters?: Descriptions<Name>;
  /** What it costs, where it does not depend on the parameters as a number; 1 unless given. */
  readonly weight?: number | ((parameters: Parameters<NoInfer<Name>>) => number);
};
type Answering<Result> = Promise<Result | Refusal> | Result | Refusal;

/**
 * Makes the rows of routes that need a key, for strategies of a type, or for all keys: signed, unless
 * `access` says that the key is enough and a signature is not checked. A row is given by its method and path,
 * such as "GET /api/v3/account": `parse` gives `answer` its input, and `answer` gives `present` its result.
 * It writes unless it is a GET.
 */
export function keyRoutes(strategyType: Route["strategyType"], access: "key" | "signed" = "signed") {
  return <const Name extends string = never, Input = undefined, Result = Body>(
    name: `${Route["method"]} /${string}`,
    summary: string,
    row: Partial<Omit<Access, "strategyType">> &
      Reading<Name> & {
        readonly parse?: (parameters: Parameters<NoInfer<Name>>) => Input | Refusal;
        readonly answer: (input: Input, ports: Ports, call: SignedCall) => Answering<Result>;
        readonly present?: (result: Result, call: SignedCall) => Body;
      } & ParsesInput<Input>,
  ): Route => {
    const [method, path] = name.split(" ") as [Route["method"], string];
    const known =
      access === "signed" ? new Set(Object.keys({ ...SIGNING_PARAMETERS, ...row.parameters })) : null;
    const needs = { access, strategyType, placesOrder: false, writes: method !== "GET" } as const;
    return { ...needs, ...row, ...headOf(path, row), method, summary, known };
  };
}

/** A row of a public route, which is a GET. Its parser may check symbols against the listings. */
export function publicRoute<const Name extends string = never, Input = undefined, Result = Body>(
  path: string,
  summary: string,
  row: Reading<Name> & {
    readonly parse?: (parameters: Parameters<NoInfer<Name>>, listings: Listings) => Input | Refusal;
    readonly answer: (input: Input, ports: Ports) => Answering<Result>;
    readonly present?: (result: Result) => Body;
  } & ParsesInput<Input>,
): Route {
  const access = { access: "public", strategyType: null, placesOrder: false, writes: false } as const;
  return { ...row, ...access, ...headOf(path, row), method: "GET", summary, known: null };
}

/** A row of a route that the exchange has retired: every request is refused. */
export function retiredRoute(
  name: `${Route["method"]} /${string}`,
  summary: string,
  { aliases, refusal }: { readonly aliases: readonly string[]; readonly refusal: Refusal },
): Route {
  const [method, path] = name.split(" ") as [Route["method"], string];
  return { ...publicRoute(path, summary, { aliases, answer: () => refusal }), method };
}

function headOf<Name extends string>(
  path: string,
  row: Reading<Name>,
): Pick<Route, "paths" | "parameters" | "weight"> {
  const { aliases = [], parameters = {}, weight = 1 } = row;
  return {
    paths: [path, ...aliases],
    parameters,
    weight: typeof weight === "number" ? () => weight : weight,
  };
}
