// One person's window on the dashboard: a browser context of its own, as private as another machine. Every
// unexpected failure in it is a fault: an error in the console or of a script, a violation of the content
// policy, a failed request.
import type { Browser, BrowserContext, BrowserContextOptions, Page, Request } from "playwright-core";
import { eventually } from "../support/eventually.ts";

/** A machine under load is slow; what takes longer has failed, ms. */
const PATIENCE_MS = 30_000;
const VIEWPORT = { width: 1280, height: 800 } as const;

/** An answer of 400 or above that a test provokes: its status, and how its path ends after /dashboard/api. */
export type Expected = { readonly status: number; readonly path: string };

type Watched = {
  readonly faults: string[];
  readonly expected: Expected[];
  /** Statuses of which any number of answers is expected, with the number that came. */
  readonly expectedAnywhere: Map<number, number>;
  /** Requests that are not answered yet. */
  readonly pending: Set<Request>;
};

export class BrowserClient {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly #url: string;
  readonly #watched: Watched;

  private constructor(context: BrowserContext, page: Page, url: string, watched: Watched) {
    this.context = context;
    this.page = page;
    this.#url = url;
    this.#watched = watched;
  }

  static async open(
    browser: Browser,
    url: string,
    options: BrowserContextOptions = {},
  ): Promise<BrowserClient> {
    const context = await browser.newContext({
      baseURL: url,
      viewport: VIEWPORT,
      locale: "en-GB",
      timezoneId: "UTC",
      colorScheme: "dark",
      reducedMotion: "reduce",
      ...options,
    });
    context.setDefaultTimeout(PATIENCE_MS);
    const watched: Watched = { faults: [], expected: [], expectedAnywhere: new Map(), pending: new Set() };
    context.on("page", (page) => watch(page, watched));
    return new BrowserClient(context, await context.newPage(), url, watched);
  }

  /** The next answer of this kind is no fault; that it does not come is one. */
  expects(status: number, path: string): void {
    this.#watched.expected.push({ status, path });
  }

  /**
   * Until `faults` is read next, answers of this status are no fault, whichever request they answer; that
   * none comes is one.
   */
  expectsAnywhere(status: number): void {
    this.#watched.expectedAnywhere.set(status, 0);
  }

  /** Resolves when every request of its pages is answered. */
  async quiet(): Promise<void> {
    await eventually("no request is pending", () => this.#watched.pending.size === 0);
  }

  /** All faults so far, with expected ones that did not occur; clears them. */
  faults(): readonly string[] {
    const { faults, expected, expectedAnywhere } = this.#watched;
    const inVain = expected.splice(0).map(({ status, path }) => `expected in vain: ${status} of ${path}`);
    const nowhere = [...expectedAnywhere].filter(([, came]) => came === 0);
    expectedAnywhere.clear();
    return [...faults.splice(0), ...inVain, ...nowhere.map(([status]) => `expected in vain: ${status}`)];
  }

  /**
   * Calls a row of the server with this person's cookies, for what a test needs and does not show. Rejects if
   * it is refused.
   */
  async call(method: string, path: string, data?: unknown) {
    const answer = await this.context.request.fetch(`/dashboard/api${path}`, {
      method,
      headers: { origin: this.#url },
      ...(data === undefined ? {} : { data }),
    });
    if (!answer.ok())
      throw new Error(`${method} ${path} is refused: ${answer.status()} ${await answer.text()}`);
    return answer.status() === 204 ? null : await answer.json();
  }

  async close(): Promise<void> {
    await this.context.close();
  }
}

function watch(page: Page, { faults, expected, expectedAnywhere, pending }: Watched): void {
  page.on("request", (request) => pending.add(request));
  page.on("requestfinished", (request) => pending.delete(request));
  page.on("requestfailed", (request) => pending.delete(request));
  page.on("pageerror", (error) => faults.push(`error of a script on ${page.url()}: ${error.stack ?? error}`));
  page.on("console", (message) => {
    // The browser logs this for every refused request; those are checked below.
    const isRefusal = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isRefusal) faults.push(`console on ${page.url()}: ${message.text()}`);
  });
  page.on("requestfailed", (request) => {
    const why = request.failure()?.errorText ?? "";
    // Leaving a page aborts its pending requests.
    if (why !== "net::ERR_ABORTED") faults.push(`${request.method()} ${request.url()} failed: ${why}`);
  });
  page.on("response", (response) => {
    const status = response.status();
    if (status < 400) return;
    const { pathname, search } = new URL(response.url());
    const path = pathname.replace("/dashboard/api", "");
    const index = expected.findIndex((each) => each.status === status && path.endsWith(each.path));
    const came = expectedAnywhere.get(status);
    if (index >= 0) expected.splice(index, 1);
    else if (came !== undefined) expectedAnywhere.set(status, came + 1);
    else faults.push(`${status} of ${response.request().method()} ${path}${search} on ${page.url()}`);
  });
}
