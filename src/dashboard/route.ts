// A route of the dashboard as a row: what calls it, who may, what it takes, and what it answers. The pipeline does the rest, the
// same for all; a test walks over all rows with every role.
import type { z } from "zod";
import type { Person } from "../domain/person.ts";
import type { Caller } from "../people/cookies.ts";
import type { SignedInSession } from "../people/sessions.ts";
import type { OwnedStrategy } from "../store/people-store.ts";
import { DashboardError } from "./errors.ts";
import type { DashboardParts } from "./parts.ts";

/**
 * ANYONE: no session needed. SIGNED_IN: any person. TRADER and COPIER: of that profile (an operator is neither). OPERATOR: with
 * the second factor enabled.
 */
export type Access = "ANYONE" | "SIGNED_IN" | "TRADER" | "COPIER" | "OPERATOR";

export type DashboardCall<Body = unknown, Query = unknown> = {
  readonly parts: DashboardParts;
  readonly caller: Caller;
  /** Null only where access is ANYONE. */
  readonly signedIn: SignedInSession | null;
  /** The `:name` parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly query: Query;
  /** Wall time, Unix ms. */
  readonly now: number;
};

export type DashboardAnswer = {
  /** 200 unless said. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Values of `set-cookie`. */
  readonly cookies?: readonly string[];
  /** JSON, or text of a type of its own. */
  readonly body: object | { readonly text: string; readonly contentType: string };
};

export type DashboardRoute = {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Under `/dashboard/api`; a segment such as `:strategyId` stands for any. */
  readonly path: string;
  readonly access: Access;
  /** Whether the person's identity must be approved. */
  readonly needsKyc: boolean;
  /** Whether it only takes risk away, such as a halt: it has a budget of its own then, that nothing else uses up. */
  readonly onlyStops: boolean;
  /** Whether it only adds to what is kept, so that it is refused while the disk is nearly full. */
  readonly growsDisk: boolean;
  /** What the body must be, unknown fields refused; null if there is none. */
  readonly body: z.ZodType | null;
  readonly query: z.ZodType | null;
  /** Whether its answer has in it what nobody else may learn, so that its length must not tell of it either. */
  readonly showsSecrets: boolean;
  /** Throws DashboardError to refuse. */
  answer(call: DashboardCall): Promise<DashboardAnswer>;
};

/** A row whose answer knows what its schemas have read. */
export function route<Body extends z.ZodType | null = null, Query extends z.ZodType | null = null>(
  row: Omit<
    DashboardRoute,
    "body" | "query" | "needsKyc" | "onlyStops" | "growsDisk" | "showsSecrets" | "answer"
  > & {
    readonly needsKyc?: boolean;
    readonly onlyStops?: boolean;
    readonly growsDisk?: boolean;
    readonly showsSecrets?: boolean;
    readonly body?: Body;
    readonly query?: Query;
    readonly answer: (call: DashboardCall<Read<Body>, Read<Query>>) => Promise<DashboardAnswer>;
  },
): DashboardRoute {
  return {
    needsKyc: false,
    onlyStops: false,
    growsDisk: false,
    showsSecrets: false,
    ...row,
    body: row.body ?? null,
    query: row.query ?? null,
  } as DashboardRoute;
}

type Read<Schema> = Schema extends z.ZodType ? z.output<Schema> : null;

/** The person of a route that nobody reaches without having signed in. */
export function personOf({ signedIn }: Pick<DashboardCall, "signedIn">): Person {
  return signedInOf({ signedIn }).person;
}

/** The same with the session. */
export function signedInOf({ signedIn }: Pick<DashboardCall, "signedIn">): SignedInSession {
  if (signedIn === null) throw new Error("the pipeline lets nobody in here who is not signed in");
  return signedIn;
}

// What a route is about must be the caller's own. Somebody else's is not found, the same as one that there is not.

/** The strategy that `:strategyId` names, of whatever status. Throws NOT_FOUND unless it is the caller's. */
export async function ownStrategy(
  call: Pick<DashboardCall, "parts" | "params" | "signedIn">,
): Promise<OwnedStrategy> {
  const { strategyId = "" } = call.params;
  const strategy = await call.parts.gateway.store.people.findStrategy(strategyId);
  if (strategy === null || strategy.ownerId !== personOf(call).personId)
    throw new DashboardError("NOT_FOUND");
  return strategy;
}
