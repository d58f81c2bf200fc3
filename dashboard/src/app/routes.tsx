// Every page and its address. A page is a file in ../pages that exports `Page`; it is a chunk of its own,
// which is loaded when it is first shown, or before while the browser is idle. `forTraders` and the like say
// which people it is for: see audience.ts. Paths are as they stand in the browser's address, so a page reads its
// parameters with `useParams({ from: "/strategies/$strategyId/orders/$orderId" })`. A page begins with
// <PageHeader>, which makes its h1 and the title of the tab.
import { createRootRoute, createRoute } from "@tanstack/react-router";
import type { ComponentType } from "react";
import type { Audience } from "./audience.ts";
import { lazyPage } from "./chunks.ts";
import { Frame } from "./frame/frame.tsx";
import { StrategyFrame } from "./frame/strategy-frame.tsx";
import { Home } from "./home.tsx";
import type { Search } from "./search.ts";

type PageModule = { readonly Page: ComponentType };

function pageFor(audience: Audience) {
  return (load: () => Promise<PageModule>) => ({
    component: lazyPage(load, "Page"),
    staticData: { audience },
  });
}
const forGuests = pageFor("GUEST");
const forAnyone = pageFor("ANYONE");
const forPeople = pageFor("SIGNED_IN");
const forTraders = pageFor("TRADER");
const forCopiers = pageFor("COPIER");
const forOperators = pageFor("OPERATOR");

const root = createRootRoute({ component: Frame, validateSearch: (search): Search => search as Search });
const top = { getParentRoute: () => root } as const;

const entrance = [
  createRoute({ ...top, path: "/sign-in", ...forGuests(() => import("../pages/sign-in.tsx")) }),
  createRoute({ ...top, path: "/sign-up", ...forGuests(() => import("../pages/sign-up.tsx")) }),
  createRoute({
    ...top,
    path: "/forgot-password",
    ...forAnyone(() => import("../pages/forgot-password.tsx")),
  }),
  createRoute({ ...top, path: "/reset-password", ...forAnyone(() => import("../pages/reset-password.tsx")) }),
  createRoute({ ...top, path: "/verify-email", ...forAnyone(() => import("../pages/verify-email.tsx")) }),
] as const;

const account = [
  createRoute({ ...top, path: "/", component: Home, staticData: { audience: "SIGNED_IN" } }),
  createRoute({ ...top, path: "/welcome", ...forPeople(() => import("../pages/welcome.tsx")) }),
  createRoute({ ...top, path: "/identity", ...forPeople(() => import("../pages/identity.tsx")) }),
  createRoute({ ...top, path: "/security", ...forPeople(() => import("../pages/security.tsx")) }),
] as const;

const copying = [
  createRoute({ ...top, path: "/copying", ...forCopiers(() => import("../pages/copying.tsx")) }),
  createRoute({
    ...top,
    path: "/copying/accounts",
    ...forCopiers(() => import("../pages/copying/accounts.tsx")),
  }),
  createRoute({
    ...top,
    path: "/copying/strategies",
    ...forCopiers(() => import("../pages/copying/strategies.tsx")),
  }),
  createRoute({
    ...top,
    path: "/copying/strategies/$strategyId",
    ...forCopiers(() => import("../pages/copying/offer.tsx")),
  }),
] as const;

/** The frame that a copy's pages share. */
const copy = createRoute({
  ...top,
  path: "/copies/$copyId",
  component: lazyPage(() => import("./frame/copy-frame.tsx"), "CopyFrame"),
  staticData: { audience: "COPIER" },
});
const insideCopy = { getParentRoute: () => copy } as const;

const copyPages = [
  createRoute({ ...insideCopy, path: "/", ...forCopiers(() => import("../pages/copy/overview.tsx")) }),
  createRoute({ ...insideCopy, path: "log", ...forCopiers(() => import("../pages/copy/log.tsx")) }),
  createRoute({ ...insideCopy, path: "drift", ...forCopiers(() => import("../pages/copy/drift.tsx")) }),
  createRoute({ ...insideCopy, path: "settings", ...forCopiers(() => import("../pages/copy/settings.tsx")) }),
] as const;

