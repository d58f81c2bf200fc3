import { createRouter, type ErrorComponentProps } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { asApiError } from "../api/call.ts";
import { useConnection } from "../live/use-live.ts";
import { ErrorNote, Skeleton } from "../ui/card.tsx";
import { Instead, PageHeader } from "../ui/page-header.tsx";
import { ChunkFailed, reloadIfAnswered } from "./chunks.ts";
import { routeTree } from "./routes.tsx";
import { parseSearch, stringifySearch } from "./search.ts";

const PENDING_AFTER_MS = 300;

function NotFound() {
  return (
    <Instead
      title="There is no such page"
      why="The address may be mistyped, or what it showed is gone."
      to="/"
      action="Go to the start page"
    />
  );
}

export const router = createRouter({
  routeTree,
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  defaultPendingMs: PENDING_AFTER_MS,
  defaultPendingComponent: () => <Skeleton lines={4} />,
  defaultErrorComponent: Fault,
  defaultNotFoundComponent: NotFound,
  // Another strategy, order or person is another page: nothing of the previous page stays visible.
  defaultRemountDeps: ({ params }) => params,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}

/**
 * Instead of a page that failed: what happened, and a way on. The rest of the app stays. A page whose code
 * could not be loaded is loaded again by itself: at once where the server answers, as after a deployment,
 * else when the connection is back.
 */
function Fault({ error }: ErrorComponentProps) {
  const connection = useConnection();
  const [isRetrying, setRetrying] = useState(false);
  const isChunk = asApiError(error) instanceof ChunkFailed;
  useEffect(() => {
    if (isChunk && (connection === "off" || connection === "live")) void reloadIfAnswered({ isOnce: true });
  }, [isChunk, connection]);
  const retry = async () => {
    setRetrying(true);
    await reloadIfAnswered({ isOnce: false });
    setRetrying(false);
  };
  return (
    <>
      <PageHeader title="This page can't be shown" />
      <ErrorNote error={error} onRetry={() => void retry()} isRetrying={isRetrying} />
    </>
  );
}
