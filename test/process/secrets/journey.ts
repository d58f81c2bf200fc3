// Everything on one server that issues or takes a secret, done once over the rows of the dashboard and the
// interfaces of bots. What is secret is noted as it is given out, and what was shown afterwards is kept.
import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { generateSync } from "otplib/functional";
import type { DashboardRoute } from "../../../src/dashboard-api/route.ts";
import { ALL_ROUTES } from "../../../src/dashboard-api/routes.ts";
import { botClient } from "../../support/bot-client.ts";
import { Browser } from "../../support/dashboard/client.ts";
import { eventually } from "../../support/eventually.ts";
import { priced } from "../../support/prices.ts";
import { exchange } from "../../support/raw.ts";
import { type Credentials, type GatewayProcess, runNode } from "../../support/servers/gateway.ts";
import { signed } from "../../support/signed-client.ts";
import { connectStream, MARKET, openStream, type StreamClient } from "../../support/sockets/stream-client.ts";
import type { Haystack, Secret } from "./search.ts";

export type Journey = {
  readonly secrets: readonly Secret[];
  /** What was answered once everything had been shown that is shown once. */
  readonly shown: readonly Haystack[];
  /** Connections that are still open, as those of browsers and bots would be. */
  readonly open: readonly StreamClient[];
};

/** The tokens of all links to a page that have been sent, or logged in place of that, in their order. */
export type Links = (page: "verify-email" | "reset-password") => readonly string[];

export const DEMO_PASSWORD = "demo password";
export const DEMO_API_SECRET = "demo api secret";
export const MASTER_KEY = "master key";
/** Of an identity form, which operators are shown whenever they ask. */
export const KYC_FIELDS: readonly string[] = ["kyc name", "kyc address", "kyc document"];

const STEP_MS = 30_000;
/** A code is accepted for at least this long after it was made, ms. */
const VALID_FOR_MS = 15_000;
/** How much of a step may be over when a second factor begins, ms. */
const BEGUN_MS_MAX = 10_000;
const CLOCK = { wallNow: () => Date.now(), pass: () => {} };

