// What the dashboard's routes work with: the gateway that trades, the people, and what was observed.

import type { PerformanceReports } from "../analytics/reports.ts";
import type { TierTable } from "../engine/matching/terms.ts";
import type { Gateway } from "../http/pipeline.ts";
import type { Observability } from "../observability/observability.ts";
import type { People } from "../people/people.ts";
import type { FiguresOfCopies } from "./copying/copy-figures.ts";
import type { CopyOffers } from "./copying/copy-offers.ts";
import type { Copying } from "./copying/copying.ts";
import type { LastPrices } from "./last-prices.ts";
import type { ReportQueue } from "./report-queue.ts";
import type { SessionJson } from "./schemas/people.ts";

export type DashboardParts = {
  readonly gateway: Gateway;
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
