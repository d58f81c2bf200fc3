// A request with somebody watching: what became of it is told, also when it could not be answered.
import type { RequestObserver, Sighting } from "../inspection/sighting.ts";
import type { Reply, Request } from "./pipeline.ts";

/** Answers a request by its steps, which note in the sighting what they learn. Rejects if they do. */
export async function observed(
  request: Request,
  observer: RequestObserver,
  steps: (sighting: Sighting) => Promise<Reply>,
): Promise<Reply> {
  const sighting = observer.sight();
  try {
    const reply = await steps(sighting);
    observer.answered(sighting, request, reply);
    return reply;
  } catch (error) {
    observer.failed(sighting, request, error);
    throw error;
  }
}
