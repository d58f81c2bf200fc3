// The reference of the streams for readers, in the form that Swagger UI shows. It has no routes: its channels
// and their messages are Markdown, and its schemas are those of the payloads. Programs read the AsyncAPI
// document.
import { VERSION } from "../config/config.ts";
import { SchemaBook } from "./schema-book.ts";
import { markdownOf, streamSnippets } from "./snippets.ts";
import { CHANNELS, MESSAGES, type Message, STREAM_SCHEMAS } from "./stream-messages.ts";
import { STREAM_INTRODUCTION } from "./stream-words.ts";

/** The document; `address` is where the streams are served, an origin. */
export function streamsReference(address: string) {
  const book = new SchemaBook("draft-2020-12", STREAM_SCHEMAS);
  for (const schema of Object.values(STREAM_SCHEMAS)) book.write(schema);
  const channels = Object.entries(CHANNELS);
  const description = [
    STREAM_INTRODUCTION,
    "## A first stream",
    markdownOf(streamSnippets(address)),
    ...channels.flatMap(([name, channel]) => [
      `## \`${channel.address}\``,
      channel.description,
      ...MESSAGES.filter((message) => message.channel === name).map(messageText),
    ]),
  ];
  return {
    openapi: "3.1.0",
    info: { title: "Lyrebird streams", version: VERSION, description: description.join("\n\n") },
    tags: channels.map(([, channel]) => ({ name: channel.address, description: channel.description })),
    components: { securitySchemes: {}, schemas: book.named() },
  };
}

function messageText({ event, sender, summary, description = "", schema, example }: Message): string {
  const name = Object.entries(STREAM_SCHEMAS).find(([, named]) => named === schema)?.[0];
  return [
    `### \`${event}\`, from the ${sender}`,
    `${summary} Schema: \`${name}\`.`,
    description,
    `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``,
  ].join("\n\n");
}
