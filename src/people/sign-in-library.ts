// The only file that knows the sign-in library (better-auth). It makes and changes the records of people, credentials, sessions and
// links; `hashed-records.ts` lies between it and the store, and our own routes before it: its HTTP handler is never exposed. So we
// use what lies under that handler (`$context`), not the handler's routes. What it would do besides is off: telemetry, limits on
// requests (ours are in `lockout.ts` and the pipeline), and its log, which names people.
//
// Loading it takes a quarter of a second, which the start of the server does not wait for: it is loaded when it is first needed.
import { randomBytes } from "node:crypto";
import type { BetterAuthOptions } from "better-auth";
import type { MasterKey } from "../identity/master-key.ts";
import { derivedKey } from "../identity/sealing.ts";
import type {
  SignInCondition,
  SignInModel,
  SignInRecord,
  SignInRecords,
  SignInValue,
} from "../store/people-store.ts";
import { SESSION_MS } from "./cookies.ts";
import { hashedRecords } from "./hashed-records.ts";

const SECRET_DOMAIN = "lyrebird sign-in library";
/** How the library calls credentials that are an e-mail address and a password. */
const BY_PASSWORD = "credential";
const ID_BYTES = 8;
/** Of a browser's name for itself, characters. */
const USER_AGENT_LENGTH_MAX = 200;
/** What of it is left out: it is shown to people, and kept by databases that do not take every character. */
const NOT_SHOWN = /\p{C}/gu;
/** Settings of the library's own in the environment: they would win over ours, and one of them turns its telemetry on. */
const ENVIRONMENT_PREFIX = "BETTER_AUTH_";

export class SignInLibrary {
  readonly #records: SignInRecords;
  readonly #master: MasterKey;
  readonly #wallNow: () => number;
  #loaded: Promise<Library> | null = null;

  /** `wallNow` tells wall time, Unix ms: it, not the library's own clock, says when something was made and when it is over. */
  constructor(parts: { records: SignInRecords; master: MasterKey; wallNow: () => number }) {
    this.#records = hashedRecords(parts.records);
    this.#master = parts.master;
    this.#wallNow = parts.wallNow;
  }

  /** Loads the library, if it is not. */
  async prepare(): Promise<void> {
    await this.#library();
  }

  /** The hash of a person's password; null if there is none. */
  async passwordHashOf(personId: string): Promise<string | null> {
    const { internalAdapter } = await this.#library();
    return (await internalAdapter.findCredentialAccount(personId))?.password ?? null;
  }

  async setPassword(personId: string, passwordHash: string): Promise<void> {
    const { internalAdapter } = await this.#library();
    const present = await internalAdapter.findCredentialAccount(personId);
    if (present !== null) {
      await internalAdapter.updateAccount(present.id, { password: passwordHash });
      return;
    }
    await internalAdapter.createAccount({
      userId: personId,
      providerId: BY_PASSWORD,
      accountId: personId,
      password: passwordHash,
    });
  }

  /** Replaces the password whose hash is `from` by another; false, and nothing is done, if it is not that one any more. */
  async replacePassword(
    personId: string,
    { from, to }: { readonly from: string; readonly to: string },
  ): Promise<boolean> {
    const { adapter } = await this.#library();
    const replaced = await adapter.updateMany({
      model: "account",
      where: [
        { field: "userId", value: personId },
        { field: "providerId", value: BY_PASSWORD },
        { field: "password", value: from },
      ],
      update: { password: to, updatedAt: new Date(this.#wallNow()) },
    });
    return replaced > 0;
  }

  /** Notes that a person's address is verified, with the name that was chosen then. */
  async verifyEmail(personId: string, name: string): Promise<void> {
    await (await this.#library()).internalAdapter.updateUser(personId, { emailVerified: true, name });
  }

  /** A new session, and its token, which is nowhere else. */
  async createSession(
    personId: string,
    { address, userAgent }: { readonly address: string; readonly userAgent: string },
  ): Promise<{ readonly sessionId: string; readonly token: string }> {
    const { internalAdapter } = await this.#library();
    const now = this.#wallNow();
    const terms = {
      ipAddress: address,
      userAgent: userAgent.replace(NOT_SHOWN, "").slice(0, USER_AGENT_LENGTH_MAX),
      createdAt: new Date(now),
      updatedAt: new Date(now),
      expiresAt: new Date(now + SESSION_MS),
    };
    const session = await internalAdapter.createSession(personId, false, terms, true);
    return { sessionId: session.id, token: session.token };
  }

  /** Remembers what a link that is mailed is for. `name` holds its token; `value` what is done when it is opened. */
  async createLink(name: string, value: string, expiresAt: number): Promise<void> {
    const { internalAdapter } = await this.#library();
    await internalAdapter.createVerificationValue({
      identifier: name,
      value,
      expiresAt: new Date(expiresAt),
    });
  }

  /** Uses a link up: its value for the first who asks, in whatever process, null for everybody else, and for one that is over. */
  async consumeLink(name: string): Promise<string | null> {
    const { adapter } = await this.#library();
    const used = await adapter.consumeOne<{ value: string; expiresAt: Date }>({
      model: "verification",
      where: [{ field: "identifier", value: name }],
    });
    return used === null || used.expiresAt.getTime() <= this.#wallNow() ? null : used.value;
  }

  #library(): Promise<Library> {
    this.#loaded ??= load(this.#records, this.#master);
    return this.#loaded;
  }
}

type Library = Awaited<ReturnType<typeof load>>;

async function load(records: SignInRecords, master: MasterKey) {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith(ENVIRONMENT_PREFIX)) delete process.env[name];
  }
  const [{ betterAuth }, { createAdapterFactory }] = await Promise.all([
    import("better-auth/minimal"),
    import("better-auth/adapters"),
  ]);
  const options = {
    appName: "Lyrebird",
    // It is used in addresses that the library would make, and it makes none.
    baseURL: "http://localhost",
    secret: derivedKey(master, SECRET_DOMAIN).export().toString("hex"),
    session: { expiresIn: SESSION_MS / 1_000 },
    advanced: { database: { generateId: () => randomBytes(ID_BYTES).toString("hex") } },
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    logger: { disabled: true },
    database: createAdapterFactory({
      config: { adapterId: "lyrebird", adapterName: "Lyrebird's store", usePlural: false },
      adapter: () => adapterOver(records),
    }),
  } satisfies BetterAuthOptions;
  return await betterAuth(options).$context;
}

