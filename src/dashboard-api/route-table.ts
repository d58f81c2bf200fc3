// Which row a request is for. A path that names its segments goes before one that leaves them open.
import type { DashboardRoute } from "./route.ts";

/** What all rows' paths lie under. */
export const API_PREFIX = "/dashboard/api";

export type FoundRoute = {
  readonly route: DashboardRoute;
  /** What matched the `:name` parts of its path, decoded. */
  readonly params: Readonly<Record<string, string>>;
};

/**
 * Finds the row of a method and a path as it was received, or null. Throws if two rows have one method and
 * path.
 */
export function routeTable(routes: readonly DashboardRoute[]) {
  const exact = new Map<string, FoundRoute>();
  const names = new Set<string>();
  const patterns: { readonly route: DashboardRoute; readonly pattern: RegExp }[] = [];
  for (const route of routes) {
    const name = `${route.method} ${route.path.replace(/:\w+/g, ":")}`;
    if (names.has(name)) throw new Error(`a path belongs to one row: ${name}`);
    names.add(name);
    if (route.path.includes(":")) patterns.push({ route, pattern: patternOf(route.path) });
    else exact.set(`${route.method} ${API_PREFIX}${route.path}`, { route, params: {} });
  }
  return (method: string, path: string): FoundRoute | null => {
    const found = exact.get(`${method} ${path}`);
    if (found !== undefined) return found;
    for (const { route, pattern } of patterns) {
      const match = route.method === method ? pattern.exec(path) : null;
      if (match !== null) return decoded(route, match.groups ?? {});
    }
    return null;
  };
}

function patternOf(path: string): RegExp {
  const segments = path.replace(/[.]/g, "\\.").replace(/:(\w+)/g, "(?<$1>[^/]+)");
  return new RegExp(`^${API_PREFIX}${segments}$`);
}

function decoded(route: DashboardRoute, groups: Readonly<Record<string, string>>): FoundRoute | null {
  try {
    const params = Object.fromEntries(
      Object.entries(groups).map(([name, text]) => [name, decodeURIComponent(text)]),
    );
    // Nothing is named by what cannot be decoded, or by a NUL, which not every database can be asked for.
    return Object.values(params).some((text) => text.includes("\0")) ? null : { route, params };
  } catch {
    return null;
  }
}
