import type { ErrorComponentProps } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { asApiError } from "../api/error.ts";
import { useConnection } from "../live/use-live.ts";
import { ErrorNote } from "../ui/note.tsx";
import { PageHeader } from "../ui/page-header.tsx";
import { ChunkFailed, reloadIfAnswered } from "./chunks.ts";

/**
 * Instead of a page that failed: what happened, and a way on. The rest of the app stays. A page whose code
 * could not be loaded is loaded again by itself: at once where the server answers, as after a deployment,
 * else when the connection is back.
 */
export function Fault({ error }: ErrorComponentProps) {
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
