// What clients sign instead of the message of a bot request: parts left out, in another order or with something between them, the
// body written otherwise than it was sent, or as another family signs.
// Source: specification 5.2 and 5.3.
import { jsonTexts, type MessageForm } from "./message-forms.ts";
import type { SeenRequest } from "./sighting.ts";
import { BOT_TIMESTAMP_HEADER, headerOf } from "./sighting.ts";

const RULE = "Sign timestamp + METHOD + path + body, with nothing between.";
const STREAM_NAMESPACES = ["/bot/v1/market", "/bot/v1/orderbook"];
/** What may be put between the parts. */
const SEPARATORS = ["\n", "|", ":", " ", ",", "&", ".", "-"];
/** Beginnings of paths that clients keep as their base address. */
const BASES = ["/bot/v1/spot", "/bot/v1", "/bot"];

/** What may have been signed in place of `timestamp + METHOD + target + body`, most usual first. */
export function botMessageForms(request: SeenRequest, body: string): readonly MessageForm[] {
  const { method, path, query, target } = request;
  const time = headerOf(request, BOT_TIMESTAMP_HEADER);
  const head = time + method + target;
  const forms: MessageForm[] = [];
  const add = (says: string, messages: readonly string[]) => {
    for (const message of messages) forms.push({ message, says: `${says} ${RULE}` });
  };
  if (body === "") {
    add("A body was signed, and none was sent.", [
      `${head}{}`,
      `${head}null`,
      `${head}""`,
      `${head}undefined`,
    ]);
  } else {
    add("The body was left out of what was signed.", [head]);
    add(
      "The body was signed as other JSON text than was sent: spaces or the order of fields differ. Write it once, sign that text and send it.",
      bodiesOtherwise(body).map((text) => head + text),
    );
    add("The body alone was signed.", [body, time + body]);
  }
  if (query !== "") {
    add("The path was signed without its query.", [time + method + path + body]);
    add("The query was signed without the question mark.", [time + method + path + query + body]);
  }
  add("The method was signed in lower case.", [time + method.toLowerCase() + target + body]);
  add("The method was left out of what was signed.", [time + target + body]);
  add("The timestamp was left out of what was signed.", [method + target + body]);
  add("The path was left out of what was signed.", [time + method + body]);
  add("The parts were signed in another order.", [
    method + target + time + body,
    method + target + body + time,
    method + time + target + body,
    time + target + method + body,
    target + method + time + body,
    target + time + body,
    time + body + method + target,
  ]);
  for (const between of SEPARATORS) {
    const parts = [time, method, target];
    add("Something was put between the parts of what was signed.", [
      [...parts, body].join(between),
      ...(body === "" ? [parts.join(between)] : []),
    ]);
  }
  add(
    "A part of the path alone was signed. The path begins with /bot.",
    [...BASES.filter((base) => target.startsWith(base)), "/"].map(
      (base) => time + method + target.slice(base.length) + body,
    ),
  );
  add("The path was signed with a slash at its end.", [`${time}${method}${path}/${body}`]);
  add(
    "The whole address was signed in place of the path.",
    ["http", "https"].map(
      (scheme) => `${time}${method}${scheme}://${headerOf(request, "host")}${target}${body}`,
    ),
  );
  add("A line break at the end was signed too.", [`${head}${body}\n`, `${head}${body}\r\n`]);
  add("Another timestamp was signed than was sent: in seconds.", [
    time.slice(0, -3) + method + target + body,
  ]);
  add(
    "This is the signature of a stream's handshake.",
    STREAM_NAMESPACES.map((namespace) => `${time}GET${namespace}`),
  );
  add("The request is signed as those of the exchange-style routes are (query and body).", [
    query + body,
    `timestamp=${time}`,
    `${query}&timestamp=${time}`,
    `${query}&timestamp=${time}${body}`,
    `timestamp=${time}${body}`,
  ]);
  return forms;
}

/** Other texts of the JSON that was sent. */
function bodiesOtherwise(body: string): readonly string[] {
  try {
    return jsonTexts(JSON.parse(Buffer.from(body, "latin1").toString("utf8")));
  } catch {
    return [];
  }
}
