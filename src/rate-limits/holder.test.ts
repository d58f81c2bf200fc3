import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addressHolder, keyHolder } from "./holder.ts";

describe("the holder of an address", () => {
  test.each([
    ["192.0.2.7", "ip:192.0.2.7"],
    ["::ffff:192.0.2.7", "ip:192.0.2.7"],
    ["::FFFF:192.0.2.7", "ip:192.0.2.7"],
    ["::ffff:c000:207", "ip:192.0.2.7"],
    ["0:0:0:0:0:ffff:c000:0207", "ip:192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "ip:2001:db8:1:2::/64"],
    ["2001:0DB8:0001:0002::1", "ip:2001:db8:1:2::/64"],
    ["2001:db8::", "ip:2001:db8:0:0::/64"],
    ["2001:db8::5:6:7:8:9", "ip:2001:db8:0:5::/64"],
    ["::1", "ip:0:0:0:0::/64"],
    ["fe80::1%eth0", "ip:fe80:0:0:0::/64"],
    // Neither is an address of the mapped kind.
    ["::192.0.2.7", "ip:0:0:0:0::/64"],
    ["64:ff9b::192.0.2.7", "ip:64:ff9b:0:0::/64"],
    // A text that is no address is a holder unchanged.
    ["unknown", "ip:unknown"],
  ])("%s is %s", (address, holder) => {
    expect(addressHolder(address)).toBe(holder);
  });

  test("is the same for every address of a /64 and another for every other /64", () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    const four = fc.tuple(group, group, group, group);
    const text = (groups: readonly number[]) => groups.map((each) => each.toString(16)).join(":");
    fc.assert(
      fc.property(four, four, four, four, (network, host, otherNetwork, otherHost) => {
        // The first group keeps the address out of the mapped ones.
        const here = `2001:${text(network.slice(1))}`;
        const there = `2001:${text(otherNetwork.slice(1))}`;
        const one = addressHolder(`${here}:${text(host)}`);
        expect(addressHolder(`${here}:${text(otherHost)}`)).toBe(one);
        expect(addressHolder(`${there}:${text(host)}`) === one).toBe(here === there);
      }),
    );
  });
});

test("a key and an address are never the same holder", () => {
  expect(keyHolder("192.0.2.7")).not.toBe(addressHolder("192.0.2.7"));
});
