// The bytes of a message, and the order and the bounds of what waits for a client.
import { describe, expect, test } from "vitest";
import { encode, KEPT_MESSAGES_MAX, Line, type Message, type Transport } from "./fan-out.ts";

/** A transport that sends when the test permits it. */
class HeldTransport {
  readonly sent: string[] = [];
  #whenLeft: (() => void) | null = null;

  write(text: unknown, _options?: unknown, whenLeft?: unknown): this {
    this.sent.push(String(text));
    if (typeof whenLeft === "function") this.#whenLeft = whenLeft as () => void;
    return this;
  }

  /** The written data has left. */
  drain(): void {
    const whenLeft = this.#whenLeft;
    this.#whenLeft = null;
    whenLeft?.();
  }
}

const message = (text: string): Message => ({ text, options: { wsPreEncodedFrame: [] } });

function createFixture() {
  const transport = new HeldTransport();
  let givenUpCount = 0;
  const line = new Line(transport as unknown as Transport, () => {
    givenUpCount += 1;
  });
  return { transport, line, givenUpCount: () => givenUpCount };
}

describe("a message is encoded as one frame", () => {
  test.each([
    0, 1, 60, 61, 62, 63, 64, 65, 66, 67, 300, 65_470, 65_473, 65_474, 65_475, 65_476, 65_480, 100_000,
  ])("with %i characters of text", (length) => {
    const { text, options } = encode("/bot/v1/orderbook", "orderBook", { text: "x".repeat(length) });
    expect(text).toBe(`2/bot/v1/orderbook,["orderBook",{"text":"${"x".repeat(length)}"}]`);
    const [frame] = options.wsPreEncodedFrame;
    if (frame === undefined) throw new Error("there is a frame");
    expect(frame[0], "final, text").toBe(0x81);
    const short = frame.readUInt8(1);
    const [from, said] =
      short === 127
        ? [10, Number(frame.readBigUInt64BE(2))]
        : short === 126
          ? [4, frame.readUInt16BE(2)]
          : [2, short];
    expect(short === 127, "the long form only where it must be").toBe(said > 65_535);
    expect(short === 126).toBe(said > 125 && said <= 65_535);
    expect(said).toBe(frame.length - from);
    expect(frame.toString("utf8", from)).toBe(`4${text}`);
  });
});

describe("a line", () => {
  test("that is free sends at once, one that is busy when it is free again", () => {
    const { line, transport } = createFixture();
    line.sendNewest("a", message("a1"));
    line.sendNewest("b", message("b1"));
    expect(transport.sent).toEqual(["a1"]);
    transport.drain();
    expect(transport.sent).toEqual(["a1", "b1"]);
    transport.drain();
    line.sendNewest("a", message("a2"));
    expect(transport.sent).toEqual(["a1", "b1", "a2"]);
  });

  test("keeps of a topic the newest alone, in its place in time", () => {
    const { line, transport } = createFixture();
    line.sendNewest("a", message("a1"));
    for (const text of ["a2", "b1", "a3"]) line.sendNewest(text.charAt(0), message(text));
    transport.drain();
    expect(transport.sent).toEqual(["a1", "b1", "a3"]);
  });

  test("keeps all that must not be missed, which takes the place of older ticks", () => {
    const { line, transport } = createFixture();
    line.sendNewest("a", message("tick1"));
    line.sendNewest("a", message("tick2"));
    line.sendKept("a", message("final1"));
    line.sendNewest("a", message("tick3"));
    line.sendKept(null, message("answer"));
    line.sendKept("a", message("final2"));
    line.sendNewest("a", message("tick4"));
    transport.drain();
    expect(transport.sent).toEqual(["tick1", "final1", "answer", "final2", "tick4"]);
  });

  test("sends no tick that a final has made worthless", () => {
    const { line, transport } = createFixture();
    for (const text of ["tick1", "tick2"]) line.sendNewest("a", message(text));
    line.sendNewest("b", message("another"));
    line.sendKept("a", message("final1"));
    transport.drain();
    expect(transport.sent).toEqual(["tick1", "another", "final1"]);
  });

  test("sends its last message before what waits, and nothing after", () => {
    const { line, transport } = createFixture();
    line.sendNewest("a", message("tick1"));
    line.sendKept("a", message("final1"));
    line.sendLast(message("the end"));
    line.sendLast(message("another"));
    transport.drain();
    line.sendNewest("a", message("tick2"));
    expect(transport.sent).toEqual(["tick1", "the end"]);
  });

  test("is given up, once, when too much waits that must not be missed", () => {
    const { line, transport, givenUpCount } = createFixture();
    line.sendNewest("a", message("tick"));
    for (let count = 0; count < KEPT_MESSAGES_MAX; count += 1) line.sendKept("a", message("final"));
    expect(givenUpCount()).toBe(0);
    for (let count = 0; count < 2; count += 1) line.sendKept("a", message("final"));
    expect(givenUpCount()).toBe(1);
    transport.drain();
    expect(transport.sent).toEqual(["tick"]);
  });

  test("that was slow once has its whole bound again", () => {
    const { line, transport, givenUpCount } = createFixture();
    line.sendNewest("a", message("tick"));
    for (let round = 0; round < 3; round += 1) {
      for (let count = 0; count < KEPT_MESSAGES_MAX; count += 1) line.sendKept("a", message("final"));
      transport.drain();
    }
    expect(givenUpCount()).toBe(0);
    expect(transport.sent).toHaveLength(1 + 3 * KEPT_MESSAGES_MAX);
  });
});
