// Which route a request of the bot family is for.
import type { BotRoute } from "./route.ts";
import { BOT_ROUTES } from "./routes.ts";

export type FoundRoute = {
  readonly route: BotRoute;
  /** What matched the `:name` parts of its path, as it was received. */
  readonly params: Readonly<Record<string, string>>;
};

/** The route of a method and a path, or null. */
export function routeOf(method: string, path: string): FoundRoute | null {
  const exact = EXACT.get(`${method} ${path}`);
  if (exact !== undefined) return exact;
  for (const { route, pattern } of PATTERNS) {
    const match = route.method === method ? pattern.exec(path) : null;
    if (match !== null) return { route, params: { ...match.groups } };
  }
  return null;
}

const EXACT = new Map<string, FoundRoute>(
  BOT_ROUTES.filter(isExact).map((route) => [`${route.method} ${route.path}`, { route, params: {} }]),
);
const PATTERNS = BOT_ROUTES.filter((route) => !isExact(route)).map((route) => ({
  route,
  pattern: new RegExp(`^${route.path.replace(/:(\w+)/g, "(?<$1>[^/]+)")}$`),
}));

function isExact({ path }: BotRoute): boolean {
  return !path.includes(":");
}
