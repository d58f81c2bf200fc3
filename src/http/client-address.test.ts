import { describe, expect, test } from "vitest";
import { clientAddress } from "./transport-security.ts";

const PEER = "10.0.0.1";

describe("the client's address", () => {
  // proxies, header → address.
  test.each<[number, string | undefined, string]>([
    // Without proxies the header is the client's own invention.
    [0, undefined, PEER],
    [0, "1.1.1.1", PEER],
    // One proxy: what it added, not what came with the request.
    [1, undefined, PEER],
    [1, "", PEER],
    [1, "1.1.1.1", "1.1.1.1"],
    [1, "6.6.6.6, 1.1.1.1", "1.1.1.1"],
    [1, "6.6.6.6,7.7.7.7,1.1.1.1", "1.1.1.1"],
    [1, "nonsense, 1.1.1.1", "1.1.1.1"],
    [1, "  1.1.1.1\t", "1.1.1.1"],
    // Two proxies: the outer one wrote the entry before the last.
    [2, "1.1.1.1, 10.0.0.2", "1.1.1.1"],
    [2, "6.6.6.6, 1.1.1.1, 10.0.0.2", "1.1.1.1"],
    // Ten.
    [10, "6.6.6.6,1.1.1.1,a,b,c,d,e,f,g,h,i", "1.1.1.1"],
    // Fewer entries than proxies: any of them may be a client's.
    [2, "6.6.6.6", PEER],
    [3, "6.6.6.6, 1.1.1.1", PEER],
    // An entry that is no address.
    [1, "6.6.6.6, unknown", PEER],
    [1, "6.6.6.6, _hidden", PEER],
    [1, "6.6.6.6,", PEER],
    [1, ",,,", PEER],
    [1, "6.6.6.6, 1.1.1.256", PEER],
    [1, "6.6.6.6, 1.1.1", PEER],
    [1, "6.6.6.6, 2001:db8::1]:1", PEER],
    [1, "6.6.6.6, for=1.1.1.1", PEER],
    [1, "x".repeat(16_000), PEER],
    // Ports and brackets.
    [1, "1.1.1.1:49152", "1.1.1.1"],
    [1, "[1.1.1.1]", "1.1.1.1"],
    [1, "2001:db8::1", "2001:db8::1"],
    [1, "[2001:db8::1]", "2001:db8::1"],
    [1, "[2001:db8::1]:49152", "2001:db8::1"],
    [1, "[::FFFF:1.1.1.1]:80", "::FFFF:1.1.1.1"],
  ])("behind %i proxies with the header %j is %s", (hops, header, address) => {
    expect(clientAddress(PEER, header, hops)).toBe(address);
  });

  test("is the peer's unchanged where the header does not help", () => {
    expect(clientAddress("::1", undefined, 0)).toBe("::1");
    expect(clientAddress("", "nonsense", 1)).toBe("");
  });
});
