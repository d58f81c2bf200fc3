/** The messages of a client on a stream connection, and the answers (reference section 17.1). */

/** The side of a connection that control messages act on. */
export type Controlled = {
  isCombined: boolean;
  /** False when there are too many of them; none is subscribed then. */
  subscribe(streams: readonly string[]): boolean;
  unsubscribe(streams: readonly string[]): void;
  subscriptions(): readonly string[];
};

type Id = number | string | null;

/** Acts on one message and gives the answer to be sent. */
export function obey(connection: Controlled, text: string): object {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return { code: 3, msg: "Invalid JSON: expected value at line 1 column 1" };
  }
  if (typeof message !== "object" || message === null || Array.isArray(message)) {
    return invalid("the message is not an object");
  }
  const { method, params, id } = message as { method?: unknown; params?: unknown; id?: unknown };
  if (!isId(id)) return invalid("request ID must be an unsigned integer, a short string or null");
  switch (method) {
    case "SUBSCRIBE": {
      if (!isTextList(params)) return invalid("params must be a list of stream names", id);
      return connection.subscribe(params) ? { result: null, id } : invalid("too many streams", id);
    }
    case "UNSUBSCRIBE": {
      if (!isTextList(params)) return invalid("params must be a list of stream names", id);
      connection.unsubscribe(params);
      return { result: null, id };
    }
    case "LIST_SUBSCRIPTIONS":
      return { result: connection.subscriptions(), id };
    case "SET_PROPERTY": {
      const [name, value] = Array.isArray(params) ? params : [];
      if (name !== "combined") return unknownProperty(id);
      if (typeof value !== "boolean") return { code: 1, msg: "Invalid value type: expected Boolean", id };
      connection.isCombined = value;
      return { result: null, id };
    }
    case "GET_PROPERTY": {
      const [name] = Array.isArray(params) ? params : [];
      return name === "combined" ? { result: connection.isCombined, id } : unknownProperty(id);
    }
    default:
      return invalid(`unknown variant '${String(method)}'`, id);
  }
}

function unknownProperty(id: Id): object {
  return { code: 0, msg: "Unknown property", id };
}

function invalid(reason: string, id?: Id): object {
  return { code: 2, msg: `Invalid request: ${reason}`, ...(id === undefined ? {} : { id }) };
}

function isId(id: unknown): id is Id {
  return (
    id === null ||
    (Number.isSafeInteger(id) && Number(id) >= 0) ||
    (typeof id === "string" && id.length <= 36)
  );
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string");
}
