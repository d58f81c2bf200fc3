// An audience that records its calls, in order.
import type { Audience } from "../topics.ts";

export type Told<Topic, Message> =
  | { readonly kind: "sent"; readonly topic: Topic; readonly message: Message }
  | { readonly kind: "unavailable" | "available" | "broken"; readonly topic: Topic };

export type Heard<Topic, Message> = Audience<Topic, Message> & {
  readonly told: Told<Topic, Message>[];
  /** The messages alone. */
  messages(): readonly Message[];
  /** Number of such calls. */
  count(kind: "unavailable" | "available" | "broken"): number;
};

export function createHeard<Topic, Message>(): Heard<Topic, Message> {
  const told: Told<Topic, Message>[] = [];
  return {
    told,
    send: (topic, message) => void told.push({ kind: "sent", topic, message }),
    unavailable: (topic) => void told.push({ kind: "unavailable", topic }),
    available: (topic) => void told.push({ kind: "available", topic }),
    broken: (topic) => void told.push({ kind: "broken", topic }),
    messages: () => told.flatMap((each) => (each.kind === "sent" ? [each.message] : [])),
    count: (wanted) => told.filter(({ kind }) => kind === wanted).length,
  };
}