const trading = [
  createRoute({ ...top, path: "/keys", ...forTraders(() => import("../pages/keys.tsx")) }),
  createRoute({ ...top, path: "/strategies", ...forTraders(() => import("../pages/strategies.tsx")) }),
  createRoute({ ...top, path: "/strategies/new", ...forTraders(() => import("../pages/new-strategy.tsx")) }),
] as const;

/** The frame that a strategy's pages share: its name, its tabs, its live changes. */
const strategy = createRoute({
  ...top,
  path: "/strategies/$strategyId",
  component: StrategyFrame,
  staticData: { audience: "TRADER" },
});
const inside = { getParentRoute: () => strategy } as const;

const strategyPages = [
  createRoute({ ...inside, path: "/", ...forTraders(() => import("../pages/strategy/overview.tsx")) }),
  createRoute({ ...inside, path: "chart", ...forTraders(() => import("../pages/strategy/chart.tsx")) }),
  createRoute({ ...inside, path: "orders", ...forTraders(() => import("../pages/strategy/orders.tsx")) }),
  createRoute({
    ...inside,
    path: "orders/$orderId",
    ...forTraders(() => import("../pages/strategy/order.tsx")),
  }),
  createRoute({
    ...inside,
    path: "positions",
    ...forTraders(() => import("../pages/strategy/positions.tsx")),
  }),
  createRoute({ ...inside, path: "depth", ...forTraders(() => import("../pages/strategy/depth.tsx")) }),
  createRoute({ ...inside, path: "trades", ...forTraders(() => import("../pages/strategy/trades.tsx")) }),
  createRoute({ ...inside, path: "signals", ...forTraders(() => import("../pages/strategy/signals.tsx")) }),
  createRoute({
    ...inside,
    path: "signals/$signalId",
    ...forTraders(() => import("../pages/strategy/signal.tsx")),
  }),
  createRoute({ ...inside, path: "requests", ...forTraders(() => import("../pages/strategy/requests.tsx")) }),
  createRoute({ ...inside, path: "copiers", ...forTraders(() => import("../pages/strategy/copiers.tsx")) }),
  createRoute({ ...inside, path: "settings", ...forTraders(() => import("../pages/strategy/settings.tsx")) }),
] as const;

const operatorPages = [
  createRoute({
    ...top,
    path: "/operator/identity",
    ...forOperators(() => import("../pages/operator/identity.tsx")),
  }),
  createRoute({
    ...top,
    path: "/operator/identity/$submissionId",
    ...forOperators(() => import("../pages/operator/submission.tsx")),
  }),
  createRoute({
    ...top,
    path: "/operator/people",
    ...forOperators(() => import("../pages/operator/people.tsx")),
  }),
  createRoute({
    ...top,
    path: "/operator/people/$personId",
    ...forOperators(() => import("../pages/operator/person.tsx")),
  }),
  createRoute({
    ...top,
    path: "/operator/copying",
    ...forOperators(() => import("../pages/operator/copying.tsx")),
  }),
  createRoute({
    ...top,
    path: "/operator/health",
    ...forOperators(() => import("../pages/operator/health.tsx")),
  }),
  createRoute({
    ...top,
    path: "/operator/security",
    ...forOperators(() => import("../pages/operator/security.tsx")),
  }),
  createRoute({
    ...top,
    path: "/operator/traffic",
    ...forOperators(() => import("../pages/operator/traffic.tsx")),
  }),
  createRoute({
    ...top,
    path: "/operator/fidelity",
    ...forOperators(() => import("../pages/operator/fidelity.tsx")),
  }),
  createRoute({
    ...top,
    path: "/operator/audit",
    ...forOperators(() => import("../pages/operator/audit.tsx")),
  }),
] as const;

export const routeTree = root.addChildren([
  ...entrance,
  ...account,
  ...copying,
  copy.addChildren(copyPages),
  ...trading,
  strategy.addChildren(strategyPages),
  ...operatorPages,
]);
