// Copying on this server: the exchanges, the copies, what was not copied and why, the gap to paper, and the
// kill switches.

import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { KillSwitchJson, OperatorCopyingJson } from "../../../../src/dashboard-api/schemas.ts";
import { call, outdate } from "../../api/call.ts";
import { copyingQuery } from "../../api/operator.ts";
import { CopyNumbers, Outcomes, Unclosed } from "../../copying/copy-status.tsx";
import { Gap } from "../../copying/gap.tsx";
import { ReasonInput, WHEN_CLEARED } from "../../copying/halt.tsx";
import { SWITCH_NAMES } from "../../copying/words.ts";
import { Button } from "../../ui/button.tsx";
import { Card, EmptyState, ErrorNote, Loaded, Note } from "../../ui/card.tsx";
import { Time } from "../../ui/figures/figures.tsx";
import { Select, TextInput } from "../../ui/forms/field.tsx";
import { FormDialog } from "../../ui/forms/form.tsx";
import { toast } from "../../ui/overlays/toast.tsx";
import { Screen } from "../../ui/page-header.tsx";
import { type Column, column, headColumn, Table, timeColumn } from "../../ui/table.tsx";
import { VenueTable } from "./copying/venue-table.tsx";
import { Refreshed } from "./parts/refreshed.tsx";

export function Page() {
  const query = useQuery(copyingQuery);
  const [setting, setSetting] = useState<Partial<NewSwitch> | null>(null);
  const clear = useClear();
  return (
    <Screen
      title="Copying"
      lead="Orders that are copied to exchange accounts, and the kill switches that stop copying."
      actions={
        <>
          <Refreshed query={query} />
          <Button kind="danger" onClick={() => setSetting({})}>
            Set a kill switch
          </Button>
        </>
      }
    >
      <Loaded query={query}>
        {({ venues, copiers, copies, behind, unclosed, counts, gap, switches }) => (
          <>
            {clear.error !== null && <ErrorNote error={clear.error} />}
            {venues.length > 0 && <CopiersNote copiers={copiers} />}
            <Card title="Kill switches" isFlush>
              <SwitchTable
                rows={switches}
                onClear={clear.mutate}
                cleared={clear.isPending ? clear.variables : undefined}
              />
            </Card>
            <Card title="Exchanges" isFlush>
              {venues.length === 0 ? (
                <EmptyState title="Copying is not offered.">
                  Set <code className="font-mono text-sm">COPY_VENUES</code> to the addresses of the exchanges
                  that copiers may connect, separated by commas, and restart the server.
                </EmptyState>
              ) : (
                <VenueTable rows={venues} onHalt={(id) => setSetting({ kind: "VENUE", id })} />
              )}
            </Card>
            {unclosed.length > 0 && (
              <Card title="Closed strategies with copies that are still open">
                <Unclosed rows={unclosed} />
              </Card>
            )}
            <div className="grid items-start gap-5 xl:grid-cols-2">
              <Card title="Copies">
                <CopyNumbers copies={copies} behind={behind} />
              </Card>
              <Card title="What was copied in the last 30 days">
                <Outcomes counts={counts} />
              </Card>
            </div>
            <Gap gap={gap} of="EVERYBODY" />
          </>
        )}
      </Loaded>
      <SetSwitchDialog
        first={setting}
        venues={query.data?.venues.map(({ origin }) => origin) ?? []}
        onClose={() => setSetting(null)}
      />
    </Screen>
  );
}

type Cleared = Pick<OperatorCopyingJson["switches"][number], "kind" | "id">;

function useClear() {
  return useMutation({
    mutationFn: ({ kind, id }: Cleared) => call("POST /operator/copying/switches/clear", { kind, id }),
    onSuccess: () => {
      toast("Kill switch cleared. What its person had set before is set again.");
      outdate(copyingQuery.queryKey);
    },
  });
}

// The running copiers that have reported lately, or a note that there is none.

function CopiersNote({ copiers }: Pick<OperatorCopyingJson, "copiers">) {
  const [last] = copiers;
  if (last === undefined) {
    return (
      <Note tone="warn" title="No copier has reported yet.">
        Nothing is copied until one runs: a server with the role{" "}
        <code className="font-mono text-sm">all</code>, or a process with the role{" "}
        <code className="font-mono text-sm">copier</code> on the same database.
      </Note>
    );
  }
  if (last.isSilent) {
    return (
      <Note tone="warn" title="Copiers no longer report.">
        The last one, <span className="break-all">{last.copier}</span>, reported last at{" "}
        <Time at={last.reportedAt} />. Nothing is copied until one runs again; the status of exchanges below
        is the last one reported.
      </Note>
    );
  }
  return (
    <p className="text-ink-soft text-sm">
      {copiers.length === 1 ? "One copier is running: " : `${copiers.length} copiers are running: `}
      {copiers.map(({ copier, reportedAt }, index) => (
        <span key={copier}>
          {index > 0 && "; "}
          <span className="break-all">{copier}</span>, last report at <Time at={reportedAt} format="time" />
        </span>
      ))}
    </p>
  );
}

