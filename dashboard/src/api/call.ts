// The only way to the server: JSON over /dashboard/api, with the session's cookie. Every failure is an
// ApiError. The names of the endpoints and the types of what they take and answer are inferred from the
// server's rows.

import { hashKey, QueryClient, type QueryKey, queryOptions } from "@tanstack/react-query";
import type { Endpoints } from "../../../src/dashboard-api/routes.ts";
import type { ErrorJson } from "../../../src/dashboard-api/schemas.ts";
import { stringifySearch } from "../app/search.ts";

/** Such as "GET /copies/:copyId". */
export type EndpointName = keyof Endpoints;
export type Parameters<Name extends EndpointName> = Endpoints[Name]["parameters"];
export type Answer<Name extends EndpointName> = Endpoints[Name]["answer"];
/** Parameters may be left out where all of them are optional. */
export type Given<Name extends EndpointName> =
  object extends Parameters<Name> ? [parameters?: Parameters<Name>] : [parameters: Parameters<Name>];

/**
 * Calls an endpoint. Parameters that its path names are written into it, the others are the query of a GET
 * and the body of the rest.
 * @throws ApiError with the server's error, or with code UNREACHABLE where there was no answer that can be
 * read
 */
export async function call<Name extends EndpointName>(
  name: Name,
  ...[parameters = {}]: Given<Name>
): Promise<Answer<Name>> {
  const response = await send(requestOf(name, parameters));
  const answer = await read(response);
  if (response.ok) return answer as Answer<Name>;
  const error = errorOf(response, answer);
  if (error.status === 401 && error.code === "NOT_SIGNED_IN") {
    outdate(["session"]);
  }
  throw error;
}

/**
 * The query of an endpoint. Live messages name the first parts of `queryKey` when it is out of date. While
 * other filters or another page are loaded, the answer before stays as a placeholder; never one about another
 * strategy, order or person, which the path names.
 */
export function endpointQuery<Name extends EndpointName>(
  queryKey: QueryKey,
  name: Name,
  ...given: Given<Name>
) {
  const [path] = requestOf(name, given[0] ?? {}).address.split("?");
  return queryOptions<Answer<Name>>({
    queryKey,
    queryFn: () => call(name, ...given),
    meta: { path },
    placeholderData: (before, query) => (query?.meta?.path === path ? before : undefined),
  });
}

/** The address of a file, for a link. */
export function fileAddress<Name extends EndpointName & `GET ${string}`>(
  name: Name,
  parameters: Parameters<Name>,
): string {
  return requestOf(name, parameters).address;
}

function requestOf(name: EndpointName, parameters: object) {
  const [method = "", path = ""] = name.split(" ");
  const rest: Record<string, unknown> = { ...parameters };
  const filled = path.replace(/:(\w+)/g, (_, param: string) => {
    const value = encodeURIComponent(String(rest[param]));
    delete rest[param];
    return value;
  });
  const address = `/dashboard/api${filled}`;
  if (method === "GET") return { method, address: `${address}${stringifySearch(rest)}`, body: null };
  return { method, address, body: Object.keys(rest).length === 0 ? null : JSON.stringify(rest) };
}

/**
 * A page that was used so recently counts as used, ms: the server ends unused sessions, and pages also poll
 * by themselves.
 */
const USED_MS_MAX = 5 * 60_000;
let usedAt = Date.now();

/** Records from now on when somebody uses the page. */
export function watchUse(): void {
  const use = () => {
    usedAt = Date.now();
  };
  for (const event of ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"]) {
    window.addEventListener(event, use, { capture: true, passive: true });
  }
}

async function send({ method, address, body }: ReturnType<typeof requestOf>): Promise<Response> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (Date.now() - usedAt >= USED_MS_MAX) headers["x-lyrebird-unattended"] = "1";
  if (body !== null) headers["content-type"] = "application/json";
  try {
    return await fetch(address, { method, credentials: "same-origin", headers, body });
  } catch {
    throw unreachable(0);
  }
}

