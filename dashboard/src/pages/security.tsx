// How the account is protected: password, second factor, sessions, and what was done with it.
import { usePerson } from "../api/session.ts";
import { Note } from "../ui/note.tsx";
import { PageHeader } from "../ui/page-header.tsx";
import { ActivityCard } from "./security/activity.tsx";
import { CloseAccountCard } from "./security/close-account.tsx";
import { PasswordCard } from "./security/password.tsx";
import { SecondFactorCard } from "./security/second-factor.tsx";
import { SessionsCard } from "./security/sessions.tsx";

export function Page() {
  const { role, hasSecondFactor } = usePerson();
  return (
    <>
      <PageHeader title="Security" lead="Sign-in protection, sessions and activity of your account." />
      <div className="flex flex-col gap-5">
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
      </div>
    </>
  );
}
