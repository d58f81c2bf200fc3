// A trader's key as its bot uses it, and as the inspector shows it: requests may be sent with whatever
// mistake a client makes.
import { createHmac } from "node:crypto";
import type {
  DiagnosisJson,
  KeyTestJson,
  RequestJson,
  RequestsJson,
} from "../../src/dashboard-api/schemas.ts";
import type { Browser } from "./dashboard/client.ts";
import type { DashboardFixture } from "./dashboard/fixture.ts";
import { exchange, type RawAnswer, type RawRequest } from "./raw.ts";

export type InspectedKey = Awaited<ReturnType<typeof inspectedKey>>;

/** HMAC-SHA256 of received bytes, as hex. */
export function hmac(secret: string | Buffer, message: string): string {
  return createHmac("sha256", secret).update(message, "latin1").digest("hex");
}

/** A new key of a trader who is signed in, bound to a new strategy unless said. */
export async function inspectedKey(
  fixture: DashboardFixture,
  trader: Browser,
  { label = "bot", type = "SPOT" }: { label?: string; type?: "SPOT" | "FUTURES" | null } = {},
) {
  const { key, apiSecret } = await trader.send("POST", "/keys", { label, code: trader.code() });
  const { keyId, apiKey } = key as { keyId: string; apiKey: string };
  const strategy =
    type === null ? null : await trader.send("POST", "/strategies", { name: label, type, keyId });
  const secret: string = apiSecret;

  /** Sends a request as it is, a second after whatever came before. */
  const send = (request: RawRequest): Promise<RawAnswer> => {
    fixture.pass(1_000);
    return exchange(fixture.url, {
      ...request,
      headers: { "user-agent": "a bot", ...request.headers },
    });
  };
  const requests = async (): Promise<RequestsJson> => await trader.get(`/keys/${keyId}/requests`);
  const newest = async (): Promise<RequestJson> => {
    const [first] = (await requests()).requests;
    if (first === undefined) throw new Error("no request is remembered");
    return first;
  };
  return {
    keyId,
    apiKey,
    secret,
    strategyId: (strategy?.strategyId ?? null) as string | null,
    /** What a time stamp says when the next request is received. */
    now: () => String(fixture.wallNow() + 1_000),
    send,
    requests,
    newest,
    async diagnosis(): Promise<DiagnosisJson> {
      const { diagnosis } = await newest();
      if (diagnosis === null) throw new Error("the last request was let in");
      return diagnosis;
    },
    test: async (): Promise<KeyTestJson> => await trader.send("POST", `/keys/${keyId}/test`),
  };
}
