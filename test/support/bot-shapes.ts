// What a bot route promises to answer, against what it has answered.

import { routeOf } from "../../src/http/bot/routes.ts";
import { errorSchema } from "../../src/http/bot/schemas.ts";
import type { RawAnswer } from "./raw.ts";

/** What an answer has that its route does not promise, or the other way round; empty if nothing. */
export function misfits(method: string, path: string, { status, body }: Pick<RawAnswer, "status" | "body">) {
  const promised = routeOf(method, path)?.answers[status]?.schema ?? (status >= 400 ? errorSchema : null);
  if (promised === null) return [`${method} ${path} does not promise ${status}`];
  const issues = promised.safeParse(body).error?.issues ?? [];
  return issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
}
