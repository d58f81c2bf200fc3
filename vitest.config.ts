import { availableParallelism } from "node:os";
import { relative } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** What takes longest begins first: begun last, it would run alone at the end while the other workers have nothing to do. */
const SLOWEST_FIRST = [
  "test/browser/",
  "test/campaigns/",
  "test/copy/",
  "test/house/",
  "test/process/",
  "test/market/",
  "test/wire/",
  "test/",
  "src/store/",
  "src/copy/",
];

class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const path = relative(import.meta.dirname, moduleId);
      const index = SLOWEST_FIRST.findIndex((folder) => path.startsWith(folder));
      return index < 0 ? SLOWEST_FIRST.length : index;
    };
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

/** Tests of `src/` that open a database or sockets. */
const WITH_REAL_PARTS = [
  "src/{desk,people,schedules,signals,store,triggers}/**/*.test.ts",
  "src/copy/{executor,leads,reconcile}/*.test.ts",
  "src/{analytics/reports,dashboard-api/last-prices,dashboard-api/valuation,keys/rotation,sockets/ws-api}.test.ts",
];

/**
 * What `npm test` leaves to `npm run test:all`: campaigns, many restarts of many processes, what the command
 * line prints and refuses, all screens, each of the dashboard's rows by each role and state, long histories,
 * garbage and long walks over the wire, clients of Python and Go, and each method of both stores.
 */
const LONG = [
  "src/copy/{executor/late-fills,leads/actions.walk,reconcile/polls-and-orders}.test.ts",
  "src/store/backup/between-stores.test.ts",
  "src/store/postgres/{notifications,postgres-store}.test.ts",
  "src/store/sqlite/sqlite-store.test.ts",
  "src/triggers/slot-owner.test.ts",
  "src/triggers/{queues,queues-crossed,queues-elsewhere}.property.test.ts",
  "test/analytics/walked.test.ts",
  "test/browser/{absent-server,axe,copier,docs,frozen-server,sums,two-servers}.test.ts",
  "test/campaigns/copy-faults/takeover.test.ts",
  "test/campaigns/{crash,fire,fuzz,walk}/**/*.test.ts",
  "test/clients/{lyrebird-client-streams,python-sockets,python-bots,go-sockets}.test.ts",
  "test/copy/{kill-switches,user-stream}.test.ts",
  "test/market/{futures-history,futures-outage,outage,receipts,reconnect,tape-futures}.test.ts",
  "test/process/{backup,copier,copier-https,copier-news,copier-thread,data-directory,full-disk,greeting,https}.test.ts",
  "test/process/{keys,master-key,operator,outage,postgres-lost,prune,secrets,settings,tape}.test.ts",
  "test/process/two-servers*.test.ts",
  "test/sockets/{book-changes,ccxt-streams,documented-clients,garbage}.test.ts",
  "test/wire/{budgets,connections,docs-answers,history,bot/garbage,futures/history,streams/gateway}.test.ts",
  "test/wire/dashboard/copying-{accounts,copies,figures}.test.ts",
  "test/wire/dashboard/{matrix,origins,requests,states,texts}.test.ts",
];

/** Stock clients that connect again for ever, even when their test has ended. */
const RECONNECTING = ["test/clients/{sockets-{spot,futures},strict-events}.test.ts"];

/** Tests that measure time run after all others, one at a time. */
const TIMED = [
  "test/campaigns/copy-faults/faults.test.ts",
  "test/campaigns/{hostile,soak}/*.test.ts",
  "test/house/bench.test.ts",
];

const UNIT = ["src/**/*.test.ts", "clients/*/src/**/*.test.ts", "dashboard/src/**/*.test.ts"];

export default defineConfig({
  test: {
    globalSetup: ["test/support/servers/temporary-root.ts"],
    setupFiles: ["test/support/property-seeds.ts"],
    sequence: { sequencer: SlowestFirst },
    // Much of a file is waiting for other processes.
    maxWorkers: availableParallelism() + 1,
    // A test that waits for the world waits for an event; this is only the bound after which it has failed.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    teardownTimeout: 60_000,
    projects: [
      // A worker runs one file after another: a process for each would take as long to start as most of them run.
      { extends: true, test: { name: "unit", include: UNIT, exclude: WITH_REAL_PARTS, isolate: false } },
      { extends: true, test: { name: "parts", include: WITH_REAL_PARTS, exclude: LONG, isolate: false } },
      {
        extends: true,
        test: {
          name: "system",
          include: ["test/**/*.test.ts"],
          exclude: [...LONG, ...TIMED, ...RECONNECTING],
          isolate: false,
        },
      },
      { extends: true, test: { name: "clients", include: RECONNECTING } },
      { extends: true, test: { name: "long", include: LONG } },
      { extends: true, test: { name: "timed", include: TIMED, sequence: { groupOrder: 1 }, maxWorkers: 1 } },
    ],
  },
});
