import { describe, expect, test } from "vitest";
import { VERSION } from "../config/config.ts";
import { STREAM_ERROR_CODES } from "../streams/errors.ts";
import { CANDLES, DEPTH } from "../streams/stream-kinds.ts";
import { asyncApi } from "./asyncapi.ts";
import { CHANNELS, MESSAGES } from "./stream-messages.ts";
import { followed, referencesOf } from "./testing/references.ts";

const document = asyncApi("https://lyrebird.example");

test("the document says of which version and of which server it is", () => {
  expect(document.asyncapi).toBe("3.0.0");
  expect(document.info.version).toBe(VERSION);
  expect(document.servers.gateway).toMatchObject({ host: "lyrebird.example", protocol: "wss" });
  expect(asyncApi("http://127.0.0.1:8080").servers.gateway).toMatchObject({
    host: "127.0.0.1:8080",
    protocol: "ws",
  });
});

test("its channels are the namespaces that are served", () => {
  expect(Object.values(document.channels).map(({ address }) => address)).toEqual([
    CANDLES.namespace,
    DEPTH.namespace,
  ]);
});

test("every reference leads somewhere", () => {
  const references = referencesOf(document);
  expect(references.length).toBeGreaterThan(0);
  expect(references.filter((reference) => followed(reference, document) === undefined)).toEqual([]);
});

test("every message of a channel has an operation, which clients' messages are received by", () => {
  const messages = Object.entries(document.channels).flatMap(([channel, { messages: events }]) =>
    Object.keys(events).map((event) => `${channel}.${event}`),
  );
  expect(Object.keys(document.operations).sort()).toEqual(messages.sort());
  for (const [name, { action }] of Object.entries(document.operations)) {
    expect(action, name).toBe(/\.(un)?subscribe$/.test(name) ? "receive" : "send");
  }
});

describe.each(Object.keys(CHANNELS))("on %s", (channel) => {
  test("both sides' events are all there", () => {
    const sent = { market: "marketData", orderbook: "orderBook" }[channel];
    expect(Object.keys(document.channels[channel]?.messages ?? {}).sort()).toEqual(
      ["error", sent, "subscribe", "subscribed", "unsubscribe", "unsubscribed"].sort(),
    );
  });
});

test.each(MESSAGES.map((message) => [`${message.channel}.${message.event}`, message] as const))(
  "the example of %s is one",
  (name, { schema }) => {
    const [example] = document.components.messages[name]?.examples ?? [];
    expect(schema.safeParse(example?.payload).error).toBeUndefined();
  },
);

test.each(STREAM_ERROR_CODES)("%s is in the payload of an error, and explained", (code) => {
  const { StreamError } = document.components.schemas;
  expect(StreamError?.properties?.code).toMatchObject({ enum: expect.arrayContaining([code]) });
  expect(document.info.description).toContain(`| \`${code}\` |`);
});

test("its schemas are of the draft that AsyncAPI knows, in which a pair is a list of items", () => {
  expect(JSON.stringify(document)).not.toContain("prefixItems");
  expect(document.components.schemas.OrderBook?.properties?.bids).toMatchObject({
    items: { items: [{ type: "string" }, { type: "string" }], minItems: 2, maxItems: 2 },
  });
});
