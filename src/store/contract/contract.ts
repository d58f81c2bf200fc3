// What every store promises, as a test suite that each of them runs: the port's comments, turned into cases.
//
// A case gets a database of its own, and knows the store only by its port. Values are chosen to hurt:
// decimals beyond 64 bits, ids that sort differently as text, groups of which a part is outdated. The files
// beside this one hold the cases, by what they are about.
import { afterEach, beforeEach, describe } from "vitest";
import { accountCases } from "./accounts.ts";
import { budgetLogCases } from "./budget-log.ts";
import { closingCases } from "./closing.ts";
import { commitCases } from "./commits.ts";
import { copyingAccountCases } from "./copying/accounts.ts";
import { copyingCopyCases } from "./copying/copies.ts";
import { copyingCountCases } from "./copying/counts.ts";
import { copyingLeadCases } from "./copying/leads.ts";
import { copyingProgressCases } from "./copying/progress.ts";
import { copyingRaceCases } from "./copying/races.ts";
import { copyingRequestCases } from "./copying/requests.ts";
import { copyingUnfinishedCases } from "./copying/unfinished.ts";
import { copyingVenueReportCases } from "./copying/venue-reports.ts";
import { counterfactualCases } from "./counterfactuals.ts";
import { historyByTimeCases } from "./history-by-time.ts";
import { journalCases } from "./journal.ts";
import { legAndIncomeCases } from "./legs-and-incomes.ts";
import { listenKeyCases } from "./listen-keys.ts";
import { orderAndTradeCases } from "./orders-and-trades.ts";
import { auditCases } from "./people/audit.ts";
import { closedAccountCases } from "./people/closed-accounts.ts";
import { failedHandshakeCases } from "./people/failed-handshakes.ts";
import { failedSignInCases } from "./people/failed-sign-ins.ts";
import { ownershipCases } from "./people/ownership.ts";
import { personCases } from "./people/people.ts";
import { secondFactorCases } from "./people/second-factors.ts";
import { signInCases } from "./people/sign-in.ts";
import { raceCases } from "./races.ts";
import { recentCases } from "./recent.ts";
import { pendingSignalCases } from "./signals/pending.ts";
import { receivedSignalCases } from "./signals/received.ts";
import { settledSignalCases } from "./signals/settled.ts";
import { startingCases } from "./starting.ts";
import { openedOf, type StoreUnderTest } from "./store-under-test.ts";
import { strategyAndKeyCases } from "./strategies-and-keys.ts";
import { twoStoreCases } from "./two-stores.ts";

/** Declares the suite for one kind of store; `openStore` makes a new database for each case. */
export function storeContract(name: string, openStore: () => Promise<StoreUnderTest>): void {
  describe(`the store contract: ${name}`, () => {
    let current: StoreUnderTest;
    beforeEach(async () => {
      current = await openStore();
    });
    afterEach(() => current.dispose());

    const opened = openedOf(() => current);
    accountCases(opened);
    commitCases(opened);
    journalCases(opened);
    orderAndTradeCases(opened);
    legAndIncomeCases(opened);
    historyByTimeCases(opened);
    recentCases(opened);
    strategyAndKeyCases(opened);
    listenKeyCases(opened);
    budgetLogCases(opened);
    startingCases(opened);
    counterfactualCases(opened);
    twoStoreCases(opened);
    closingCases(opened);
    closedAccountCases(opened);
    receivedSignalCases(opened);
    settledSignalCases(opened);
    pendingSignalCases(opened);
    failedHandshakeCases(opened);
    signInCases(opened);
    personCases(opened);
    secondFactorCases(opened);
    failedSignInCases(opened);
    ownershipCases(opened);
    auditCases(opened);
    raceCases(opened);
    copyingAccountCases(opened);
    copyingLeadCases(opened);
    copyingCopyCases(opened);
    copyingProgressCases(opened);
    copyingCountCases(opened);
    copyingRequestCases(opened);
    copyingRaceCases(opened);
    copyingUnfinishedCases(opened);
    copyingVenueReportCases(opened);
  });
}
