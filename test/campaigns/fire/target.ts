// What is under fire: a gateway that is killed again and again, its database too where that is a server of
// its own, and the proxy that leads to whichever process serves at present.
import type { FaultProxy } from "../../support/servers/fault-proxy.ts";
import { type Credentials, type GatewayProcess, startGateway } from "../../support/servers/gateway.ts";
import { GatewayFault } from "../harness/faults.ts";
import { HEEDS_ADDRESSES } from "../harness/markets.ts";
import type { CrashedStore } from "../harness/stores.ts";
import { compileCache, drawVictim, isBack, lastWords, saidWhy } from "../harness/victims.ts";

const SIM_SEED = "1";

export class Target {
  readonly kills = { gateway: 0, database: 0, both: 0 };
  /** When the gateway of now began to serve, or its database was back: Unix ms. */
  recoveredAt = 0;
  readonly #store: CrashedStore;
  readonly #proxy: FaultProxy;
  readonly #draw: () => number;
  /** Of a strategy that sends no signals: asks whether the gateway is back. */
  readonly #prober: Credentials;
  readonly #env: Readonly<Record<string, string>>;
  #gateway: GatewayProcess | null = null;
  /** Whether the gateway may end now: it, or its database, is being killed. */
  #mayLeave = false;
  #serving = Promise.withResolvers<GatewayProcess>();

  constructor(parts: {
    store: CrashedStore;
    proxy: FaultProxy;
    draw: () => number;
    prober: Credentials;
  }) {
    this.#store = parts.store;
    this.#proxy = parts.proxy;
    this.#draw = parts.draw;
    this.#prober = parts.prober;
    this.#env = { ...parts.store.env, ...HEEDS_ADDRESSES, ...compileCache(), SIM_SEED };
  }

  async start(): Promise<void> {
    const gateway = await this.#newGateway();
    gateway.process.once("exit", () => this.#left(gateway));
    this.#gateway = gateway;
    this.recoveredAt = Date.now();
    this.#proxy.aim(gateway.url);
    this.#serving.resolve(gateway);
  }

  async #newGateway(): Promise<GatewayProcess> {
    try {
      return await startGateway({ dataDir: this.#store.dataDir, env: this.#env });
    } catch (error) {
      // The callers of `serving` receive the error too.
      this.#serving.reject(error);
      throw error;
    }
  }

  /**
   * The gateway, as soon as there is one: bots that find nobody wait, since a refused connection teaches
   * nothing.
   */
  async serving(): Promise<GatewayProcess> {
    return await this.#serving.promise;
  }

  /** Kills what the draw says and has all of it serve again. */
  async strike(): Promise<void> {
    const gateway = await this.serving();
    this.#mayLeave = true;
    const victim = drawVictim(this.#store, this.#draw);
    this.kills[victim] += 1;
    if (victim === "database" && (await this.#outlives(gateway))) {
      this.recoveredAt = Date.now();
      this.#mayLeave = false;
      return;
    }
    if (victim !== "database") {
      await Promise.all([gateway.kill(), victim === "both" ? this.#store.server?.kill() : undefined]);
    }
    if (victim === "both") await this.#store.server?.restart();
    await this.start();
    this.#mayLeave = false;
  }

  /**
   * A gateway has ended: the proxy stops sending to it. Callers waiting for a successor fail if none is
   * coming.
   */
  #left(gateway: GatewayProcess): void {
    this.#proxy.aim(null);
    this.#serving = Promise.withResolvers();
    // There may be nobody who waits.
    this.#serving.promise.catch(() => {});
    if (!this.#mayLeave) {
      this.#serving.reject(new GatewayFault(`the gateway has ended by itself:\n${gateway.output()}`));
    }
  }

  /**
   * Kills the database and starts it again under a gateway; false if that has ended, as it does with a commit
   * under way.
   */
  async #outlives(gateway: GatewayProcess): Promise<boolean> {
    await this.#store.server?.kill();
    await this.#store.server?.restart();
    if (await isBack(gateway, [{ credentials: this.#prober, type: "SPOT" }])) return true;
    await saidWhy(gateway);
    return false;
  }

  /** Ends the gateway in order. Throws GatewayFault unless it does. */
  async stop(): Promise<void> {
    const gateway = await this.serving();
    this.#mayLeave = true;
    const code = await gateway.stop();
    this.#gateway = null;
    if (code !== 0) throw new GatewayFault(`told to stop it ended with ${code}:\n${gateway.output()}`);
  }

  /** Kills the gateway if there is one, and answers all that it has said. */
  async lastWords(): Promise<string> {
    const gateway = this.#gateway;
    if (gateway === null) return "";
    this.#mayLeave = true;
    return await lastWords(gateway);
  }
}
