// One request and its whole answer, within a bound of time.
import type { Environment } from "./environment.ts";

export type TextAnswer = {
  readonly status: number;
  readonly text: string;
  /** The delay of `Retry-After`, in ms; null if it is absent or no number of seconds. */
  readonly retryAfterMs: number | null;
};

/** How long a request may take until its answer is complete, ms. */
const REQUEST_MS_MAX = 10_000;

/**
 * Rejects if no complete answer has come within the bound, or when `closing` is aborted. A redirect is no
 * answer.
 */
export async function fetchText(
  { fetch, timers }: Pick<Environment, "fetch" | "timers">,
  url: string,
  request: { readonly method: string; readonly headers: Record<string, string>; readonly body?: string },
  closing: AbortSignal,
): Promise<TextAnswer> {
  const abandoned = new AbortController();
  const abandon = () => abandoned.abort(new Error("the client was closed"));
  if (closing.aborted) abandon();
  closing.addEventListener("abort", abandon);
  const cancel = timers.after(REQUEST_MS_MAX, () =>
    abandoned.abort(new Error(`no complete answer within ${REQUEST_MS_MAX} ms`)),
  );
  try {
    const answer = await fetch(url, { ...request, redirect: "error", signal: abandoned.signal });
    const text = await answer.text();
    return { status: answer.status, text, retryAfterMs: readRetryAfterMs(answer.headers.get("retry-after")) };
  } finally {
    cancel();
    closing.removeEventListener("abort", abandon);
  }
}

function readRetryAfterMs(seconds: string | null): number | null {
  return seconds !== null && /^\d{1,6}$/.test(seconds) ? Number(seconds) * 1_000 : null;
}
