// The setting of browser tests: a server in a process of its own with the simulated market, and one Chromium.
// Each person has a browser context; the texts of mails are read from the server's log. For copying, a second
// server on the same market is the exchange.
import type { Browser, BrowserContextOptions } from "playwright-core";
import { eventually } from "../support/eventually.ts";
import { changeRows } from "../support/servers/database.ts";
import { type Credentials, type GatewayProcess, runNode, startGateway } from "../support/servers/gateway.ts";
import { openBrowser } from "./browser.ts";
import { BrowserClient } from "./browser-client.ts";
import { type DemoTrader, demoKeysIn, demoTraderIn } from "./greeting.ts";
import type { Past } from "./past.ts";

export const PASSWORD = "seventeen patient lyrebirds";
export const OPERATOR_EMAIL = "operator@example.org";

type FixtureOptions = {
  /** What the server has lived through before; it begins on a new directory otherwise. */
  readonly past?: Past | null;
  /** Whether there is an exchange to copy on. */
  readonly hasVenue?: boolean;
};

export class Fixture {
  readonly gateway: GatewayProcess;
  readonly #venue: GatewayProcess | null;
  readonly #browser: Browser;
  readonly #greeting: string;
  readonly #clients: BrowserClient[] = [];

  private constructor(
    gateway: GatewayProcess,
    { venue, browser, greeting }: { venue: GatewayProcess | null; browser: Browser; greeting: string },
  ) {
    this.gateway = gateway;
    this.#venue = venue;
    this.#browser = browser;
    this.#greeting = greeting;
  }

  static async open({ past = null, hasVenue = false }: FixtureOptions = {}): Promise<Fixture> {
    const venue = hasVenue ? await startGateway() : null;
    const [gateway, browser] = await Promise.all([
      startGateway({
        // Links are written at this level.
        env: { LOG_LEVEL: "info", ...(venue === null ? {} : { COPY_VENUES: venue.url }) },
        ...(past === null ? {} : { dataDir: past.dataDir }),
      }),
      openBrowser(),
    ]);
    return new Fixture(gateway, { venue, browser, greeting: past?.greeting ?? gateway.output() });
  }

  get url(): string {
    return this.gateway.url;
  }

  /** The exchange that is copied on. */
  get venue(): GatewayProcess {
    if (this.#venue === null) throw new Error("a fixture has a venue if it was opened with one");
    return this.#venue;
  }

  async visit(options: BrowserContextOptions = {}): Promise<BrowserClient> {
    const client = await BrowserClient.open(this.#browser, this.url, options);
    this.#clients.push(client);
    return client;
  }

  /** The faults in all windows since the last call. */
  faults(): readonly string[] {
    return this.#clients.flatMap((client) => client.faults());
  }

  /**
   * The path of the newest link of a kind that a person was sent, with its token. Rejects when none comes.
   */
  async linkFor(email: string, kind: "verify-email" | "reset-password"): Promise<string> {
    const newest = () =>
      this.gateway
        .output()
        .split("\n")
        .filter((line) => line.includes(`"to":${JSON.stringify(email)}`) && line.includes(`/${kind}#`))
        .at(-1);
    await eventually(`a link to ${kind} for ${email}`, () => newest() !== undefined);
    const { link } = JSON.parse(newest() ?? "{}");
    const { pathname, hash } = new URL(link);
    return pathname + hash;
  }

  /** Has the server forget which codes of second factors were used, as if it had been long ago. */
  readonly forgetCodes = (): void => {
    changeRows(this.gateway.dataDir, "UPDATE second_factors SET last_step = 0");
  };

  /** Makes an operator, by the command beside the running server. */
  makeOperator(email = OPERATOR_EMAIL): void {
    const { status, stderr } = runNode(
      [
        "src/cli.ts",
        "operator",
        "create",
        "--email",
        email,
        "--password-stdin",
        "--data",
        this.gateway.dataDir,
      ],
      {},
      `${PASSWORD}\n`,
    );
    if (status !== 0) throw new Error(`operator create failed: ${stderr}`);
  }

  /** The owner of the demo's strategies. */
  demoTrader(): DemoTrader {
    return demoTraderIn(this.#greeting);
  }

  /** The keys of the demo's strategies: spot, then futures. */
  demoKeys(): readonly Omit<Credentials, "strategyId">[] {
    return demoKeysIn(this.#greeting);
  }

  async close(): Promise<void> {
    await this.#browser.close();
    await this.gateway.stop();
    await this.#venue?.stop();
  }
}