export async function travel(
  gateway: GatewayProcess,
  {
    links,
    env = {},
    venue,
  }: {
    readonly links: Links;
    readonly env?: Readonly<Record<string, string>>;
    /** Another gateway, where a copier's account is. */
    readonly venue: GatewayProcess;
  },
): Promise<Journey> {
  const secrets: Secret[] = [];
  const note = (kind: string, text: string): string => {
    if (text === "") throw new Error(`there is no ${kind}`);
    secrets.push({ kind, text });
    return text;
  };
  const newSecret = (kind: string) =>
    note(kind, `${kind.replace(/\W/g, "-")}-${randomBytes(12).toString("hex")}`);
  const traveller = () => new Traveller(gateway.url, note);
  const cli = (...args: string[]) => {
    const { status, stdout, stderr } = runNode(["src/cli.ts", ...args, "--data", gateway.dataDir], env);
    if (status !== 0) throw new Error(`${args.join(" ")} failed: ${stderr}`);
    return stdout;
  };
  /** The token of the link that comes as the so manieth of its page. */
  const tokenOf = async (page: Parameters<Links>[0], count: number) => {
    await eventually(`${count} links to ${page}`, () => links(page).length >= count);
    return note(`link to ${page}`, links(page)[count - 1] ?? "");
  };
  const said = gateway.output();
  note(DEMO_PASSWORD, /^ {2}password {2}(\S+)$/m.exec(said)?.[1] ?? "");
  for (const [, secret = ""] of said.matchAll(/^ {2}secret {2}(\S+)$/gm)) note(DEMO_API_SECRET, secret);

  // A person signs up, verifies the address, and submits a form that an operator reads.
  const email = "ada@example.com";
  const first = newSecret("first password");
  const ada = traveller();
  await ada.send("POST", "/sign-up", { email });
  await tokenOf("verify-email", 1);
  await ada.send("POST", "/sign-up", { email });
  const token = await tokenOf("verify-email", 2);
  await ada.send("POST", "/verify-email", { token, name: "Ada", password: first });
  const tried = newSecret("wrong password");
  await ada.refused("POST", "/session", { email, password: tried });
  await ada.send("POST", "/session", { email, password: first });
  const form = {
    fullName: newSecret("kyc name"),
    birthDate: "1990-05-17",
    country: "GB",
    address: newSecret("kyc address"),
    documentKind: "PASSPORT",
    documentNumber: note("kyc document", randomBytes(12).toString("hex").toUpperCase()),
  };
  await ada.send("POST", "/kyc", form);

  const opsEmail = "ops@example.com";
  const opsPassword = note(
    "operator password",
    /^password: (\S+)/m.exec(cli("operator", "create", "--email", opsEmail))?.[1] ?? "",
  );
  const operator = traveller();
  await operator.send("POST", "/session", { email: opsEmail, password: opsPassword });
  await operator.enableSecondFactor(opsPassword);
  const [entry] = (await operator.get("/operator/kyc")).rows;
  const { submissionId } = entry;
  await operator.get(`/operator/kyc/${submissionId}`);
  await operator.send("POST", `/operator/kyc/${submissionId}/decision`, { status: "APPROVED" });

  // A trader with a second factor, keys and strategies; codes and passwords of every kind are used.
  await ada.send("PUT", "/profile", { profile: "TRADER" });
  const codes = await ada.enableSecondFactor(first);
  await ada.refused("POST", "/keys", { label: "wrong", code: "000000" });
  const { key, apiSecret } = await ada.send("POST", "/keys", { label: "Bot", code: ada.code() });
  note("api secret", apiSecret);
  const strategy = { name: "Ada's", type: "SPOT", keyId: key.keyId };
  const { strategyId } = await ada.send("POST", "/strategies", strategy);
  const second = newSecret("changed password");
  await ada.send("POST", "/password", { current: first, password: second, code: ada.code() });
  const elsewhere = traveller();
  await elsewhere.refused("POST", "/session", { email, password: second });
  await elsewhere.send("POST", "/session", { email, password: second, code: codes[0] });
  await elsewhere.send("POST", "/second-factor/disable", { code: codes[1] });
  const renewed = await elsewhere.enableSecondFactor(second);
  await elsewhere.send("POST", "/second-factor/recovery-codes", { code: elsewhere.code() });
  await elsewhere.refused("POST", "/second-factor/recovery-codes", { code: renewed[0] });
  await elsewhere.send("POST", "/password-reset", { email });
  const resetToken = await tokenOf("reset-password", 1);
  const third = newSecret("reset password");
  await elsewhere.send("POST", "/password-reset/finish", { token: resetToken, password: third });
  await elsewhere.send("POST", "/session", { email, password: third, code: elsewhere.recoveryCodes[0] });
  await elsewhere.send("POST", "/password-reset", { email });
  // A link that is never opened.
  await tokenOf("reset-password", 2);
  const passing = traveller();
  await passing.send("POST", "/session", { email, password: third, code: elsewhere.recoveryCodes[1] });
  await passing.lockOut(email, note);
  await passing.send("DELETE", "/session");

  // Bots, with every kind of key; some of what they sign is wrong, and looked into.
  const own: Credentials = { strategyId, apiKey: key.apiKey, apiSecret };
  const seeded = gateway.seed();
  note("seeded api secret", seeded.apiSecret);
  for (const credentials of [own, seeded]) {
    await trade(gateway.url, credentials);
    await trade(gateway.url, { ...credentials, apiSecret: credentials.apiSecret.toUpperCase() });
  }
  await elsewhere.send("POST", `/keys/${key.keyId}/test`);
  const rotated = cli("master-key", "rotate");
  for (const line of readFileSync(join(gateway.dataDir, "master.key"), "utf8").trim().split("\n")) {
    note(MASTER_KEY, line);
  }
  const later = gateway.seed("FUTURES");
  note("api secret of the new master key", later.apiSecret);
  await trade(gateway.url, later);

  const live = openStream(gateway.url, "/dashboard", own, {
    auth: null,
    headers: { cookie: elsewhere.cookies(), origin: gateway.url },
  });
  await live.next("connect");
  const stream = await connectStream(gateway.url, MARKET, seeded);

  const { signalId } = (await elsewhere.get(`/strategies/${strategyId}/signals`)).rows[0];
  const { orderId } = (await elsewhere.get(`/strategies/${strategyId}/orders?state=all`)).rows[0];
  const named = { strategyId, signalId, orderId, submissionId, keyId: key.keyId, family: "SPOT" };
  const around = { ...named, personId: elsewhere.personId };
  const shown = await lookAround(gateway.url, around, [elsewhere, operator], (route) => !isForCopiers(route));

  // The same person as a copier, whose account elsewhere is checked and kept.
  await elsewhere.send("PUT", `/strategies/${strategyId}/copying`, { isOpen: true });
  await elsewhere.send("PUT", "/profile", { profile: "COPIER" });
  const account = venue.seed();
  const { apiKey } = account;
  const connected = { family: "SPOT", venue: venue.url, label: "Main", apiKey };
  const given = { apiSecret: note("exchange secret", account.apiSecret), code: elsewhere.code() };
  await elsewhere.send("POST", "/copying/accounts", { ...connected, ...given });
  shown.push(...(await lookAround(gateway.url, around, [elsewhere], isForCopiers)));
  const told = { name: "master-key rotate", bytes: Buffer.from(rotated, "utf8") };
  return { secrets, shown: [...shown, told], open: [live, stream] };
}

/** A browser whose cookies and codes are noted as secrets. */
class Traveller extends Browser {
  readonly #note: (kind: string, text: string) => void;
  readonly #noted = new Set<string>();
  #seedText = "";
  #step = 0;
  recoveryCodes: readonly string[] = [];

  constructor(url: string, note: (kind: string, text: string) => void) {
    super(url, CLOCK);
    this.#note = note;
  }

