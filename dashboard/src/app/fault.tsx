import type { ErrorComponentProps } from "@tanstack/react-router";
import { ErrorNote } from "../ui/error-note.tsx";
import { PageHeader } from "../ui/page-header.tsx";

/** Instead of a page that failed: what happened, and a way on. The rest of the app stays. */
export function Fault({ error }: ErrorComponentProps) {
  return (
    <>
      <PageHeader title="This page can't be shown" />
      <ErrorNote error={error} onRetry={() => window.location.reload()} />
    </>
  );
}