async function read(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    throw unreachable(response.status);
  }
}

function errorOf({ status }: Response, answer: unknown): ApiError {
  if (!isErrorJson(answer)) return unreachable(status);
  return new ApiError({ status, ...answer.error });
}

function isErrorJson(answer: unknown): answer is ErrorJson {
  if (typeof answer !== "object" || answer === null || !("error" in answer)) return false;
  const { error } = answer;
  return typeof error === "object" && error !== null && "code" in error && "message" in error;
}

function unreachable(status: number): ApiError {
  return new ApiError({
    status,
    code: "UNREACHABLE",
    message:
      status === 0
        ? "The server can't be reached."
        : `The server sent an unexpected response (HTTP ${status}).`,
    action: "Check your connection, then try again. Your strategies keep running without this page.",
  });
}

// What went wrong with a call, in the server's words or, where the server was not reached, in ours.

export type ApiErrorParts = {
  /** The HTTP status; 0 where there was no answer. */
  readonly status: number;
  readonly code: string;
  /** A plain sentence. */
  readonly message: string;
  /** What to do about it. */
  readonly action?: string | undefined;
  /** By field of the body, what is wrong with it. */
  readonly fields?: Readonly<Record<string, string>> | undefined;
  readonly retryAfterSeconds?: number | undefined;
};

export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly action: string | undefined;
  readonly fields: Readonly<Record<string, string>>;
  readonly retryAfterSeconds: number | undefined;

  constructor({ status, code, message, action, fields, retryAfterSeconds }: ApiErrorParts) {
    super(message);
    this.status = status;
    this.code = code;
    this.action = action;
    this.fields = fields ?? {};
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Whether it is the server's error of this code. */
export function isApiError(error: unknown, code: string): boolean {
  return error instanceof ApiError && error.code === code;
}

/** By field, what the server said is wrong with it; of no error nothing. */
export function fieldsOf(error: unknown): ApiError["fields"] {
  return error === null ? {} : asApiError(error).fields;
}

/** Any error as one that can be shown; a bug of the page's own is one of them. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  return new ApiError({
    status: 0,
    code: "PAGE_FAILED",
    message: `This page failed: ${error instanceof Error ? error.message : String(error)}.`,
    action: "Reload the page. If it fails again, tell the operator what you did.",
  });
}

// The cache of what the server said. Live events say when it is out of date, so nothing is polled; after a
// reconnect everything is asked for again. A query about a strategy has a key that begins ["strategy",
// strategyId, what].

const STALE_AFTER_MS = 60_000;
const RETRIES_MAX = 2;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_AFTER_MS,
      retry: (failures, error) => failures < RETRIES_MAX && mayMend(error),
    },
    mutations: { retry: false },
  },
});

/** Has everything loaded again whose key begins with one of these. */
export function outdate(...queryKeys: readonly QueryKey[]): void {
  for (const queryKey of queryKeys) void queryClient.invalidateQueries({ queryKey });
}

/** How long what was loaded again stands before it is loaded once more, ms. */
const LOADED_AGAIN_MS = 250;
/** By the hash of a key that is being loaded again: whether it has become out of date once more. */
const loading = new Map<string, boolean>();

/**
 * The same for one key, however often it becomes out of date: one load is finished before the next begins,
 * so that answers are shown that take longer than the time between two changes.
 */
export function outdateInTurn(queryKey: QueryKey): void {
  const name = hashKey(queryKey);
  if (loading.has(name)) {
    loading.set(name, true);
    return;
  }
  loading.set(name, false);
  const goOn = () => {
    const isOutdated = loading.get(name);
    loading.delete(name);
    if (isOutdated === true) outdateInTurn(queryKey);
  };
  void queryClient.invalidateQueries({ queryKey }).finally(() => setTimeout(goOn, LOADED_AGAIN_MS));
}

/** A refusal stays one; a server that is not there may come back. */
function mayMend(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500);
}
