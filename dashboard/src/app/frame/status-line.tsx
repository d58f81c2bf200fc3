// The line at the foot of every page, as an editor has one: is it live, which market is it, what time is it there.
import { useSession } from "../../api/session.ts";
import { useConnection, useSilentSince } from "../../live/use-live.ts";
import { MARKET_KINDS } from "../../markets/markets.ts";
import { formatTime } from "../../ui/figures/time.tsx";
import { useNow } from "../../ui/hooks.ts";

export function StatusLine() {
  const { server } = useSession();
  return (
    <footer className="sticky bottom-0 z-10 flex h-7 items-center gap-4 overflow-hidden whitespace-nowrap border-line border-t bg-sunken px-4 font-mono text-2xs text-ink-soft sm:px-6">
      <LiveState />
      <span>{MARKET_KINDS[server.market].name}</span>
      {server.isDemo && <span className="hidden sm:inline">demo data</span>}
      <span className="ml-auto hidden sm:inline">v{server.version}</span>
      <UtcClock />
    </footer>
  );
}

/** Nothing where nothing on the page is live. */
function LiveState() {
  const connection = useConnection();
  const isSilent = useSilentSince() !== null;
  return (
    <span role="status" className="empty:hidden">
      {connection === "live" && !isSilent && (
        <span className="text-gain">
          <span aria-hidden="true">● </span>live
        </span>
      )}
      {connection === "connecting" && (
        <span>
          <span aria-hidden="true">○ </span>connecting
        </span>
      )}
      {(connection === "reconnecting" || connection === "refused") && (
        <span className="text-warn">
          <span aria-hidden="true">◌ </span>reconnecting
        </span>
      )}
      {connection === "live" && isSilent && (
        <span className="text-warn">
          <span aria-hidden="true">◌ </span>no answer
        </span>
      )}
    </span>
  );
}

function UtcClock() {
  return <span className="numeric ml-auto sm:ml-0">{formatTime(useNow(), "time")}</span>;
}
