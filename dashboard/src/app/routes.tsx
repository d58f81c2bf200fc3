// Every page and its address. A page is a file in ../pages that exports `Page`; it is a chunk of its own,
// which is loaded when it is first shown, or before while the browser is idle. `forTraders` and the like say
// which people it is for: see audience.ts. Paths are as they stand in the browser's address, so a page reads
// its parameters with `useParams({ from: "/strategies/$strategyId/orders/$orderId" })`. A page is a <Screen>,
// which makes its h1 and the title of the tab.

import { useQuery } from "@tanstack/react-query";
import { type AnyRoute, createRootRoute, createRoute, Navigate } from "@tanstack/react-router";
import type { ComponentType } from "react";
import { usePerson } from "../api/session.ts";
import { strategiesQuery } from "../api/strategy.ts";
import { Skeleton } from "../ui/card.tsx";
import { type Audience, homeOf } from "./audience.ts";
import { lazyPage } from "./chunks.ts";
import { Frame } from "./frame/frame.tsx";
import { StrategyFrame } from "./frame/strategy-frame.tsx";
import type { Search } from "./search.ts";

type PageModule = { readonly Page: ComponentType };

const root = createRootRoute({ component: Frame, validateSearch: (search): Search => search as Search });

/** Of pages for these people, inside of a parent. */
function pageFor<Parent extends AnyRoute>(audience: Audience, parent: Parent) {
  return <Path extends string>(path: Path, load: () => Promise<PageModule>) => ({
    getParentRoute: () => parent,
    path,
    component: lazyPage(load, "Page"),
    staticData: { audience },
  });
}
const forGuests = pageFor("GUEST", root);
const forAnyone = pageFor("ANYONE", root);
const forPeople = pageFor("SIGNED_IN", root);
const forTraders = pageFor("TRADER", root);
const forCopiers = pageFor("COPIER", root);
const forOperators = pageFor("OPERATOR", root);

const entrance = [
  createRoute(forGuests("/sign-in", () => import("../pages/sign-in.tsx"))),
  createRoute(forGuests("/sign-up", () => import("../pages/sign-up.tsx"))),
  createRoute(forAnyone("/forgot-password", () => import("../pages/forgot-password.tsx"))),
  createRoute(forAnyone("/reset-password", () => import("../pages/reset-password.tsx"))),
  createRoute(forAnyone("/verify-email", () => import("../pages/verify-email.tsx"))),
] as const;

const account = [
  createRoute({
    getParentRoute: () => root,
    path: "/",
    component: Home,
    staticData: { audience: "SIGNED_IN" },
  }),
  createRoute(forPeople("/welcome", () => import("../pages/welcome.tsx"))),
  createRoute(forPeople("/identity", () => import("../pages/identity.tsx"))),
  createRoute(forPeople("/security", () => import("../pages/security.tsx"))),
] as const;

const copying = [
  createRoute(forCopiers("/copying", () => import("../pages/copying.tsx"))),
  createRoute(forCopiers("/copying/accounts", () => import("../pages/copying/accounts.tsx"))),
  createRoute(forCopiers("/copying/strategies", () => import("../pages/copying/strategies.tsx"))),
  createRoute(forCopiers("/copying/strategies/$strategyId", () => import("../pages/copying/offer.tsx"))),
] as const;

/** The frame that a copy's pages share. */
const copy = createRoute({
  getParentRoute: () => root,
  path: "/copies/$copyId",
  component: lazyPage(() => import("./frame/copy-frame.tsx"), "CopyFrame"),
  staticData: { audience: "COPIER" },
});
const insideCopy = pageFor("COPIER", copy);

const copyPages = [
  createRoute(insideCopy("/", () => import("../pages/copy/overview.tsx"))),
  createRoute(insideCopy("log", () => import("../pages/copy/log.tsx"))),
  createRoute(insideCopy("drift", () => import("../pages/copy/drift.tsx"))),
  createRoute(insideCopy("settings", () => import("../pages/copy/settings.tsx"))),
] as const;

const trading = [
  createRoute(forTraders("/keys", () => import("../pages/keys.tsx"))),
  createRoute(forTraders("/strategies", () => import("../pages/strategies.tsx"))),
  createRoute(forTraders("/strategies/new", () => import("../pages/new-strategy.tsx"))),
] as const;

/** The frame that a strategy's pages share: its name, its tabs, its live changes. */
const strategy = createRoute({
  getParentRoute: () => root,
  path: "/strategies/$strategyId",
  component: StrategyFrame,
  staticData: { audience: "TRADER" },
});
const insideStrategy = pageFor("TRADER", strategy);

const strategyPages = [
  createRoute(insideStrategy("/", () => import("../pages/strategy/overview.tsx"))),
  createRoute(insideStrategy("chart", () => import("../pages/strategy/chart.tsx"))),
  createRoute(insideStrategy("orders", () => import("../pages/strategy/orders.tsx"))),
  createRoute(insideStrategy("orders/$orderId", () => import("../pages/strategy/order.tsx"))),
  createRoute(insideStrategy("positions", () => import("../pages/strategy/positions.tsx"))),
  createRoute(insideStrategy("depth", () => import("../pages/strategy/depth.tsx"))),
  createRoute(insideStrategy("trades", () => import("../pages/strategy/trades.tsx"))),
  createRoute(insideStrategy("trades/$tradeId", () => import("../pages/strategy/trade.tsx"))),
  createRoute(insideStrategy("signals", () => import("../pages/strategy/signals.tsx"))),
  createRoute(insideStrategy("signals/$signalId", () => import("../pages/strategy/signal.tsx"))),
  createRoute(insideStrategy("requests", () => import("../pages/strategy/requests.tsx"))),
  createRoute(insideStrategy("copiers", () => import("../pages/strategy/copiers.tsx"))),
  createRoute(insideStrategy("settings", () => import("../pages/strategy/settings.tsx"))),
] as const;

const operatorPages = [
  createRoute(forOperators("/operator/identity", () => import("../pages/operator/identity.tsx"))),
  createRoute(
    forOperators("/operator/identity/$submissionId", () => import("../pages/operator/submission.tsx")),
  ),
  createRoute(forOperators("/operator/people", () => import("../pages/operator/people.tsx"))),
  createRoute(forOperators("/operator/people/$personId", () => import("../pages/operator/person.tsx"))),
  createRoute(forOperators("/operator/copying", () => import("../pages/operator/copying.tsx"))),
  createRoute(forOperators("/operator/health", () => import("../pages/operator/health.tsx"))),
  createRoute(forOperators("/operator/security", () => import("../pages/operator/security.tsx"))),
  createRoute(forOperators("/operator/traffic", () => import("../pages/operator/traffic.tsx"))),
  createRoute(forOperators("/operator/fidelity", () => import("../pages/operator/fidelity.tsx"))),
  createRoute(forOperators("/operator/audit", () => import("../pages/operator/audit.tsx"))),
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

/** The address without a path leads to where the person goes on. */
function Home() {
  const person = usePerson();
  const isUnclear = homeOf(person, undefined) === null;
  const { data, isError } = useQuery({ ...strategiesQuery, enabled: isUnclear });
  // The list of strategies says itself why it could not be loaded.
  const to = homeOf(person, isError ? true : data && data.rows.length > 0);
  return to === null ? <Skeleton lines={4} /> : <Navigate to={to} replace />;
}
