import { expect, test } from "vitest";
import { orderOf, type RouteTraffic, routesBy, shareOf } from "./routes.ts";

const ORDER: RouteTraffic = {
  method: "POST",
  path: "/api/v3/order",
  count: 40,
  byStatus: { 200: 36, 400: 3, 503: 1 },
  p50Ms: 1,
  p99Ms: 4,
};
const TIME: RouteTraffic = {
  ...ORDER,
  method: "GET",
  path: "/api/v3/time",
  count: 100,
  byStatus: { 200: 100 },
  p99Ms: 9,
};

test("routes are sorted by what was chosen", () => {
  const pathsBy = (order: "count" | "p99" | "errors") =>
    routesBy(order, [ORDER, TIME]).map(({ path }) => path);
  expect(pathsBy("count")).toEqual([TIME.path, ORDER.path]);
  expect(pathsBy("p99")).toEqual([TIME.path, ORDER.path]);
  expect(pathsBy("errors")).toEqual([ORDER.path, TIME.path]);
  expect(orderOf("errors")).toBe("errors");
  expect(orderOf("nonsense")).toBe("count");
});

test("rejections and errors are shown with their share", () => {
  expect(shareOf(ORDER, 4)).toBe("3 (7.5 %)");
  expect(shareOf(ORDER, 5)).toBe("1 (2.5 %)");
  expect(shareOf(TIME, 5)).toBeNull();
});
