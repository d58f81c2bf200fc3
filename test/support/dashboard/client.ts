// A browser as the dashboard's server sees one: it keeps cookies, says which site its page is from, and sends
// JSON. Every answer that it gets must be exactly what the output schema of its row describes.
import { deepStrictEqual } from "node:assert/strict";
import { generateSync } from "otplib/functional";
import { decode, encode } from "zod";
import { API_PREFIX, routeTable } from "../../../src/dashboard-api/route-table.ts";
import { ALL_ROUTES } from "../../../src/dashboard-api/routes.ts";
import { exchange, type RawAnswer } from "../raw.ts";

/** How long a code of an authenticator is the one to be typed, ms. */
const STEP_MS = 30_000;
const rowOf = routeTable(ALL_ROUTES);

export type BrowserRequest = {
  /** Sent as JSON, or as it is if it is text. */
  readonly body?: unknown;
  /** Instead of those that the browser would send; null leaves one out. */
  readonly headers?: Readonly<Record<string, string | null>>;
};

export class Browser {
  readonly #url: string;
  readonly #clock: { readonly wallNow: () => number; readonly pass: (ms: number) => void };
  readonly #cookies = new Map<string, string>();
  #seed: string | null = null;
  /** The time step of the last code, since each works once. */
  #lastStep = 0;
  email = "";
  personId = "";

  constructor(url: string, clock: { readonly wallNow: () => number; readonly pass: (ms: number) => void }) {
    this.#url = url;
    this.#clock = clock;
  }

  /** Calls a row; `path` is written as rows are, with its query. */
  async call(method: string, path: string, { body, headers = {} }: BrowserRequest = {}): Promise<RawAnswer> {
    this.#clock.pass(1_000);
    const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body);
    const own: Record<string, string | null> = {
      ...(this.#cookies.size === 0 ? {} : { cookie: this.cookies() }),
      ...(method === "GET" ? {} : { origin: this.#url }),
      ...(text === undefined ? {} : { "content-type": "application/json" }),
      "user-agent": "a browser of a test",
      ...headers,
    };
    const sent = Object.entries(own).filter((pair): pair is [string, string] => pair[1] !== null);
    const answer = await exchange(this.#url, {
      method,
      path: `${API_PREFIX}${path}`,
      headers: Object.fromEntries(sent),
      ...(text === undefined ? {} : { body: text }),
    });
    for (const cookie of [answer.headers["set-cookie"] ?? []].flat()) this.#keep(cookie);
    if (answer.status < 300) demandDescribed(method, path, answer);
    return answer;
  }

  /** The body of an answer that must be a success. */
  async get(path: string) {
    return expectSuccess(await this.call("GET", path), `GET ${path}`);
  }

  async send(method: "POST" | "PUT" | "DELETE", path: string, body?: unknown) {
    return expectSuccess(await this.call(method, path, { body }), `${method} ${path}`);
  }

  async signIn(email: string, password: string): Promise<void> {
    const code = this.#seed === null ? {} : { code: this.code() };
    const { person } = await this.send("POST", "/session", { email, password, ...code });
    this.email = email;
    this.personId = person.personId;
  }

  async enableSecondFactor(password: string): Promise<readonly string[]> {
    const { secret } = await this.send("POST", "/second-factor", { password });
    this.#seed = secret;
    return (await this.send("POST", "/second-factor/confirm", { code: this.code() })).recoveryCodes;
  }

  hasAuthenticator(): boolean {
    return this.#seed !== null;
  }

  /** A code of the authenticator that was not used: time passes until there is one. */
  code(): string {
    if (this.#seed === null) throw new Error("there is no authenticator");
    this.#clock.pass(Math.max(0, (this.#lastStep + 1) * STEP_MS - this.#clock.wallNow()));
    this.#lastStep = Math.floor(this.#clock.wallNow() / STEP_MS);
    return generateSync({ secret: this.#seed, epoch: Math.floor(this.#clock.wallNow() / 1_000) });
  }

  /** The header that they are sent with. */
  cookies(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  }

  #keep(cookie: string): void {
    const [pair = "", ...attributes] = cookie.split(";");
    const [name = "", value = ""] = pair.split("=");
    if (attributes.some((attribute) => attribute.trim() === "Max-Age=0")) this.#cookies.delete(name);
    else this.#cookies.set(name, value);
  }
}

/**
 * Throws unless an answer is what its row's schema describes: no other field, and every text as the server
 * writes it.
 */
function demandDescribed(method: string, path: string, { body, headers }: RawAnswer): void {
  const [pathname = ""] = path.split("?");
  const output = rowOf(method, `${API_PREFIX}${pathname}`)?.route.output;
  if (output === undefined) throw new Error(`answered without a row: ${method} ${path}`);
  if (output === null) deepStrictEqual(headers["content-type"], "text/csv;charset=UTF-8;header=present");
  else deepStrictEqual(encode(output, decode(output, body)), body, `${method} ${path}`);
}

function expectSuccess({ status, body, text }: RawAnswer, what: string) {
  if (status >= 300) throw new Error(`${what} was answered ${status}: ${text}`);
  return body;
}
