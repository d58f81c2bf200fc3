// The holder of a budget: an API key, a person with all keys, or a client's address. IPv6 networks give every
// client a /64 of its own, so its 2^64 addresses are one holder; an IPv4 address is one holder in any
// spelling. Source: specification 8.1; design, section 6.
import { isIPv4, isIPv6 } from "node:net";

const GROUPS = 8;
/** Groups of 16 bits in a /64. */
const NETWORK_GROUPS = 4;
/** Prefix of the IPv4 address in `::ffff:1.2.3.4`. */
const MAPPED_PREFIX = "0:0:0:0:0:ffff";
const MAPPED_PREFIX_GROUPS = 6;

/** The holder of an API key's budgets. */
export function keyHolder(apiKey: string): string {
  return `key:${apiKey}`;
}

const PERSON = "person:";

/** The holder of the placements of all keys of a person; `userId` is `userIdOf` of a key. */
export function personHolder(userId: string): string {
  return `${PERSON}${userId}`;
}

export function isPersonHolder(holder: string): boolean {
  return holder.startsWith(PERSON);
}

/** The holder of the budgets of an address: the address itself if it is IPv4, its /64 if it is IPv6. */
export function addressHolder(address: string): string {
  // Most addresses are IPv4: the check below costs a regular expression of all forms of IPv6.
  if (!address.includes(":")) return `ip:${address}`;
  const [bare = ""] = address.split("%");
  if (!isIPv6(bare)) return `ip:${address}`;
  const groups = groupsOf(bare);
  if (groups.slice(0, MAPPED_PREFIX_GROUPS).join(":") === MAPPED_PREFIX) {
    return `ip:${groups.slice(MAPPED_PREFIX_GROUPS).map(twoOctets).join(".")}`;
  }
  return `ip:${groups.slice(0, NETWORK_GROUPS).join(":")}::/64`;
}

/** All eight groups of an IPv6 address, in lowercase hex without leading zeros. */
function groupsOf(address: string): string[] {
  const [head = "", tail] = address.toLowerCase().split("::");
  const left = writtenGroups(head);
  const right = writtenGroups(tail ?? "");
  return [...left, ...Array<string>(GROUPS - left.length - right.length).fill("0"), ...right];
}

function writtenGroups(part: string): string[] {
  if (part === "") return [];
  return part.split(":").flatMap((group) => {
    if (isIPv4(group)) return twoGroups(group.split(".").map((octet) => Number.parseInt(octet, 10)));
    return [Number.parseInt(group, 16).toString(16)];
  });
}

function twoGroups([a = 0, b = 0, c = 0, d = 0]: readonly number[]): string[] {
  return [(a * 256 + b).toString(16), (c * 256 + d).toString(16)];
}

function twoOctets(group: string): string {
  const value = Number.parseInt(group, 16);
  return `${Math.floor(value / 256)}.${value % 256}`;
}
