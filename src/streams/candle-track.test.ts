import { expect, test } from "vitest";
import { CandleTrack, candlesAskedMax, finalsHeldMax } from "./candle-track.ts";

const lengthMs = 1_000;

function kline(number: number, isFinal: boolean) {
  const startTime = number * lengthMs;
  const texts = { open: "1", high: "1", low: "1", close: `${number}`, volume: "1" };
  const closeTime = startTime + lengthMs - 1;
  return { ...texts, startTime, closeTime, eventTime: startTime + (isFinal ? lengthMs : 1), isFinal };
}

test("finals that wait for earlier ones are bounded: the oldest are dropped and requested", () => {
  const sent: number[] = [];
  const track = new CandleTrack(({ startTime }) => sent.push(startTime / lengthMs));
  track.takeStreamed(kline(0, false), 0);
  const newest = finalsHeldMax + 500;
  for (let number = 2; number <= newest; number += 1) track.takeStreamed(kline(number, true), 0);
  expect(sent).toEqual([0]);
  const oldest = newest - (candlesAskedMax - 1);
  expect(track.missing(0)).toEqual({ startTime: oldest * lengthMs, leavesOut: true });
  track.takeAsked([kline(oldest, false), kline(oldest + 1, false)]);
  expect(sent).toEqual([0, ...Array.from({ length: candlesAskedMax }, (_, place) => oldest + place)]);
  expect(track.missing(0)).toBeNull();
});
