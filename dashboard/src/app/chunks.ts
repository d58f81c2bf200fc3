// The pages' chunks: loaded while the browser is idle, so that no tab needs the server for its code. A chunk
// that fails all the same is an error of its page, which the error boundary shows; nothing here navigates.
// The page is loaded again only once the server has answered, since a reload without a server leaves the
// browser's own error page; and by itself only once, since a chunk that is still missing then would be loaded
// for ever.
import { lazyRouteComponent, useRouter } from "@tanstack/react-router";
import { type ComponentType, useEffect } from "react";
import type { PersonJson } from "../../../src/dashboard-api/schemas.ts";
import { ApiError } from "../api/call.ts";
import { loadPlot } from "../ui/figures/plot.tsx";
import { refusedTo } from "./audience.ts";

const RELOADED = "lyrebird.reloaded";

/** The code of a page could not be loaded: the server is away, or another version of it is running. */
export class ChunkFailed extends ApiError {
  constructor() {
    super({
      status: 0,
      code: "PAGE_NOT_LOADED",
      message: "This page could not be loaded.",
      action: "Try again when the server answers. Your strategies go on without this page.",
    });
  }
}

/**
 * A page in a chunk of its own. The library would reload the window for an error of the browser's; for ours
 * it throws it.
 */
export function lazyPage<Name extends string>(
  load: () => Promise<{ readonly [N in Name]: ComponentType }>,
  name: Name,
) {
  return lazyRouteComponent(async (): Promise<{ [N in Name]: ComponentType }> => {
    try {
      return await load();
    } catch {
      throw new ChunkFailed();
    }
  }, name);
}

/**
 * Loads what this person may open, one chunk after another, once the first page is there. What fails is
 * loaded when it is opened.
 */
export function usePreloadedPages(person: PersonJson): void {
  const router = useRouter();
  const { role, profile, hasSecondFactor } = person;
  // biome-ignore lint/correctness/useExhaustiveDependencies: of the person these are what decides.
  useEffect(() => {
    let isOver = false;
    const preload = async () => {
      for (const { options } of Object.values(router.routesById)) {
        const audience = options.staticData?.audience ?? "GUEST";
        if (audience === "GUEST" || refusedTo(audience, person) !== null) continue;
        await idle();
        if (isOver) return;
        await (options.component as { preload?: () => Promise<void> } | undefined)?.preload?.();
      }
      await loadPlot().catch(() => {});
    };
    void preload();
    return () => {
      isOver = true;
    };
  }, [router, role, profile, hasSecondFactor]);
}

/**
 * Reloads the window if the server answers; `isOnce`: unless it was for this page of this version of the
 * application.
 */
export async function reloadIfAnswered({ isOnce }: { readonly isOnce: boolean }): Promise<void> {
  const isAnswered = await fetch("/", { cache: "no-store" }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (isAnswered && (!isOnce || isFirstReload())) window.location.reload();
}

/** From then on the window counts as reloaded. */
function isFirstReload(): boolean {
  const page = `${import.meta.url} ${window.location.pathname}`;
  try {
    if (sessionStorage.getItem(RELOADED) === page) return false;
    sessionStorage.setItem(RELOADED, page);
    return true;
  } catch {
    // Storage may be forbidden; then nobody could say that it was reloaded.
    return false;
  }
}

function idle(): Promise<void> {
  // Safari has no idle callbacks.
  if (typeof requestIdleCallback !== "function")
    return new Promise((resolve) => void setTimeout(resolve, 200));
  return new Promise((resolve) => void requestIdleCallback(() => resolve()));
}
