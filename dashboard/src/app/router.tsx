import { createRouter } from "@tanstack/react-router";
import { Skeleton } from "../ui/skeleton.tsx";
import { Fault } from "./fault.tsx";
import { NotFound } from "./not-found.tsx";
import { routeTree } from "./routes.tsx";
import { parseSearch, stringifySearch } from "./search.ts";

const PENDING_AFTER_MS = 300;

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