  override async call(...asked: Parameters<Browser["call"]>): ReturnType<Browser["call"]> {
    const answer = await super.call(...asked);
    for (const cookie of this.cookies().split("; ")) this.#noteCookie(cookie);
    const { recoveryCodes, person } = answer.body ?? {};
    if (recoveryCodes !== undefined) {
      this.recoveryCodes = recoveryCodes;
      for (const code of recoveryCodes) this.#note("recovery code", code);
    }
    if (typeof person?.personId === "string") this.personId = person.personId;
    return answer;
  }

  async refused(method: "POST", path: string, body: unknown): Promise<void> {
    const { status } = await this.call(method, path, { body });
    if (status < 400 || status >= 500) throw new Error(`${path} was answered ${status}`);
  }

  override async enableSecondFactor(password: string): Promise<readonly string[]> {
    const { secret } = await this.send("POST", "/second-factor", { password });
    this.#note("totp seed", secret);
    this.#seedText = secret;
    this.#step = 0;
    // Later in a step the code of its neighbour before it is not used, and only two would be left.
    await eventually("a step that has just begun", () => Date.now() % STEP_MS < BEGUN_MS_MAX);
    return (await this.send("POST", "/second-factor/confirm", { code: this.code() })).recoveryCodes;
  }

  /** Each works once, and of each seed three may be used at once: that of now and its neighbours. */
  override code(): string {
    const step = Math.floor((Date.now() + VALID_FOR_MS) / STEP_MS) - 1;
    this.#step = Math.max(this.#step + 1, step);
    return generateSync({ secret: this.#seedText, epoch: (this.#step * STEP_MS) / 1_000 });
  }

  /** Fails until this browser, which is known to the account, is locked out. */
  async lockOut(email: string, note: (kind: string, text: string) => string): Promise<void> {
    for (let status = 0; status !== 429; ) {
      const password = note("wrong password", `guess-${randomBytes(12).toString("hex")}`);
      ({ status } = await this.call("POST", "/session", { body: { email, password } }));
      if (status < 400 || status >= 500) throw new Error(`a wrong password was answered ${status}`);
    }
  }

  #noteCookie(cookie: string): void {
    const [name = "", value = ""] = cookie.split("=");
    if (value === "" || this.#noted.has(value)) return;
    this.#noted.add(value);
    if (/^lyrebird-[0-9]+$/.test(name)) this.#note("session cookie", value);
    // Which browser it is, its middle part, locks are counted by; what makes it one is the signature.
    else this.#note("device cookie", value.split(".").at(-1) ?? "");
  }
}

/** Requests of both interfaces, some with a wrong signature, which are refused. */
async function trade(url: string, credentials: Credentials): Promise<void> {
  await signed(url, credentials, "GET", "/api/v3/account");
  const order = { symbol: "BTCUSDT", side: "BUY", type: "MARKET", quoteOrderQty: "20" };
  await priced(() => signed(url, credentials, "POST", "/api/v3/order", order, "body"));
  const signal = { symbol: "BTCUSDT", tradeType: "BUY", orderType: "MARKET", quoteOrderQty: "20" };
  await botClient(url, credentials).submit(signal, randomUUID());
}

const PAGES = [
  ...[
    "/",
    "/sign-in",
    "/sign-up",
    "/forgot-password",
    "/reset-password",
    "/verify-email",
    "/welcome",
    "/identity",
  ],
  ...["/security", "/copying", "/keys", "/strategies", "/strategies/new", "/docs", "/operator/identity"],
  ...["/operator/people", "/operator/health", "/operator/security", "/operator/traffic", "/operator/audit"],
];

function isForCopiers({ access, path }: DashboardRoute): boolean {
  return access === "COPIER" || path.startsWith("/copies");
}

/** Every row that only reads, of those that are wanted, every page, and the metrics. */
async function lookAround(
  url: string,
  named: Readonly<Record<string, string | number>>,
  browsers: readonly Traveller[],
  isWanted: (route: DashboardRoute) => boolean,
): Promise<Haystack[]> {
  const shown: Haystack[] = [];
  const keep = (name: string, text: string) => shown.push({ name, bytes: Buffer.from(text, "utf8") });
  for (const { path } of ALL_ROUTES.filter((route) => route.method === "GET" && isWanted(route))) {
    const filled = path.replace(/:(\w+)/g, (_, name: string) => String(named[name] ?? 1));
    const query = path.endsWith("/candles") ? "?symbol=BTCUSDT&interval=1m" : "";
    const answers = [];
    for (const browser of browsers) answers.push(await browser.call("GET", filled + query));
    if (answers.every(({ status }) => status >= 300) && !/:(leg|copy)Id/.test(path)) {
      throw new Error(`${path} was shown to nobody: ${answers[0]?.text}`);
    }
    keep(`GET ${path}`, answers.map(({ headers, text }) => JSON.stringify(headers) + text).join("\n"));
  }
  for (const browser of browsers) {
    for (const path of PAGES) {
      const answer = await exchange(url, {
        method: "GET",
        path,
        headers: { cookie: browser.cookies(), accept: "text/html" },
      });
      keep(`page ${path}`, JSON.stringify(answer.headers) + answer.text);
    }
  }
  const metrics = await exchange(url, { method: "GET", path: "/metrics" });
  keep("/metrics", metrics.text);
  return shown;
}
