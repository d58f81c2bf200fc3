// Answers of upstream that have no end, or too much in them: they are broken off, and memory is bounded.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import { createManualTime } from "../../../concurrency/testing/manual-time.ts";
import { createFixture } from "../testing/feed.ts";
import { callersAnswerBytesMax } from "./callers-rest.ts";
import { answersBytesMax, createRest, type Rest } from "./rest.ts";

const MEBIBYTE = 1_024 * 1_024;
const closing: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A host whose answers the test provides. */
async function openHost(answer: (response: ServerResponse) => void): Promise<{ url: string }> {
  const server = createServer((_request, response) => {
    answer(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Writes for as long as the other side reads. */
function writeForEver(response: ServerResponse): void {
  const chunk = Buffer.alloc(64 * 1_024, " ");
  const write = () => {
    while (!response.destroyed && response.write(chunk)) {
      // More than the socket takes is written when it has drained.
    }
  };
  response.on("drain", write);
  write();
}

function restTo(baseUrl: string, answerBytesMax?: number): Rest {
  const time = createManualTime();
  const log = { info() {}, warn() {}, error() {} };
  const rest = createRest({
    baseUrl,
    wallClock: time,
    timers: time,
    log,
    ban: { until: 0 },
    ...(answerBytesMax === undefined ? {} : { answerBytesMax }),
  });
  closing.push(() => rest.close());
  return rest;
}

// The clock does not move, so no deadline ends these requests.
test("an answer without an end is broken off at its bound", async () => {
  const host = await openHost(writeForEver);
  const answer = await restTo(host.url, MEBIBYTE).ask("/endless", "", 60_000);
  expect(answer).toEqual({ unavailable: true, reason: `an answer of more than ${MEBIBYTE} bytes` });
});

test("so is one that grows beyond it when it is unpacked", async () => {
  const bomb = gzipSync(Buffer.alloc(64 * MEBIBYTE, "0"));
  const host = await openHost((response) => {
    response.setHeader("content-encoding", "gzip");
    response.end(bomb);
  });
  expect(bomb.length).toBeLessThan(MEBIBYTE);
  const answer = await restTo(host.url, MEBIBYTE).ask("/bomb", "", 60_000);
  expect(answer).toMatchObject({ unavailable: true, reason: expect.stringContaining("bytes") });
});

test("many answers without an end take no more than their bound together, and the next one is read", async () => {
  let isEndless = true;
  const host = await openHost((response) => {
    if (isEndless) writeForEver(response);
    else response.end("[]");
  });
  const rest = restTo(host.url);
  const answers = await Promise.all(Array.from({ length: 8 }, () => rest.ask("/endless", "", 60_000)));
  for (const answer of answers) {
    expect(answer).toMatchObject({ unavailable: true, reason: expect.stringMatching(/more than \d+ bytes/) });
  }
  expect(answers).toContainEqual({
    unavailable: true,
    reason: `answers of more than ${answersBytesMax} bytes are being read`,
  });
  isEndless = false;
  expect(await rest.ask("/next", "", 60_000)).toEqual({ unavailable: false, status: 200, text: "[]" });
});

test("a caller's question that upstream answers without an end gets no answer", async () => {
  const fixture = await createFixture(["BTCUSDT"]);
  fixture.upstream.reply("/api/v3/klines", () => ({ body: "0".repeat(callersAnswerBytesMax + 1) }));
  await fixture.feed.start();
  expect(await fixture.feed.query("/api/v3/klines", "symbol=BTCUSDT")).toEqual({
    unavailable: true,
    reason: `an answer of more than ${callersAnswerBytesMax} bytes`,
  });
});

test("text of several bytes a letter is read as it was sent, however it was cut", async () => {
  const text = JSON.stringify({ name: "größer als 元 🐦" });
  const bytes = Buffer.from(text);
  const host = await openHost((response) => {
    for (const byte of bytes) response.write(Buffer.of(byte));
    response.end();
  });
  expect(await restTo(host.url).ask("/text", "", 60_000)).toEqual({ unavailable: false, status: 200, text });
});
