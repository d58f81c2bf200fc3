import { expect, test } from "vitest";
import { flawOf } from "./server-check.ts";

const SOUND = {
  version: 150_004,
  fsync: "on",
  full_page_writes: "on",
  synchronous_commit: "on",
  server_encoding: "UTF8",
  is_standby: false,
};

test.each([[{}], [{ version: 180_000 }], [{ synchronous_commit: "remote_apply" }]])(
  "a server that loses nothing is taken: %o",
  (difference) => {
    expect(flawOf({ ...SOUND, ...difference })).toBeNull();
  },
);

test.each([
  [{ version: 149_999 }, /PostgreSQL 14: 15 or newer/],
  [{ fsync: "off" }, /fsync is off.*set fsync = on/],
  [{ full_page_writes: "off" }, /full_page_writes is off.*set full_page_writes = on/],
  [{ synchronous_commit: "off" }, /synchronous_commit is off/],
  [{ synchronous_commit: "local" }, /synchronous_commit is local/],
  [{ synchronous_commit: "remote_write" }, /synchronous_commit is remote_write/],
  [{ server_encoding: "LATIN1" }, /encoding is LATIN1/],
  [{ is_standby: true }, /standby.*primary/],
])("a server that may lose what was acknowledged is refused, with what to do: %o", (difference, message) => {
  expect(flawOf({ ...SOUND, ...difference })).toMatch(message);
});
