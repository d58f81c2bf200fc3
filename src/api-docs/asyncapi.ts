// The AsyncAPI document of the streams, out of the schemas that messages are checked by and the bounds that
// are enforced. It tells the server's side: it receives what clients send, and sends what they receive.
import { VERSION } from "../config/config.ts";
import { HANDSHAKE_AUTH } from "../streams/schemas.ts";
import { type JsonSchema, SchemaBook } from "./schema-book.ts";
import { CHANNELS, MESSAGES, type Message, STREAM_SCHEMAS } from "./stream-messages.ts";
import { HANDSHAKE_FIELDS, STREAM_INTRODUCTION } from "./stream-words.ts";

const TITLES = { client: "From the client", server: "From the server" } as const;

/** The headers that may stand for the `auth` object. */
const HANDSHAKE_HEADERS: JsonSchema = {
  type: "object",
  properties: Object.fromEntries(
    HANDSHAKE_FIELDS.map(({ header, description }) => [header, { type: "string", description }]),
  ),
};

/** The document; `address` is where the streams are served, an origin. */
export function asyncApi(address: string) {
  const book = new SchemaBook("draft-7", STREAM_SCHEMAS);
  const { host, protocol } = new URL(address);
  const messages = Object.fromEntries(
    MESSAGES.map((message) => [idOf(message), describedMessage(message, book)]),
  );
  // Nothing else refers to it: it comes with the connection, before any message.
  book.write(HANDSHAKE_AUTH);
  return {
    asyncapi: "3.0.0",
    info: { title: "Lyrebird streams", version: VERSION, description: STREAM_INTRODUCTION },
    defaultContentType: "application/json",
    servers: {
      gateway: {
        host,
        pathname: "/socket.io",
        protocol: protocol === "https:" ? "wss" : "ws",
        description:
          "Socket.IO v4, over WebSocket only. The channels are its namespaces; the signature also goes into its `auth` object (schema `Handshake`).",
        security: [{ $ref: "#/components/securitySchemes/botSignature" }],
      },
    },
    channels: Object.fromEntries(
      Object.entries(CHANNELS).map(([name, { address: namespace, title, description }]) => [
        name,
        {
          address: namespace,
          title,
          description,
          servers: [{ $ref: "#/servers/gateway" }],
          messages: Object.fromEntries(
            messagesOf(name).map((message) => [
              message.event,
              { $ref: `#/components/messages/${idOf(message)}` },
            ]),
          ),
          bindings: { ws: { method: "GET", headers: HANDSHAKE_HEADERS } },
        },
      ]),
    ),
    operations: Object.fromEntries(MESSAGES.map((message) => [idOf(message), operationOf(message)])),
    components: {
      messages,
      schemas: book.named(),
      securitySchemes: Object.fromEntries(
        HANDSHAKE_FIELDS.map(({ scheme, header, description }) => [
          scheme,
          { type: "httpApiKey", in: "header", name: header, description },
        ]),
      ),
    },
  };
}

/** The messages of a channel, those that clients send first. */
function messagesOf(channel: string): readonly Message[] {
  return MESSAGES.filter((message) => message.channel === channel);
}

/** What the document calls a message: an event has a payload of its own on each channel. */
function idOf({ channel, event }: Message): string {
  return `${channel}.${event}`;
}

function describedMessage(
  { event, sender, summary, description, schema, example }: Message,
  book: SchemaBook,
) {
  return {
    name: event,
    title: TITLES[sender],
    summary,
    ...(description === undefined ? {} : { description }),
    payload: book.write(schema),
    examples: [{ payload: example }],
  };
}

function operationOf({ channel, event, sender, summary }: Message) {
  return {
    action: sender === "client" ? "receive" : "send",
    channel: { $ref: `#/channels/${channel}` },
    summary,
    messages: [{ $ref: `#/channels/${channel}/messages/${event}` }],
  };
}
