// The market's own public routes: each request is checked here, sent upstream, and its answer passed on.
// Invariants: a request upstream has the parameters that the route knows, in the order of its row, and
// nothing that could be refused here, since invalid requests must not use the upstream budget that all
// clients share. Upstream's answers reach a client only as data or as a refusal of our catalog; clients never
// see its limits, bans and failures.
// Source: specification 4.5; reference exchange, sections 5 and 9.
import type { StrategyType } from "../../domain/account.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import { fixedFuturesWeights, fixedWeights } from "../../market/client/rest/request-weight.ts";
import { bodyOf, type UpstreamAnswer } from "../../market/client/rest/rest.ts";
import type { Parameters } from "../parameters.ts";
import type { Descriptions } from "../parse/descriptions.ts";
import { type Listed, type Reader, SYMBOL_STATUS, symbolStatus } from "../parse/market-data.ts";
import type { Listings, Ports } from "../pipeline.ts";
import { publicRoute, ReadyJson, type Route } from "../route.ts";
import { listedBy } from "./exchange-info.ts";

/** The parameters that are sent upstream, checked in this order. */
export type Readers = Readonly<Record<string, Reader>>;

/** What a public route of the market may have besides its path, its summary and its readers. */
type More = {
  readonly aliases?: readonly string[];
  /** Unless it is the same. */
  readonly upstreamPath?: string;
  /** Unless the table of fixed weights has it. */
  readonly weight?: number | Route["weight"];
  /**
   * Whether the route takes `symbolStatus`, which is checked against our own listing and not sent upstream.
   */
  readonly takesStatus?: boolean;
};

const FIXED_WEIGHTS: Readonly<Record<string, number>> = { ...fixedWeights, ...fixedFuturesWeights };

const STATUS_OF_SYMBOL = {
  ...SYMBOL_STATUS,
  description: "Refuses a `symbol` of another status, and leaves symbols of another status out of a list.",
};

/**
 * Makes rows that answer with what the REST route of the type's own market answers to the same parameters.
 */
export function upstreamRoutes(type: StrategyType) {
  const listedIn = (listings: Listings) => listedBy(type, listings[type]);
  return (
    path: string,
    summary: string,
    readers: Readers,
    { aliases = [], upstreamPath = path, weight = FIXED_WEIGHTS[path], takesStatus = false }: More = {},
  ): Route => {
    if (weight === undefined) throw new Error(`no weight is known of ${path}`);
    return publicRoute(path, summary, {
      aliases,
      parameters: describedBy(readers, takesStatus),
      weight,
      parse(parameters, listings) {
        const listed = listedIn(listings);
        const search = searchOf(parameters, listed, readers);
        if (isRefusal(search)) return search;
        const status = takesStatus ? symbolStatus(parameters) : null;
        if (isRefusal(status)) return status;
        const named = search.get("symbol");
        if (status !== null && named !== null && listed.get(named)?.status !== status) {
          return { refusal: "SYMBOL_STATUS_MISMATCH" };
        }
        // The status of a named symbol has been checked; of a list, symbols of another status are left out.
        return { search, status: named === null ? status : null };
      },
      async answer({ search, status }: Search, { markets }: Pick<Ports, "markets">) {
        const text = textOf(await markets[type].query(upstreamPath, search));
        return isRefusal(text) || status === null ? text : rowsOfStatus(text, status, listedIn(markets));
      },
      present: (found) => (typeof found === "string" ? new ReadyJson(found) : found),
    });
  };
}

function describedBy(readers: Readers, takesStatus: boolean): Descriptions {
  const own = Object.entries(readers).map(([name, { description }]) => [name, description]);
  return { ...Object.fromEntries(own), ...(takesStatus ? { symbolStatus: STATUS_OF_SYMBOL } : {}) };
}

type Search = { readonly search: URLSearchParams; readonly status: string | null };

function searchOf(parameters: Parameters, listed: Listed, readers: Readers): URLSearchParams | Refusal {
  const search = new URLSearchParams();
  for (const [name, read] of Object.entries(readers)) {
    const value = read(parameters, listed, name);
    if (isRefusal(value)) return value;
    if (value !== undefined) search.set(name, value);
  }
  return search;
}

/**
 * Refusals of upstream for requests that passed here: a symbol that was just unlisted, and times that exclude
 * each other.
 */
const REFUSED_BY_UPSTREAM: Readonly<Record<number, Refusal>> = {
  [-1023]: { refusal: "TIMES_REVERSED" },
  [-1121]: { refusal: "SYMBOL_UNKNOWN" },
  [-1128]: { refusal: "PARAMETERS_EXCLUSIVE" },
  [-4144]: { refusal: "PAIR_INVALID" },
  [-4165]: { refusal: "PARAMETERS_INVALID" },
};
/** The other codes that refuse a parameter. Source: reference exchange, section 16.1. */
const PARAMETER_CODE_MIN = -1299;
const PARAMETER_CODE_MAX = -1100;

/**
 * The data in upstream's answer as JSON text; our refusal of a parameter; MARKET_SILENT for everything else.
 */
function textOf(answer: UpstreamAnswer): string | Refusal {
  if (!answer.unavailable && answer.status === 200 && looksLikeJson(answer.text)) return answer.text;
  const code = codeOf(answer);
  if (code === null) return { refusal: "MARKET_SILENT" };
  const isOfParameter = code >= PARAMETER_CODE_MIN && code <= PARAMETER_CODE_MAX;
  return REFUSED_BY_UPSTREAM[code] ?? { refusal: isOfParameter ? "PARAMETERS_INVALID" : "MARKET_SILENT" };
}

/** Whether it is a whole object or list: proxies between upstream and us answer with HTML pages. */
function looksLikeJson(text: string): boolean {
  const trimmed = text.trim();
  return (
    (trimmed.startsWith("[") && trimmed.endsWith("]")) || (trimmed.startsWith("{") && trimmed.endsWith("}"))
  );
}

/** The code of a refusal, or null if the answer is not a refusal. */
function codeOf(answer: UpstreamAnswer): number | null {
  if (answer.unavailable || answer.status !== 400) return null;
  const body = bodyOf({ ...answer, status: 200 });
  const code = typeof body === "object" && body !== null && "code" in body ? body.code : null;
  return typeof code === "number" ? code : null;
}

/** The rows of the symbols that have a status by our listing. */
function rowsOfStatus(text: string, status: string, listed: Listed): readonly object[] | Refusal {
  const rows = bodyOf({ unavailable: false, status: 200, text });
  if (!Array.isArray(rows)) return { refusal: "MARKET_SILENT" };
  return rows.filter((row) => listed.get(row?.symbol)?.status === status);
}
