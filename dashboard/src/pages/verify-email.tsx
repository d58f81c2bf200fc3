// Where the link of a verification mail leads. Its token works once, so it is handed in once however often this is drawn.
import { useQuery } from "@tanstack/react-query";
import { Link, useSearch } from "@tanstack/react-router";
import { call } from "../api/call.ts";
import { useSession } from "../api/session.ts";
import { buttonLook } from "../ui/button.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { Note } from "../ui/note.tsx";
import { PageHeader } from "../ui/page-header.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { TEXT_LINK } from "../ui/text-link.ts";
import { AskForLink } from "./entrance/ask-for-link.tsx";

const LIFETIME = "24 hours";

export function Page() {
  const { token } = useSearch({ from: "/verify-email" });
  return token === undefined || token === "" ? <NoToken /> : <Verification token={token} />;
}

function NoToken() {
  return (
    <>
      <PageHeader
        title="Verify your e-mail address"
        lead="Open the link that you received. If you lost it or it has expired, request another one."
      />
      <AskForLink path="/verification-mail" action="Send a link" lifetime={LIFETIME} />
    </>
  );
}

function Verification({ token }: { token: string }) {
  const { person } = useSession();
  const { status, error, refetch, isFetching } = useQuery({
    queryKey: ["verify-email", token],
    queryFn: async () => {
      await call("POST", "/verify-email", { token });
      return true;
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  if (status === "success") {
    return (
      <>
        <PageHeader title="Your e-mail address is verified" />
        <div className="flex flex-col items-start gap-4">
          <Note tone="gain">
            {person === null
              ? "Sign in to continue: the next step is your identity."
              : "You can continue where you were."}
          </Note>
          <Link to={person === null ? "/sign-in" : "/"} className={buttonLook("primary")}>
            {person === null ? "Sign in" : "Continue"}
          </Link>
        </div>
      </>
    );
  }
  if (status === "pending") {
    return (
      <>
        <PageHeader title="Verifying your e-mail address" />
        <div aria-busy="true">
          <Skeleton lines={3} />
        </div>
      </>
    );
  }
  return (
    <>
      <PageHeader title="Your e-mail address could not be verified" />
      <div className="flex flex-col gap-5">
        <ErrorNote error={error} onRetry={() => void refetch()} isRetrying={isFetching} />
        <p>
          A link works once. If you have opened it before, your address is verified:{" "}
          <Link to="/sign-in" className={TEXT_LINK}>
            sign in
          </Link>
          . Otherwise ask for another.
        </p>
        <AskForLink path="/verification-mail" action="Send another link" lifetime={LIFETIME} />
      </div>
    </>
  );
}
