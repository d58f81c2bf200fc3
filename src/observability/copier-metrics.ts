// Prometheus metrics of the copiers and their venues, from the reports that copiers of any process write into
// the store. A copier whose last report is too old has only the age of that report.
import type { Gauge, Registry } from "prom-client";
import { type CopierReport, isSilent, type VenueHealth } from "../domain/venue-report.ts";
import type { Store } from "../store/store.ts";

type CopierMetricsParts = {
  readonly store: Pick<Store, "copying">;
  /** Wall time, Unix ms. */
  readonly wallNow: () => number;
};

/** Adds them to a registry. */
export function addCopierMetrics(
  registry: Registry,
  NewGauge: typeof Gauge,
  { store, wallNow }: CopierMetricsParts,
): void {
  const registers = [registry];
  new NewGauge({
    name: "lyrebird_copier_report_age_seconds",
    help: "How long ago a copier has last reported.",
    registers,
    labelNames: ["copier"],
    async collect() {
      this.reset();
      for (const { copier, at } of await reportsIn(store)) {
        this.set({ copier }, Math.max(0, (wallNow() - at) / 1_000));
      }
    },
  });
  const venueGauge = (name: string, help: string, read: (health: VenueHealth) => number) =>
    new NewGauge({
      name,
      help,
      registers,
      labelNames: ["venue", "family", "copier"],
      async collect() {
        this.reset();
        const reports = (await reportsIn(store)).filter((report) => !isSilent(report, wallNow()));
        for (const { copier, venues } of reports) {
          for (const { origin: venue, type, health } of venues) {
            this.set({ venue, family: type, copier }, read(health));
          }
        }
      },
    });
  venueGauge("lyrebird_venue_answers", "1 while a venue answers a copier.", ({ isReachable }) =>
    isReachable ? 1 : 0,
  );
  venueGauge(
    "lyrebird_venue_streams",
    "Accounts at a venue whose user data stream a copier receives.",
    ({ streams }) => streams,
  );
  venueGauge(
    "lyrebird_venue_paused_seconds",
    "For how long a copier sends a venue nothing, as it has demanded.",
    ({ pausedUntil }) => Math.max(0, (pausedUntil - wallNow()) / 1_000),
  );
  venueGauge(
    "lyrebird_venue_budget_used_ratio",
    "The highest share of one of a venue's budgets that a copier has used in the present minute.",
    ({ budgetUsed }) => budgetUsed,
  );
}

/** Empty if the store cannot be read, so that the other metrics are still reported. */
async function reportsIn(store: Pick<Store, "copying">): Promise<readonly CopierReport[]> {
  try {
    return await store.copying.listVenueReports();
  } catch {
    return [];
  }
}