// The kill switches that are set, by any person.

type SwitchTableProps = {
  rows: readonly KillSwitchJson[];
  onClear: (cleared: KillSwitchJson) => void;
  /** The one that is being cleared. */
  cleared: Pick<KillSwitchJson, "kind" | "id"> | undefined;
};

function SwitchTable({ rows, onClear, cleared }: SwitchTableProps) {
  const action: Column<KillSwitchJson> = column("Action", (row) => (
    <Button
      size="small"
      onClick={() => onClear(row)}
      isBusy={cleared?.kind === row.kind && cleared.id === row.id}
      aria-label={`Clear the switch of ${row.name}`}
    >
      Clear
    </Button>
  ));
  return (
    <Table
      caption="Kill switches"
      columns={[...COLUMNS, action]}
      rows={rows}
      rowKey={({ kind, id }) => `${kind} ${id}`}
      empty={
        <EmptyState title="Nothing is halted.">
          A kill switch stops all orders for a copier, a strategy or an exchange, until it is cleared.
        </EmptyState>
      }
    />
  );
}

const COLUMNS: readonly Column<KillSwitchJson>[] = [
  headColumn("Halted", ({ kind, name }) => (
    <span>
      <span className="whitespace-normal break-all">{name}</span>
      <span className="block font-normal text-ink-soft text-xs">{SWITCH_NAMES[kind]}</span>
    </span>
  )),
  column({ header: "Reason", width: "w-[36%]" }, ({ reason }) => (
    <span className="break-words">{reason}</span>
  )),
  column("Set by", ({ setBy }) => <span className="break-all">{setBy}</span>),
  timeColumn("Since", ({ setAt }) => setAt),
];

// Sets a kill switch: what it stops, and why.

type Kind = KillSwitchJson["kind"];
type NewSwitch = { readonly kind: Kind; readonly id: string };

type SetSwitchDialogProps = {
  /** What is chosen at first; null: the dialog is closed. */
  first: Partial<NewSwitch> | null;
  /** Those that may be used. */
  venues: readonly string[];
  onClose: () => void;
};

const ID_WORDS: Readonly<Record<Exclude<Kind, "VENUE">, { label: string; hint: string }>> = {
  COPIER: { label: "Copier", hint: "Their e-mail address, or their id." },
  STRATEGY: {
    label: "Strategy",
    hint: "The id is on its owner’s page under People.",
  },
};

function SetSwitchDialog({ first, venues, onClose }: SetSwitchDialogProps) {
  return (
    <FormDialog
      isOpen={first !== null}
      onClose={onClose}
      title="Set a kill switch"
      description={`Nothing is sent for the copies that it covers, not even cancels and exits. ${WHEN_CLEARED}`}
      action="Halt"
      kind="danger"
      first={{ kind: first?.kind ?? ("VENUE" as Kind), id: first?.id ?? "", reason: "" }}
      send={({ id, ...values }) => call("POST /operator/copying/switches", { ...values, id: id.trim() })}
      says="Kill switch set"
      outdates={[copyingQuery.queryKey]}
    >
      {({ values: { kind }, control, set }) => (
        <>
          <Select
            label="Scope"
            {...control("kind")}
            onChange={({ target }) => set({ kind: target.value as Kind, id: "" })}
            options={Object.entries(SWITCH_NAMES).map(([value, label]) => ({ value, label }))}
          />
          {kind === "VENUE" ? (
            <Select
              label="Exchange"
              required
              placeholder="Choose an exchange"
              options={venues.map((origin) => ({ value: origin, label: origin }))}
              {...control("id")}
            />
          ) : (
            <TextInput
              {...ID_WORDS[kind]}
              isMonospace
              autoComplete="off"
              spellCheck={false}
              required
              {...control("id")}
            />
          )}
          <ReasonInput hint="Shown to everybody whose copies it halts." {...control("reason")} />
        </>
      )}
    </FormDialog>
  );
}
