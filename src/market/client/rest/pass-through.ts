// Public routes of the exchange for the gateway's own callers. Identical requests within a short time are
// sent once, so that a hundred bots that poll one route cost the upstream budget of one.
import type { Clock } from "../../../concurrency/time.ts";
import type { Rest, UpstreamAnswer } from "./rest.ts";

export const cacheMsMax = 500;
const cachedAnswersMax = 512;
const cachedCharactersMax = 32 * 1024 * 1024;
/** A process that closes answers within four seconds. */
export const passThroughDeadlineMs = 3_000;

/** Requests of different editions do not share an answer. */
export type PassThrough = (path: string, search: string, edition?: string) => Promise<UpstreamAnswer>;

/** An answer of no availability is not kept. */
export function createPassThrough(rest: Pick<Rest, "ask">, clock: Clock): PassThrough {
  const underWay = new Map<string, Promise<UpstreamAnswer>>();
  /** In the order of `askedAt`, oldest first. */
  const kept = new Map<
    string,
    { readonly askedAt: number; readonly text: string; readonly answer: UpstreamAnswer }
  >();
  let keptCharacters = 0;

  async function ask(key: string, path: string, search: string): Promise<UpstreamAnswer> {
    const askedAt = clock.now();
    const answer = await rest.ask(path, search, passThroughDeadlineMs);
    underWay.delete(key);
    if (!answer.unavailable) keep(key, askedAt, answer.text, answer);
    return answer;
  }

  function keep(key: string, askedAt: number, text: string, answer: UpstreamAnswer): void {
    forget(key);
    kept.set(key, { askedAt, text, answer });
    keptCharacters += text.length;
    dropOld();
  }

  function dropOld(): void {
    const oldestAt = clock.now() - cacheMsMax;
    for (const [key, { askedAt }] of kept) {
      if (askedAt > oldestAt && kept.size <= cachedAnswersMax && keptCharacters <= cachedCharactersMax)
        return;
      forget(key);
    }
  }

  function forget(key: string): void {
    const entry = kept.get(key);
    if (entry === undefined) return;
    kept.delete(key);
    keptCharacters -= entry.text.length;
  }

  return (path, search, edition = "") => {
    dropOld();
    const key = `${edition} ${path}?${search}`;
    const entry = kept.get(key);
    if (entry !== undefined) return Promise.resolve(entry.answer);
    const pending = underWay.get(key);
    if (pending !== undefined) return pending;
    const answer = ask(key, path, search);
    underWay.set(key, answer);
    return answer;
  };
}
