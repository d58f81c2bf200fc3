// What is copied with, and killed: with the embedded database the whole program of the leads, copier and all;
// on PostgreSQL one of two copier processes beside a gateway that goes on.
import { join } from "node:path";
import { CLAIM_MS, LEASE_MS } from "../../../src/copy/leads/leads.ts";
import { newDirectory, type Program, startProgram } from "../../support/servers/gateway.ts";
import { HEEDS_ADDRESSES } from "../harness/markets.ts";
import type { CrashedStore } from "../harness/stores.ts";
import type { Span } from "./stops.ts";

const ROOT = join(import.meta.dirname, "../../..");
const GATEWAY_READY = /^Lyrebird listens on (\S+)$/;
const COPIER_READY = /^Lyrebird copies as (\S+)/;
const COPIERS = 2;
export class Copying {
  kills = 0;
  /**
   * When what copies did not run: from its kill until its successor served, or until the lease of the killed
   * one had run out.
   */
  readonly #down: (Span & { readonly strategies: ReadonlySet<string> | null })[] = [];
  readonly #store: CrashedStore;
  readonly #env: Readonly<Record<string, string>>;
  /**
   * Of the program: the project's own, a copy with a fault in it, or an earlier one until it is taken over.
   */
  #root: string;
  readonly #draw: () => number;
  #gateway: Program | null = null;
  #copiers: { readonly dataDir: string; running: Program | null }[] = [];
  #serving = Promise.withResolvers<string>();
  #unexpected: string | null = null;
  readonly #expected = new Set<Program["process"]>();

  constructor(parts: {
    readonly store: CrashedStore;
    readonly env: Readonly<Record<string, string>>;
    readonly draw: () => number;
    readonly root?: string | undefined;
  }) {
    this.#store = parts.store;
    this.#env = { ...parts.env, ...parts.store.env, ...HEEDS_ADDRESSES };
    this.#draw = parts.draw;
    this.#root = parts.root ?? ROOT;
    // There may be nobody who waits.
    this.#serving.promise.catch(() => {});
  }

  async start(): Promise<void> {
    await this.#startGateway();
    if (this.#store.server === null) return;
    this.#copiers = Array.from({ length: COPIERS }, () => ({ dataDir: newDirectory(), running: null }));
    for (const copier of this.#copiers) await this.#startCopier(copier);
  }

  /** Where the leads' gateway is, as soon as there is one. */
  serving(): Promise<string> {
    return this.#serving.promise;
  }

  /** kill -9 of what copies, and a new start. */
  async strike(): Promise<void> {
    this.kills += 1;
    const from = Date.now();
    const strategies = await this.#strike();
    const until = strategies === null ? Date.now() : from + LEASE_MS + CLAIM_MS;
    this.#down.push({ from, until, strategies });
  }

  /** kill -9 of the earlier program, and a start of the project's own on what it has left. */
  async takeOver(): Promise<void> {
    this.kills += 1;
    const from = Date.now();
    this.#serving = Promise.withResolvers();
    this.#serving.promise.catch(() => {});
    this.#root = ROOT;
    for (const copier of this.#copiers) await this.#end(copier.running, "SIGKILL");
    await this.#end(this.#gateway, "SIGKILL");
    await this.#startGateway();
    for (const copier of this.#copiers) await this.#startCopier(copier);
    this.#down.push({ from, until: Date.now() + LEASE_MS + CLAIM_MS, strategies: null });
  }

  /** When nobody copied a strategy. */
  downOf(strategyId: string): readonly Span[] {
    return this.#down.filter(({ strategies }) => strategies?.has(strategyId) ?? true);
  }

  /** Answers the strategies that what was killed had; null: all. */
  async #strike(): Promise<ReadonlySet<string> | null> {
    if (this.#copiers.length === 0) {
      this.#serving = Promise.withResolvers();
      this.#serving.promise.catch(() => {});
      await this.#end(this.#gateway, "SIGKILL");
      await this.#startGateway();
      return null;
    }
    const copier = this.#copiers[Math.floor(this.#draw() * this.#copiers.length)];
    if (copier === undefined) throw new Error("one of them is drawn");
    const holder = copier.running?.ready ?? "";
    const claimed = await this.#store.beside(({ store }) => store.copying.listClaimed(holder));
    await this.#end(copier.running, "SIGKILL");
    await this.#startCopier(copier);
    return new Set(claimed.map(({ strategyId }) => strategyId));
  }

  /** What has ended by itself, with its last words; null if nothing has. */
  ended(): string | null {
    return this.#unexpected;
  }

  /** Ends all of it in order; answers what did not end so. */
  async stop(): Promise<readonly string[]> {
    const faults: string[] = [];
    for (const running of [...this.#copiers.map((copier) => copier.running), this.#gateway]) {
      if (running === null) continue;
      const code = await this.#end(running, "SIGTERM");
      if (code !== 0) faults.push(`told to stop it ended with ${code}:\n${running.output()}`);
    }
    return faults;
  }

  /** Kills all running processes, to abort a run. */
  kill(): void {
    for (const running of [...this.#copiers.map((copier) => copier.running), this.#gateway]) {
      if (running !== null) this.#expected.add(running.process);
      running?.process.kill("SIGKILL");
    }
  }

  /** All that the present processes have said. */
  said(): string {
    const all = [this.#gateway, ...this.#copiers.map(({ running }) => running)];
    return all.map((running) => running?.output() ?? "").join("\n");
  }

  async #startGateway(): Promise<void> {
    const { dataDir, server } = this.#store;
    const role = server === null ? "all" : "gateway";
    try {
      this.#gateway = await this.#run(["--data", dataDir, "--port", "0", "--role", role], GATEWAY_READY);
      this.#serving.resolve(this.#gateway.ready);
    } catch (error) {
      this.#noLongerServing(error);
      throw error;
    }
  }

  /** Rejects for the callers that wait for the gateway: none is coming. */
  #noLongerServing(error: unknown): void {
    this.#serving.reject(error);
    this.#serving = Promise.withResolvers();
    this.#serving.promise.catch(() => {});
    this.#serving.reject(error);
  }

  async #startCopier(copier: { readonly dataDir: string; running: Program | null }): Promise<void> {
    copier.running = await this.#run(["--data", copier.dataDir, "--role", "copier"], COPIER_READY, {
      MASTER_KEY_FILE: join(this.#store.dataDir, "master.key"),
    });
  }

  async #run(
    args: readonly string[],
    ready: RegExp,
    env: Readonly<Record<string, string>> = {},
  ): Promise<Program> {
    const program = await startProgram("it", ready, {
      ...{ args, root: this.#root, env: { ...this.#env, ...env } },
    });
    const { process } = program;
    process.once("exit", (code, signal) => {
      if (this.#expected.has(process)) return;
      this.#unexpected ??= `it ended by itself (${signal ?? code}):\n${program.output()}`;
      this.#noLongerServing(new Error(this.#unexpected));
    });
    return program;
  }

  async #end(running: Program | null, signal: "SIGTERM" | "SIGKILL"): Promise<number | null> {
    if (running === null) return 0;
    this.#expected.add(running.process);
    if (signal === "SIGTERM") return await running.stop();
    await running.kill();
    return null;
  }
}
