// Probes of load balancers and monitors: `/healthz` says whether the process answers at all, `/readyz`
// whether it can work now. Anybody may call them: nothing is charged, recorded or refused for overload, and
// `observability/health.ts` bounds the cost of an answer.
import type { Health } from "../observability/health.ts";
import { EXCHANGE_MESSAGES } from "./exchange.ts";
import type { ApiFamily, Reply } from "./pipeline.ts";

const HEALTH_PATH = "/healthz";
const READINESS_PATH = "/readyz";

export type Probes = ApiFamily & {
  /** Reports the service as not ready, so that load balancers send nothing new while it closes. */
  beginClosing(): void;
};

export function createProbes(health: Pick<Health, "readiness">): Probes {
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
        return EXCHANGE_MESSAGES.refused({ refusal: "PATH_UNKNOWN", method, path });
      }
      return path === HEALTH_PATH ? answer(200, { status: "ok" }) : await readiness();
    },
    words: EXCHANGE_MESSAGES,
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
