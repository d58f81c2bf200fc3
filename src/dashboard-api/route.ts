// A route of the dashboard as a row: its path, who may call it, and the schemas of what it takes and answers.
// The pipeline does the rest, the same for all; a test calls each row in every role. The browser infers its
// client from the rows.
import type { z } from "zod";
import type { NewAuditRecord } from "../domain/audit.ts";
import type { Person } from "../domain/person.ts";
import type { Caller } from "../people/cookies.ts";
import type { SignedInSession } from "../people/sessions.ts";
import type { OwnedStrategy } from "../store/ports/people.ts";
import type { CopyStore } from "../store/store.ts";
import { DashboardError } from "./errors.ts";
import type { DashboardParts } from "./parts.ts";

/**
 * ANYONE: no session needed. SIGNED_IN: any person. TRADER and COPIER: of that profile (an operator is
 * neither). OPERATOR: with the second factor enabled.
 */
export type Access = "ANYONE" | "SIGNED_IN" | "TRADER" | "COPIER" | "OPERATOR";

export type DashboardCall<Body = unknown, Query = unknown, Param extends string = string> = {
  readonly parts: DashboardParts;
  readonly caller: Caller;
  /** Null only where access is ANYONE. */
  readonly signedIn: SignedInSession | null;
  /** The `:name` parts of the path, decoded. */
  readonly params: Readonly<Record<Param, string>>;
  readonly body: Body;
  readonly query: Query;
  /** Wall time, Unix ms. */
  readonly now: number;
};

export type DashboardAnswer<Body = unknown> = {
  /** 200 unless given. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Values of `set-cookie`. */
  readonly cookies?: readonly string[];
  readonly body: Body;
};

export type TextFile = { readonly text: string; readonly contentType: string };

export type DashboardRoute = {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** Under `/dashboard/api`; a segment such as `:strategyId` matches any text. */
  readonly path: string;
  readonly access: Access;
  /** Whether the person's identity must be approved. */
  readonly needsKyc: boolean;
  /**
   * Whether it only reduces risk, such as a halt: it then has a budget of its own, which nothing else uses
   * up.
   */
  readonly onlyStops: boolean;
  /** Whether it adds rows to the store, so that it is rejected while the disk is nearly full. */
  readonly growsDisk: boolean;
  /** The schema of the body, unknown fields rejected; null if there is none. */
  readonly body: z.ZodType | null;
  readonly query: z.ZodType | null;
  /** The schema that the answer is encoded with; null for a text file. */
  readonly output: z.ZodType | null;
  /** Whether the answer contains secrets, so that it is not compressed: its length would depend on them. */
  readonly showsSecrets: boolean;
  /** Throws DashboardError to reject the request. */
  answer(call: DashboardCall): Promise<DashboardAnswer>;
};

/** A row as the browser's client knows it, by its method and path. */
export type Row<Name, Output, Body, Query> = DashboardRoute & {
  readonly name: Name;
  readonly output: Output;
  readonly body: Body;
  readonly query: Query;
};

/** The names of the `:name` parts of a path. */
export type ParamOf<Path extends string> = Path extends `${infer Segment}/${infer Rest}`
  ? ParamOf<Segment> | ParamOf<Rest>
  : Path extends `:${infer Name}`
    ? Name
    : never;

type Read<Schema> = Schema extends z.ZodType ? z.output<Schema> : null;
type Answered<Output> = Output extends z.ZodType ? z.output<Output> : TextFile;
type Flags = "needsKyc" | "onlyStops" | "growsDisk" | "showsSecrets";

/**
 * A handler takes the values that the row's schemas have read, and answers the value that its output schema
 * encodes.
 */
type Handler<Name extends string, Output, Body, Query> = (
  call: DashboardCall<Read<Body>, Read<Query>, ParamOf<Name>>,
) => Promise<DashboardAnswer<Answered<Output>>>;

/**
 * A row by its method and path, such as "GET /copies/:copyId", who may call it, and what it answers: its
 * handler, or that with what else there is to say of the row.
 */
export function route<
  const Name extends `${DashboardRoute["method"]} /${string}`,
  Output extends z.ZodType | null,
  Body extends z.ZodType | null = null,
  Query extends z.ZodType | null = null,
>(
  name: Name,
  access: Access,
  output: Output,
  row:
    | Handler<Name, Output, null, null>
    | (Partial<Pick<DashboardRoute, Flags>> & {
        readonly body?: Body;
        readonly query?: Query;
        readonly answer: Handler<Name, Output, Body, Query>;
      }),
): Row<Name, Output, Body, Query> {
  const defaults = { needsKyc: false, onlyStops: false, growsDisk: false, showsSecrets: false };
  const [method, path] = name.split(" ");
  const said = typeof row === "function" ? { answer: row } : row;
  return {
    name,
    method,
    path,
    access,
    output,
    ...defaults,
    body: null,
    query: null,
    ...said,
  } as unknown as Row<Name, Output, Body, Query>;
}

/** The person who calls a row that needs a session. */
export function personOf({ signedIn }: Pick<DashboardCall, "signedIn">): Person {
  return signedInOf({ signedIn }).person;
}

/** The store of copies. */
export function copyingOf({ parts }: Pick<DashboardCall, "parts">): CopyStore {
  return parts.gateway.store.copying;
}

/** The person who calls, with the session. */
export function signedInOf({ signedIn }: Pick<DashboardCall, "signedIn">): SignedInSession {
  if (signedIn === null) throw new Error("the pipeline admits only people who are signed in");
  return signedIn;
}

/** The strategy that `:strategyId` names, in any status. Throws NOT_FOUND unless it is the caller's. */
export async function ownStrategy(
  call: Pick<DashboardCall<unknown, unknown, "strategyId">, "parts" | "params" | "signedIn">,
): Promise<OwnedStrategy> {
  const { strategyId } = call.params;
  const strategy = await call.parts.gateway.store.people.findStrategy(strategyId);
  if (strategy === null || strategy.ownerId !== personOf(call).personId)
    throw new DashboardError("NOT_FOUND");
  return strategy;
}

/** The audit record of an action of the caller. */
export function audited(
  call: Pick<DashboardCall, "signedIn" | "now">,
  what: NewAuditRecord["what"],
  about: NewAuditRecord["about"],
  details: NewAuditRecord["details"] = {},
): NewAuditRecord {
  return { who: { kind: "PERSON", personId: personOf(call).personId }, what, about, at: call.now, details };
}
