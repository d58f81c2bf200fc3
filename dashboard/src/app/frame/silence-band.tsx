// Says at the top of every page that what it shows is not live, and since when. While it is shown, the root
// has the attribute that grays all figures (theme.css). That market data is stale is something else: the
// server says so, beside the figure.
import { useEffect } from "react";
import { silence } from "../../live/connection.ts";
import { useConnection, useSilentSince } from "../../live/use-live.ts";
import { durationInWords } from "../../ui/figures/duration.ts";
import { formatTime } from "../../ui/figures/time.tsx";
import { useNow } from "../../ui/hooks.ts";

const WHAT_HAPPENS = {
  off: "",
  connecting: "The server does not answer. Connecting …",
  live: "The server does not answer.",
  reconnecting: "The server does not answer. Reconnecting …",
  refused: "The server refuses live updates. Trying again …",
} as const;

export function SilenceBand() {
  const since = useSilentSince();
  useEffect(() => {
    document.addEventListener("visibilitychange", silence.check);
    return () => document.removeEventListener("visibilitychange", silence.check);
  }, []);
  useEffect(() => {
    document.documentElement.toggleAttribute("data-silent", since !== null);
    return () => document.documentElement.removeAttribute("data-silent");
  }, [since]);
  return since === null ? null : <Band since={since} />;
}

function Band({ since }: { since: number }) {
  const connection = useConnection();
  const now = useNow();
  return (
    <section
      aria-label="Connection"
      className="sticky top-14 z-10 border-warn border-b bg-warn-soft px-4 py-2 font-medium text-warn sm:px-6 md:top-0"
    >
      <span role="alert">No data since {formatTime(since, "time")}</span>{" "}
      <span aria-hidden="true" className="tabular-nums">
        ({durationInWords((now - since) / 1_000)})
      </span>
      . <span role="status">{WHAT_HAPPENS[connection]}</span>
    </section>
  );
}