/** What the library asks of its database, in terms of the store. */
function adapterOver(records: SignInRecords) {
  async function findMany<Row>(asked: {
    model: string;
    where?: readonly Condition[] | undefined;
    limit?: number;
    offset?: number | undefined;
    sortBy?: { field: string; direction: "asc" | "desc" } | undefined;
  }): Promise<Row[]> {
    const { limit, offset, sortBy } = asked;
    const found = await records.find(modelOf(asked.model), conditionsOf(asked.where), {
      ...(limit === undefined ? {} : { limit }),
      ...(offset === undefined ? {} : { offset }),
      ...(sortBy === undefined ? {} : { sortBy }),
    });
    return found as Row[];
  }
  async function findOne<Row>(asked: { model: string; where: readonly Condition[] }): Promise<Row | null> {
    const [first = null] = await findMany<Row>({ ...asked, limit: 1 });
    return first;
  }
  async function remove({ model, where }: { model: string; where: readonly Condition[] }): Promise<number> {
    return await records.remove(modelOf(model), conditionsOf(where));
  }
  return {
    findMany,
    findOne,
    async create<Row extends Record<string, unknown>>({ model, data }: { model: string; data: Row }) {
      return (await records.create(modelOf(model), recordOf(data))) as Row;
    },
    async update<Row>(asked: { model: string; where: readonly Condition[]; update: Row }) {
      await updateMany(records, asked);
      return await findOne<Row>(asked);
    },
    updateMany: (asked: { model: string; where: readonly Condition[]; update: unknown }) =>
      updateMany(records, asked),
    async delete(asked: { model: string; where: readonly Condition[] }) {
      await remove(asked);
    },
    deleteMany: remove,
    count: ({ model, where }: { model: string; where?: readonly Condition[] | undefined }) =>
      records.count(modelOf(model), conditionsOf(where)),
    /** Whoever removes it has it: of several that found it one does. */
    async consumeOne<Row>(asked: { model: string; where: readonly Condition[] }): Promise<Row | null> {
      const found = await findOne<Row>(asked);
      return found !== null && (await remove(asked)) > 0 ? found : null;
    },
  };
}

type Condition = {
  readonly field: string;
  readonly operator: SignInCondition["operator"] | undefined;
  readonly value: string | number | boolean | string[] | number[] | Date | null;
  readonly connector: "AND" | "OR" | undefined;
};

async function updateMany(
  records: SignInRecords,
  asked: { model: string; where: readonly Condition[]; update: unknown },
): Promise<number> {
  return await records.update(modelOf(asked.model), conditionsOf(asked.where), recordOf(asked.update));
}

function modelOf(model: string): SignInModel {
  if (model === "user" || model === "session" || model === "account" || model === "verification")
    return model;
  throw new Error(`the sign-in library keeps no ${model} here`);
}

function conditionsOf(where: readonly Condition[] = []): readonly SignInCondition[] {
  return where.map(({ field, operator = "eq", value, connector = "AND" }) => ({
    field,
    operator,
    value,
    connector,
  }));
}

/** What the library writes, all of it texts, numbers, truths and times. */
function recordOf(data: unknown): SignInRecord {
  return Object.fromEntries(
    Object.entries(data as object).filter((entry): entry is [string, SignInValue] => entry[1] !== undefined),
  );
}
