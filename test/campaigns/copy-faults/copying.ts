// What is copied with, and killed: with the embedded database the whole program of the leads, copier and all;
// on PostgreSQL one of two copier processes beside a gateway that goes on.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { CLAIM_MS, LEASE_MS } from "../../../src/copy/leads/leads.ts";
import { newDirectory, type Program, startProgram } from "../../support/servers/gateway.ts";
import { HEEDS_ADDRESSES } from "../harness/markets.ts";
import { openRows } from "../harness/stored-rows.ts";
import type { CrashedStore } from "../harness/stores.ts";
import { ClaimGaps, SAMPLE_MS } from "./claims.ts";
import type { Span } from "./stops.ts";

const ROOT = join(import.meta.dirname, "../../..");
const GATEWAY_READY = /^Lyrebird listens on (\S+)$/;
/** With the name that it claims strategies by. */
export const COPIER_READY = /^Lyrebird copies as ([^\s,]+)/;
const COPIERS = 2;
/** PostgreSQL gives large integers as text. */
type LeadRow = {
  readonly strategy_id: string;
  readonly holder: string | null;
  readonly lease_until: number | string;
};

export class Copying {
  /** When something was killed, Unix ms. */
  readonly killedAt: number[] = [];
  /** When nothing ran that could copy. */
  readonly #down: Span[] = [];
  /** When something ran, and could not send. */
  readonly #claims = new ClaimGaps();
  readonly #reader = new AbortController();
  #mayReadClaims = true;
  #reading: Promise<void> = Promise.resolve();
  #rows: ReturnType<typeof openRows> | null = null;
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
    if (this.#store.server !== null)
      this.#copiers = Array.from({ length: COPIERS }, () => ({ dataDir: newDirectory(), running: null }));
    for (const copier of this.#copiers) await this.#startCopier(copier);
    void this.#watchClaims();
  }

  get kills(): number {
    return this.killedAt.length;
  }

  /** Where the leads' gateway is, as soon as there is one. */
  serving(): Promise<string> {
    return this.#serving.promise;
  }

  /** kill -9 of what copies, and a new start. */
  async strike(): Promise<void> {
    if (this.#copiers.length > 0) return await this.#strikeCopier();
    this.#awaitServing();
    await this.#withoutReading(async () => {
      const from = this.#noteKill();
      await this.#end(this.#gateway, "SIGKILL");
      await this.#startGateway();
      const until = Date.now();
      this.#down.push({ from, until });
      // It listens before the thread of its copier has claimed anything.
      this.#claims.lose(null, until);
    });
  }

  /** kill -9 of the earlier program, and a start of the project's own on what it has left. */
  async takeOver(): Promise<void> {
    this.#awaitServing();
    this.#root = ROOT;
    await this.#withoutReading(async () => {
      const from = this.#noteKill();
      for (const copier of this.#copiers) await this.#end(copier.running, "SIGKILL");
      await this.#end(this.#gateway, "SIGKILL");
      await this.#startGateway();
      for (const copier of this.#copiers) await this.#startCopier(copier);
      const until = Date.now();
      this.#down.push({ from, until: until + LEASE_MS + CLAIM_MS });
      this.#claims.lose(null, until);
    });
  }

  /** When nobody could send anything for a strategy. */
  downOf(strategyId: string): readonly Span[] {
    return [...this.#down, ...this.#claims.of(strategyId)];
  }

  /** Claims that were not renewed in time: nothing is sent then, also without a kill. */
  get stalls(): ClaimGaps["stalls"] {
    return this.#claims.stalls;
  }

  /** One of the copiers. Its strategies wait until the other finds that their leases have ended. */
  async #strikeCopier(): Promise<void> {
    const copier = this.#copiers[Math.floor(this.#draw() * this.#copiers.length)];
    if (copier === undefined) throw new Error("one of them is drawn");
    await this.#readClaims();
    this.#claims.lose(copier.running?.ready ?? "", this.#noteKill());
    await this.#end(copier.running, "SIGKILL");
    await this.#startCopier(copier);
  }

  /** Callers of `serving` wait for the next start of the gateway. */
  #awaitServing(): void {
    this.#serving = Promise.withResolvers();
    this.#serving.promise.catch(() => {});
  }

  #noteKill(): number {
    const at = Date.now();
    this.killedAt.push(at);
    return at;
  }

  /** Until all is ended. */
  async #watchClaims(): Promise<void> {
    const { signal } = this.#reader;
    while (!signal.aborted) {
      if (this.#mayReadClaims) this.#reading = this.#readClaims();
      await this.#reading;
      await pause(SAMPLE_MS, undefined, { signal }).catch(() => {});
    }
  }

  /** Never rejects: what cannot be read now excuses nothing. */
  async #readClaims(): Promise<void> {
    const at = Date.now();
    const rows = await this.#leadRows().catch(() => []);
    const claims = rows.map(({ strategy_id, holder, lease_until }) => ({
      ...{ strategyId: strategy_id, holder, renewedAt: Number(lease_until) - LEASE_MS },
    }));
    this.#claims.note(at, claims);
  }

  /** The embedded database is not kept open: it must not be open elsewhere when its server is killed. */
  async #leadRows(): Promise<readonly LeadRow[]> {
    const { dataDir, env, server } = this.#store;
    if (server !== null) {
      this.#rows ??= openRows({ dataDir, databaseUrl: env.DATABASE_URL ?? null });
      return await this.#rows.selectFrom("leads").select(["strategy_id", "holder", "lease_until"]).execute();
    }
    const database = new DatabaseSync(join(dataDir, "lyrebird.sqlite"), { readOnly: true });
    try {
      return database.prepare("SELECT strategy_id, holder, lease_until FROM leads").all() as LeadRow[];
    } finally {
      database.close();
    }
  }

  async #withoutReading(work: () => Promise<void>): Promise<void> {
    this.#mayReadClaims = false;
    await this.#reading;
    await work();
    this.#mayReadClaims = true;
  }

  /** What has ended by itself, with its last words; null if nothing has. */
  ended(): string | null {
    return this.#unexpected;
  }

  /** Ends all of it in order; answers what did not end so. */
  async stop(): Promise<readonly string[]> {
    const faults: string[] = [];
    await this.#endReading();
    this.#down.push({ from: Date.now(), until: Number.POSITIVE_INFINITY });
    for (const running of [...this.#copiers.map((copier) => copier.running), this.#gateway]) {
      if (running === null) continue;
      const code = await this.#end(running, "SIGTERM");
      if (code !== 0) faults.push(`told to stop it ended with ${code}:\n${running.output()}`);
    }
    return faults;
  }

  /** Kills all running processes, to abort a run. */
  kill(): void {
    void this.#endReading();
    for (const running of [...this.#copiers.map((copier) => copier.running), this.#gateway]) {
      if (running !== null) this.#expected.add(running.process);
      running?.process.kill("SIGKILL");
    }
  }

  async #endReading(): Promise<void> {
    this.#reader.abort();
    await this.#reading;
    await this.#rows?.destroy().catch(() => {});
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
    this.#awaitServing();
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
