import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { AuditJson } from "../../../src/dashboard-api/schemas.ts";
import { AccountContents } from "../account/contents.tsx";
import { call, endpointQuery } from "../api/call.ts";
import { takeSession, usePerson } from "../api/session.ts";
import { auditWords, detailsInWords } from "../audit/words.ts";
import { Button, TextLink } from "../ui/button.tsx";
import { Card, ListCard, Note, QueryState } from "../ui/card.tsx";
import { ConfirmByTyping } from "../ui/forms/confirm-by-typing.tsx";
import { CodeInput, PasswordInput } from "../ui/forms/field.tsx";
import { FormDialog, useForm } from "../ui/forms/form.tsx";
import { Screen } from "../ui/page-header.tsx";
import { type Column, column, headColumn, Table, timeColumn } from "../ui/table.tsx";
import { SecondFactorCard } from "./security/second-factor.tsx";
import { SessionsCard } from "./security/sessions.tsx";

export function Page() {
  const { role, hasSecondFactor } = usePerson();
  return (
    <Screen title="Security" lead="Sign-in protection, sessions and activity of your account.">
      {role === "OPERATOR" && !hasSecondFactor && (
        <Note tone="warn" title="Operators need a second factor">
          Set it up below. Until then the operators’ pages stay closed.
        </Note>
      )}
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <SecondFactorCard />
        <PasswordCard />
      </div>
      <SessionsCard />
      <ActivityCard />
      {role !== "OPERATOR" && <CloseAccountCard />}
    </Screen>
  );
}

// A new password, with the current one and a code where there is a second factor.

function PasswordCard() {
  const [isOpen, setOpen] = useState(false);
  const { hasSecondFactor } = usePerson();
  return (
    <Card
      title="Password"
      aside={
        <Button size="small" onClick={() => setOpen(true)}>
          Change
        </Button>
      }
    >
      <p>
        It is stored as a hash that nobody can read, not even operators. Bots don’t use it: they use API keys.
      </p>
      <FormDialog
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        title="Change your password"
        description="Every other session of yours ends."
        action="Change the password"
        first={{ current: "", password: "", code: "" }}
        send={({ code, ...passwords }) =>
          call("POST /password", { ...passwords, ...(hasSecondFactor ? { code } : {}) })
        }
        says="Password changed; other sessions ended"
        outdates={[["sessions"], ["activity"]]}
      >
        {({ control, direct }) => (
          <>
            <PasswordInput label="Current password" {...control("current")} />
            <PasswordInput label="New password" isNew {...control("password")} />
            {hasSecondFactor && <CodeInput {...direct("code")} />}
          </>
        )}
      </FormDialog>
    </Card>
  );
}

// Closes the own account: says what ends with it, and asks for password and code.

function CloseAccountCard() {
  const [isOpen, setOpen] = useState(false);
  return (
    <Card
      title="Close your account"
      aside={
        <Button size="small" kind="danger" onClick={() => setOpen(true)}>
          Close…
        </Button>
      }
    >
      <p>
        Closing is for good: it ends your keys, strategies and copies, and erases who you are. To sell what a
        copy holds, stop the copy first.
      </p>
      {/* What was typed goes with it. */}
      {isOpen && <CloseDialog onClose={() => setOpen(false)} />}
    </Card>
  );
}

function CloseDialog({ onClose }: { onClose: () => void }) {
  const { email, hasSecondFactor } = usePerson();
  const contents = useQuery({
    ...endpointQuery(["account"], "GET /account"),
    staleTime: 0,
  });
  const form = useForm({
    first: { password: "", code: "" },
    send: ({ password, code }) =>
      call("POST /account/close", { password, ...(hasSecondFactor ? { code } : {}) }),
    onDone: takeSession,
  });
  return (
    <ConfirmByTyping
      isOpen
      onClose={onClose}
      title="Close your account for good?"
      confirmation={email}
      action="Close my account"
      form={{ ...form, onSubmit: () => contents.data !== undefined && form.onSubmit() }}
      more={
        <>
          <PasswordInput {...form.control("password")} />
          {hasSecondFactor && <CodeInput {...form.direct("code")} />}
        </>
      }
    >
      <QueryState of={contents} lines={5} isBare />
      {contents.data !== undefined && <AccountContents contents={contents.data} />}
    </ConfirmByTyping>
  );
}

// The person's own part of the audit, newest first.

function ActivityCard() {
  const { email } = usePerson();
  const query = useInfiniteQuery({
    queryKey: ["activity"],
    queryFn: ({ pageParam }) => call("GET /activity", pageParam === null ? {} : { before: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  });
  return (
    <div id="activity" className="scroll-mt-16">
      <ListCard query={query} title="Activity">
        <Table
          caption="What was done with your account"
          columns={columnsFor(email)}
          rows={query.data?.pages.flatMap(({ rows }) => rows)}
          rowKey={({ position }) => position}
          empty="Nothing yet."
        />

        {query.hasNextPage && (
          <div className="border-line border-t px-4 py-3">
            <Button size="small" onClick={() => void query.fetchNextPage()} isBusy={query.isFetchingNextPage}>
              Show older ones
            </Button>
          </div>
        )}
      </ListCard>
    </div>
  );
}

function columnsFor(email: string): readonly Column<AuditJson>[] {
  return [
    headColumn("What", ({ what }) => auditWords(what)),
    timeColumn("When", ({ at }) => at),
    column("Who", ({ who }) => (who === email ? "You" : who)),
    column("Details", (record) => {
      const says = detailsInWords(withoutIds(record.details));
      const strategyId = strategyOf(record);
      if (says === "" && strategyId === null) return null;
      return (
        <span className="break-words text-ink-soft">
          {says} <StrategyLink strategyId={strategyId} />
        </span>
      );
    }),
  ];
}

/** Ids of records say nothing to their owner. */
function withoutIds(details: AuditJson["details"]): AuditJson["details"] {
  return Object.fromEntries(Object.entries(details).filter(([name]) => !name.endsWith("Id")));
}

function strategyOf({ about, details }: AuditJson): string | null {
  return about.kind === "STRATEGY" ? about.id : (details.strategyId ?? null);
}

function StrategyLink({ strategyId }: { strategyId: string | null }) {
  const { profile } = usePerson();
  if (strategyId === null || profile !== "TRADER") return null;
  return (
    <TextLink to="/strategies/$strategyId" params={{ strategyId }}>
      Strategy
    </TextLink>
  );
}
