// The market's own public routes: our clients ask us, we ask upstream, and the answer is handed on.
//
// What upstream is asked holds the parameters that a route knows, in the order of its row, and nothing that could be
// refused here: what a client makes up must not cost the upstream budget that all share. What upstream answers reaches a
// client only as data or as a refusal of our catalogue: its limits, bans and troubles are ours, not our clients'.
// Source: specification 4.5; reference exchange, sections 5 and 9.
import type { StrategyType } from "../../domain/account.ts";
import { isRefusal, type Refusal } from "../../domain/refusal.ts";
import { bodyOf, type UpstreamAnswer } from "../../market/client/rest/rest.ts";
import type { Parameters } from "../parameters.ts";
import { type Listed, type Reader, SYMBOL_STATUS, symbolStatus } from "../parse/market-data.ts";
import { type Answer, type PublicRoute, ReadyJson } from "../pipeline.ts";
import { listedBy } from "./exchange-info.ts";

/** A public route of the market, as ours hand it on. */
export type UpstreamRoute = {
  /** The first is the route's name, the others are aliases. */
  readonly paths: PublicRoute["paths"];
  /** Unless it is the same. */
  readonly upstreamPath?: string;
  readonly summary: string;
  readonly weight: PublicRoute["weight"];
  /** The parameters that upstream gets, checked in this order. */
  readonly readers: Readonly<Record<string, Reader>>;
  /** Whether the route takes `symbolStatus`; our own listing judges it, and upstream is not told. */
  readonly takesStatus?: boolean;
};

const STATUS_OF_SYMBOL = {
  ...SYMBOL_STATUS,
  description: "Refuses a `symbol` of another status, and leaves symbols of another status out of a list.",
};

/** Answers with what the REST route of a type's own market answers to the same parameters. */
export function fromUpstream(
  type: StrategyType,
  { paths, summary, upstreamPath = paths[0], weight, readers, takesStatus }: UpstreamRoute,
): PublicRoute {
  return {
    access: "public",
    method: "GET",
    paths,
    summary,
    parameters: {
      ...Object.fromEntries(Object.entries(readers).map(([name, { description }]) => [name, description])),
      ...(takesStatus === true ? { symbolStatus: STATUS_OF_SYMBOL } : {}),
    },
    weight,
    async answer(parameters, { markets }) {
      const listed = listedBy(type, markets[type]);
      const search = searchOf(parameters, listed, readers);
      if (isRefusal(search)) return search;
      const status = takesStatus === true ? symbolStatus(parameters) : null;
      if (isRefusal(status)) return status;
      const named = search.get("symbol");
      if (status !== null && named !== null && listed.get(named)?.status !== status) {
        return { refusal: "SYMBOL_STATUS_MISMATCH" };
      }
      const text = textOf(await markets[type].query(upstreamPath, search));
      if (isRefusal(text)) return text;
      return status === null || named !== null ? new ReadyJson(text) : rowsOfStatus(text, status, listed);
    },
  };
}

function searchOf(
  parameters: Parameters,
  listed: Listed,
  readers: UpstreamRoute["readers"],
): URLSearchParams | Refusal {
  const search = new URLSearchParams();
  for (const [name, read] of Object.entries(readers)) {
    const value = read(parameters, listed, name);
    if (isRefusal(value)) return value;
    if (value !== undefined) search.set(name, value);
  }
  return search;
}

/** What upstream refuses although it passed here: a symbol that lost its listing just now, and times that do not go together. */
const REFUSED_BY_UPSTREAM: Readonly<Record<number, Refusal>> = {
  [-1023]: { refusal: "TIMES_REVERSED" },
  [-1121]: { refusal: "SYMBOL_UNKNOWN" },
  [-1128]: { refusal: "PARAMETERS_EXCLUSIVE" },
  [-4144]: { refusal: "PAIR_INVALID" },
  [-4165]: { refusal: "PARAMETERS_INVALID" },
};
/** The other codes that find fault with a parameter. Source: reference exchange, section 16.1. */
const PARAMETER_CODE_MIN = -1299;
const PARAMETER_CODE_MAX = -1100;

/** The data in upstream's answer as JSON text; a refusal of a parameter in our words; else there is no market to be had. */
function textOf(answer: UpstreamAnswer): string | Refusal {
  if (!answer.unavailable && answer.status === 200 && looksLikeJson(answer.text)) return answer.text;
  const code = codeOf(answer);
  if (code === null) return { refusal: "MARKET_SILENT" };
  const isOfParameter = code >= PARAMETER_CODE_MIN && code <= PARAMETER_CODE_MAX;
  return REFUSED_BY_UPSTREAM[code] ?? { refusal: isOfParameter ? "PARAMETERS_INVALID" : "MARKET_SILENT" };
}

/** Whether it is an object or a list from end to end: what stands between upstream and us answers with pages. */
function looksLikeJson(text: string): boolean {
  const trimmed = text.trim();
  return (
    (trimmed.startsWith("[") && trimmed.endsWith("]")) || (trimmed.startsWith("{") && trimmed.endsWith("}"))
  );
}

/** The code of a refusal, or null if the answer is none. */
function codeOf(answer: UpstreamAnswer): number | null {
  if (answer.unavailable || answer.status !== 400) return null;
  const body = bodyOf({ ...answer, status: 200 });
  const code = typeof body === "object" && body !== null && "code" in body ? body.code : null;
  return typeof code === "number" ? code : null;
}

/** The rows of the symbols that have a status by our listing. */
function rowsOfStatus(text: string, status: string, listed: Listed): Answer {
  const rows = bodyOf({ unavailable: false, status: 200, text });
  if (!Array.isArray(rows)) return { refusal: "MARKET_SILENT" };
  return rows.filter((row) => listed.get(row?.symbol)?.status === status);
}
