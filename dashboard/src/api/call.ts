// The one way to the server: JSON over /dashboard/api, with the session's cookie. Whatever goes wrong is an ApiError.
import type { ErrorShape } from "../../../src/dashboard/shapes.ts";
import { ApiError } from "./error.ts";
import { queryClient } from "./query-client.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/**
 * Calls `/dashboard/api` + path; path begins with a slash, and whatever a person typed into it is encoded by the caller.
 * @throws ApiError with the server's refusal, or with code UNREACHABLE where there was no answer that can be read
 */
export async function call<Answer>(method: Method, path: string, body?: unknown): Promise<Answer> {
  const response = await send(method, path, body);
  const answer = await read(response);
  if (response.ok) return answer as Answer;
  const error = refusalOf(response, answer);
  if (error.status === 401 && error.code === "NOT_SIGNED_IN") {
    void queryClient.invalidateQueries({ queryKey: ["session"] });
  }
  throw error;
}

/** A page that was used so recently counts as used, ms: the server ends sessions that nobody uses, and pages also poll by themselves. */
const USED_MS_MAX = 5 * 60_000;
let usedAt = Date.now();

/** Notes from now on when somebody uses the page. */
export function watchUse(): void {
  const use = () => {
    usedAt = Date.now();
  };
  for (const event of ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"]) {
    window.addEventListener(event, use, { capture: true, passive: true });
  }
}

async function send(method: Method, path: string, body: unknown): Promise<Response> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (Date.now() - usedAt >= USED_MS_MAX) headers["x-lyrebird-unattended"] = "1";
  const init: RequestInit = { method, credentials: "same-origin", headers };
  if (body !== undefined) {
    headers["content-type"] = "application/json";
    init.body = JSON.stringify(body);
  }
  try {
    return await fetch(`/dashboard/api${path}`, init);
  } catch {
    throw unreachable(0);
  }
}

async function read(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  try {
    return await response.json();
  } catch {
    throw unreachable(response.status);
  }
}

function refusalOf({ status }: Response, answer: unknown): ApiError {
  if (!isErrorShape(answer)) return unreachable(status);
  return new ApiError({ status, ...answer.error });
}

function isErrorShape(answer: unknown): answer is ErrorShape {
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
