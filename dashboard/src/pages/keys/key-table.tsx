// The live keys with what can be done to them, and the revoked ones.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { KeyJson } from "../../../../src/dashboard-api/schemas.ts";
import { isFreeKey } from "../../api/strategy.ts";
import { Button, TEXT_LINK } from "../../ui/button.tsx";
import { Copyable } from "../../ui/copy-button.tsx";
import { Time } from "../../ui/figures/time.tsx";
import { ButtonLink } from "../../ui/links.tsx";
import { type Column, column, headColumn, numberColumn, Table, timeColumn } from "../../ui/table.tsx";

type KeyTableProps = {
  rows: readonly KeyJson[] | undefined;
  onTest: (key: KeyJson) => void;
  onRevoke: (key: KeyJson) => void;
  empty: ReactNode;
};

export function KeyTable({ rows, onTest, onRevoke, empty }: KeyTableProps) {
  const columns: readonly Column<KeyJson>[] = [
    NAME,
    STRATEGY,
    LAST_USE,
    CREATED,
    numberColumn("Actions", (key) => (
      <span className="inline-flex flex-wrap justify-end gap-2">
        <Button size="small" onClick={() => onTest(key)} aria-label={`Test the key ${key.label}`}>
          Test
        </Button>
        <Button size="small" onClick={() => onRevoke(key)} aria-label={`Revoke the key ${key.label}`}>
          Revoke
        </Button>
      </span>
    )),
  ];
  return (
    <Table caption="Live keys" columns={columns} rows={rows} rowKey={({ keyId }) => keyId} empty={empty} />
  );
}

export function RevokedTable({ rows }: { rows: readonly KeyJson[] }) {
  return (
    <Table
      caption="Revoked keys"
      columns={[NAME, STRATEGY, LAST_USE, timeColumn<KeyJson>("Revoked", ({ revokedAt }) => revokedAt)]}
      rows={rows}
      rowKey={({ keyId }) => keyId}
    />
  );
}

const NAME: Column<KeyJson> = headColumn("Key", ({ label, apiKey }) => (
  <span className="flex min-w-0 flex-col items-start gap-1">
    <span title={label} className="max-w-64 truncate">
      {label}
    </span>
    <span className="max-w-64 font-normal">
      <Copyable value={apiKey} label={`API key of ${label}`} isOneLine />
    </span>
  </span>
));

const STRATEGY: Column<KeyJson> = column("Strategy", (key) => (
  <span className="inline-flex flex-wrap items-center gap-2">
    {key.strategy !== null && (
      <Link
        to="/strategies/$strategyId"
        params={{ strategyId: key.strategy.strategyId }}
        title={key.strategy.name}
        className={`inline-block max-w-64 truncate ${TEXT_LINK}`}
      >
        {key.strategy.name}
      </Link>
    )}
    {key.strategy?.status === "CLOSED" && <span className="text-ink-soft">closed</span>}
    {isFreeKey(key) && (
      <ButtonLink to="/strategies/new" search={{ key: key.keyId }} kind="quiet" size="small">
        Create one with it
      </ButtonLink>
    )}
  </span>
));

const LAST_USE: Column<KeyJson> = column("Last use", ({ lastUse }) =>
  lastUse === null ? (
    <span className="text-ink-soft">Never</span>
  ) : (
    <span className="inline-flex flex-col max-md:items-end">
      <Time at={lastUse.at} />
      <span className="break-all font-mono text-ink-soft text-xs">
        {lastUse.address} · {lastUse.route}
      </span>
    </span>
  ),
);

const CREATED: Column<KeyJson> = timeColumn("Created", ({ createdAt }) => createdAt, "date");
