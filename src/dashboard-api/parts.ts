// What the dashboard's routes work with: the gateway that trades, the people, and what was observed. None of
// them gets the master key: what seals and signs does it for them.

import type { PerformanceReports } from "../analytics/reports.ts";
import type { BoundKey } from "../domain/strategy.ts";
import type { TierTable } from "../engine/matching/terms.ts";
import type { Ports } from "../http/pipeline.ts";
import type { issueApiKey } from "../keys/api-keys.ts";
import type { Observability } from "../observability/observability.ts";
import type { People } from "../people/people.ts";
import type { FiguresOfCopies } from "./copying/copy-figures.ts";
import type { CopyOffers } from "./copying/copy-offers.ts";
import type { Copying } from "./copying/copying.ts";
import type { LastPrices } from "./last-prices.ts";
import type { ReportQueue } from "./report-queue.ts";
import type { SessionJson } from "./schemas/people.ts";
import type { KeyTestJson } from "./schemas/requests.ts";

export type DashboardParts = {
  readonly gateway: Ports;
  /** A new API key and its secret. */
  readonly issueKey: (terms: Parameters<typeof issueApiKey>[1]) => ReturnType<typeof issueApiKey>;
  /** Tests a key as of a wall time, Unix ms. */
  readonly testKey: (key: BoundKey, now: number) => Promise<KeyTestJson>;
  readonly people: People;
  readonly reports: PerformanceReports;
  readonly reportQueue: ReportQueue;
  readonly observability: Observability;
  readonly prices: LastPrices;
  readonly copying: Copying;
  readonly copyOffers: CopyOffers;
  readonly copyFigures: FiguresOfCopies;
  /** Those that a strategy under `strict` can be made with. */
  readonly feeTiers: TierTable;
  readonly server: SessionJson["server"];
  /** The origins that the dashboard is served at, once the server listens. */
  readonly origins: () => ReadonlySet<string>;
  /** Wall time, Unix ms. */
  readonly startedAt: number;
};
