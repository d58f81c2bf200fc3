import { asApiError } from "../api/error.ts";
import { Button } from "./button.tsx";
import { Wait } from "./wait.tsx";

type ErrorNoteProps = {
  /** Whatever was thrown; an ApiError brings its own words. */
  error: unknown;
  onRetry?: () => void;
  isRetrying?: boolean;
};

/**
 * What went wrong: a plain sentence, what to do, the code to tell an operator, and a way to try again. A form that has errors of
 * its own has no code: its fields say what is wrong.
 */
export function ErrorNote({ error, onRetry, isRetrying = false }: ErrorNoteProps) {
  const { message, action, code, fields, retryAfterSeconds } = asApiError(error);
  return (
    <div role="alert" className="rounded-md border border-loss border-l-4 bg-loss-soft px-4 py-3">
      <p className="font-medium">{message}</p>
      {action !== undefined && <p className="mt-1">{action}</p>}
      {retryAfterSeconds !== undefined && (
        <Wait
          key={`${code} ${retryAfterSeconds}`}
          seconds={retryAfterSeconds}
          then="You can try again now."
        />
      )}
      <div className="mt-2 flex flex-wrap items-center gap-x-4 gap-y-2">
        {onRetry !== undefined && (
          <Button size="small" onClick={onRetry} isBusy={isRetrying}>
            Try again
          </Button>
        )}
        {Object.keys(fields).length === 0 && <span className="font-mono text-ink text-xs">{code}</span>}
      </div>
    </div>
  );
}
