// What load balancers and monitors ask: `/healthz`, whether the process answers at all, and `/readyz`, whether it can do its work
// now. Anybody may ask, so nothing is charged, recorded or refused for overload, and what an answer costs is bounded by the
// readiness that is asked for (`inspection/health.ts`).
import type { Readiness } from "../inspection/health.ts";
import type { Reply } from "./pipeline.ts";
import type { Family } from "./server.ts";
import { EXCHANGE_WORDS } from "./words.ts";

const HEALTH_PATH = "/healthz";
const READINESS_PATH = "/readyz";

export type Probes = Family & {
  /** From now on the service is not ready, so that nothing new is sent to it while it closes. */
  beginClosing(): void;
};

export function createProbes(health: { readiness(): Promise<Readiness> }): Probes {
  let isClosing = false;
  async function readiness(): Promise<Reply> {
    const server = isClosing ? "closing" : "ok";
    const checks = { server, ...(await health.readiness()) };
    const isReady = Object.values(checks).every((check) => check === "ok");
    return answer(isReady ? 200 : 503, { status: isReady ? "ok" : "not ready", checks });
  }
  return {
    takes: (path) => path === HEALTH_PATH || path === READINESS_PATH,
    async answer({ method, path }) {
      if (method !== "GET" && method !== "HEAD") {
        return EXCHANGE_WORDS.refused({ refusal: "PATH_UNKNOWN", method, path });
      }
      return path === HEALTH_PATH ? answer(200, { status: "ok" }) : await readiness();
    },
    words: EXCHANGE_WORDS,
    isNeverRefused: true,
    beginClosing() {
      isClosing = true;
    },
  };
}

function answer(status: number, body: object): Reply {
  const wait = status === 503 ? { "retry-after": "1" } : {};
  return { status, headers: { "cache-control": "no-store", ...wait }, body: JSON.stringify(body) };
}
