import type { ReactNode } from "react";
import type { VenueAccountJson } from "../../../../../src/dashboard-api/schemas.ts";
import { FAMILY_NAMES, hostOf } from "../../../copying/words.ts";
import { StatusBadge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { TextLink } from "../../../ui/links.tsx";
import { type Column, column, headColumn, Table, timeColumn } from "../../../ui/table.tsx";

type Doing = (account: VenueAccountJson) => void;
type AccountTableProps = {
  rows: readonly VenueAccountJson[] | undefined;
  onCheck: Doing;
  onReplace: Doing;
  onDisconnect: Doing;
  empty: ReactNode;
};

export function AccountTable({ rows, onCheck, onReplace, onDisconnect, empty }: AccountTableProps) {
  const actions: Column<VenueAccountJson> = column("Actions", (account) => (
    <span className="inline-flex flex-wrap gap-1.5 max-md:justify-end">
      <Button size="small" onClick={() => onCheck(account)} aria-label={`Check ${account.label}`}>
        Check
      </Button>
      <Button size="small" onClick={() => onReplace(account)} aria-label={`Replace key of ${account.label}`}>
        Replace key
      </Button>
      <Button size="small" onClick={() => onDisconnect(account)} aria-label={`Disconnect ${account.label}`}>
        Disconnect
      </Button>
    </span>
  ));
  return (
    <Table
      caption="Exchange accounts"
      columns={[LABEL, STATUS, KEY, USED_BY, CHECKED, actions]}
      rows={rows}
      rowKey={({ accountId }) => accountId}
      empty={empty}
    />
  );
}

export function DisconnectedTable({ rows }: { rows: readonly VenueAccountJson[] }) {
  return (
    <Table
      caption="Disconnected exchange accounts"
      columns={[LABEL, KEY, CHECKED]}
      rows={rows}
      rowKey={({ accountId }) => accountId}
    />
  );
}

const LABEL: Column<VenueAccountJson> = headColumn("Account", ({ label, family, venue }) => (
  <span className="flex max-w-72 flex-col items-start">
    <span title={label} className="max-w-full truncate">
      {label}
    </span>
    <span className="max-w-full truncate font-normal text-ink-soft text-xs">
      {FAMILY_NAMES[family]} at {hostOf(venue)}
    </span>
  </span>
));
const STATUS: Column<VenueAccountJson> = column("Status", ({ status, failure }) => (
  <span className="inline-flex max-w-64 flex-col items-start gap-0.5 max-md:items-end">
    <StatusBadge status={status} {...(status === "FAILED" ? { label: "Key refused" } : {})} />
    {failure !== null && <span className="break-words text-ink-soft text-xs">{sentenceOf(failure)}</span>}
  </span>
));
const KEY: Column<VenueAccountJson> = column("API key", ({ keyHint }) => (
  <code className="font-mono text-xs">{keyHint}…</code>
));
const USED_BY: Column<VenueAccountJson> = column("Used by", ({ copyId }) =>
  copyId === null ? (
    <span className="text-ink-soft">no copy</span>
  ) : (
    <TextLink to="/copies/$copyId" params={{ copyId }}>
      a copy
    </TextLink>
  ),
);
const CHECKED: Column<VenueAccountJson> = timeColumn("Checked", ({ checkedAt }) => checkedAt);

/** Why a key is refused comes as a sentence, or as one that goes on from the key. */
function sentenceOf(failure: string): string {
  const sentence = /^\p{Ll}/u.test(failure) ? `The key ${failure}` : failure;
  return /[.?!]$/.test(sentence) ? sentence : `${sentence}.`;
}
