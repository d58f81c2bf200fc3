// Signs of attacks: bans, failed stream handshakes, failed sign-ins and locks, and a tampered audit log.
import { useQuery } from "@tanstack/react-query";
import type { SecurityJson } from "../../../../src/dashboard-api/schemas.ts";
import { securityQuery } from "../../api/operator.ts";
import { Badge } from "../../ui/badge.tsx";
import { Card, EmptyState, Loaded } from "../../ui/card.tsx";
import { Countdown } from "../../ui/figures/figures.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { type Column, column, headColumn, numberColumn, TableCard, timeColumn } from "../../ui/table.tsx";
import { ChainBadge, ChainBroken } from "./parts/audit-table.tsx";
import { Refreshed } from "./parts/refreshed.tsx";

type Ban = SecurityJson["bans"][number];
type Handshakes = SecurityJson["failedHandshakes"][number];
type SignIns = SecurityJson["failedSignIns"][number];

export function Page() {
  const query = useQuery(securityQuery);
  return (
    <Screen
      title="Defenses"
      lead="Bans that are in force, failed attempts that still count, and the state of the audit log."
      actions={<Refreshed query={query} />}
    >
      <Loaded query={query}>
        {({ bans, failedHandshakes, failedSignIns, shownMs, auditIsWhole }) => (
          <>
            {!auditIsWhole && <ChainBroken />}
            <Card title="Audit log" aside={<ChainBadge isWhole={auditIsWhole} />}>
              <p className="max-w-prose">
                The whole log is verified about once a minute while this page is open. To check it yourself,
                run <code className="font-mono text-sm">lyrebird audit --verify</code> on the server.
              </p>
            </Card>
            <TableCard
              title="Failed sign-ins"
              aside={<Shown ms={shownMs.signIns} />}
              columns={SIGN_IN_COLUMNS}
              rows={failedSignIns}
              rowKey={({ holder }) => holder}
              empty={
                <EmptyState title={`No failed sign-ins in the last ${inMinutes(shownMs.signIns)}.`}>
                  A sign-in that succeeds removes the failures of its account and browser.
                </EmptyState>
              }
            />
            <TableCard
              title="Failed stream handshakes"
              aside={<Shown ms={shownMs.handshakes} />}
              columns={HANDSHAKE_COLUMNS}
              rows={failedHandshakes}
              rowKey={({ apiKey }) => apiKey}
              empty={
                <EmptyState title={`No failed handshakes in the last ${inMinutes(shownMs.handshakes)}.`}>
                  Handshakes with unknown keys are not listed.
                </EmptyState>
              }
            />
            <TableCard
              title="Bans"
              columns={BAN_COLUMNS}
              rows={bans}
              rowKey={({ holder }) => holder}
              empty={
                <EmptyState title="Nobody is banned.">
                  A client that keeps sending after 429 responses is banned for a while.
                </EmptyState>
              }
            />
          </>
        )}
      </Loaded>
    </Screen>
  );
}

/** The time that a list covers. */
function Shown({ ms }: { ms: number }) {
  return <span className="text-ink-soft text-sm">Last {inMinutes(ms)}</span>;
}

function inMinutes(ms: number): string {
  return `${ms / 60_000} minutes`;
}

const HOLDERS: Readonly<Record<string, string>> = {
  account: "Account, from unknown browsers",
  browser: "Account, from one known browser",
  codes: "Account, codes of the second factor",
  address: "Network address",
};

const SIGN_IN_COLUMNS: readonly Column<SignIns>[] = [
  headColumn("Counted by", ({ holder }) => {
    const [kind = "", rest = ""] = halvesOf(holder);
    const words = HOLDERS[kind];
    return (
      <span>
        {words ?? kind}{" "}
        <code className="break-all font-mono text-ink-soft text-xs">
          {words === undefined ? holder : rest}
        </code>
      </span>
    );
  }),
  numberColumn("Failures", ({ count }) => count),
  column("State", ({ isLocked }) =>
    isLocked ? (
      <Badge tone="warn">
        <span aria-hidden="true">✕</span>Locked
      </Badge>
    ) : (
      "Open"
    ),
  ),
];

const HANDSHAKE_COLUMNS: readonly Column<Handshakes>[] = [
  headColumn("API key", ({ apiKey }) => (
    <code className="whitespace-normal break-all font-mono text-xs">{apiKey}</code>
  )),
  numberColumn("Failures", ({ count }) => count),
  timeColumn("Last", ({ lastAt }) => lastAt),
];

const BAN_COLUMNS: readonly Column<Ban>[] = [
  headColumn("Who", ({ holder }) => (
    <code className="whitespace-normal break-all font-mono text-xs">{holder}</code>
  )),
  timeColumn("Until", ({ until }) => until),
  numberColumn("Left", ({ until }) => <Countdown until={until} over="over" />),
];

/** "account:x@example.org" is "account" and "x@example.org". */
function halvesOf(holder: string): readonly string[] {
  const colon = holder.indexOf(":");
  return colon < 0 ? [holder] : [holder.slice(0, colon), holder.slice(colon + 1)];
}
