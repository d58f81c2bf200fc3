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
