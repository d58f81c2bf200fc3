import { createRouter } from "@tanstack/react-router";
import { Instead } from "../ui/page-header.tsx";
import { Skeleton } from "../ui/skeleton.tsx";
import { Fault } from "./fault.tsx";
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
