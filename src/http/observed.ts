// Notifies the observer of every request and its answer, also when it could not be answered.
import type { RequestObserver, Sighting } from "../inspection/sighting.ts";
import type { Reply, Request } from "./pipeline.ts";

/** Answers a request by its steps, which record in its context what they learn. Rejects if they do. */
export async function observed(
  request: Request,
  observer: RequestObserver,
  steps: (context: Sighting) => Promise<Reply>,
): Promise<Reply> {
  const context = observer.sight();
  try {
    const reply = await steps(context);
    observer.answered(context, request, reply);
    return reply;
  } catch (error) {
    observer.failed(context, request, error);
    throw error;
  }
}
