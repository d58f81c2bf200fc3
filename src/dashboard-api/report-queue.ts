// The queue of reports. A report may read thousands of trades and request many candles from the market:
// reports of one owner are computed one after the other, and owners with queued reports alternate.
import { Semaphore } from "../concurrency/semaphore.ts";
import { DashboardError } from "./errors.ts";

/** Reports that a server computes at a time, each of another owner. */
export const REPORTS_AT_A_TIME_MAX = 2;
/** Queued reports of one owner: one for every window that may be open. */
export const REPORTS_QUEUED_MAX = 20;
const RETRY_AFTER_SECONDS = 5;

export class ReportQueue {
  readonly #owners = new Semaphore<string>({
    permits: REPORTS_AT_A_TIME_MAX,
    permitsPerKey: 1,
    queueMaxPerKey: REPORTS_QUEUED_MAX,
  });

  /**
   * Computes a report of an owner, after those queued before it. Throws TOO_MANY_REQUESTS if too many of the
   * owner's reports are queued.
   */
  async run<Result>(ownerId: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#owners.isFull(ownerId)) {
      throw new DashboardError("TOO_MANY_REQUESTS", {
        message: "Too many reports of your strategies were requested at once.",
        action: "Wait until they are ready, then try again.",
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    return await this.#owners.run(ownerId, work);
  }
}
