// The log on standard error: a line of JSON per entry for machines, a readable line where a person reads it
// on a terminal.
import pino, { type Logger } from "pino";

/** `isReadable`: on a terminal. A log that can no longer be written is dropped, and the process goes on. */
export function createLog({ isReadable }: { readonly isReadable: boolean }): Logger {
  const stream = pino.destination(2);
  // The terminal is closed or the disk is full. By default the stream would throw, and retry at the exit for
  // ever.
  stream.on("error", () => {
    stream.write = () => true;
    stream.flushSync = () => {};
  });
  const readable = { write: (entry: string) => void stream.write(readableLine(entry)) };
  return pino({ redact: ["apiSecret", "secret", "*.apiSecret", "*.secret"] }, isReadable ? readable : stream);
}

/** `12:34:56 UTC  warn   message  name=value …`; a stack follows on lines of its own. */
export function readableLine(entry: string): string {
  const { level, time, pid: _pid, hostname: _hostname, msg, err, ...fields } = JSON.parse(entry);
  const clock = `${new Date(time).toISOString().slice(11, 19)} UTC`;
  const name = (pino.levels.labels[level] ?? String(level)).padEnd(5);
  const values = Object.entries(fields).map(([field, value]) => `${field}=${valueText(value)}`);
  const line = [clock, name, ...(msg === undefined ? [] : [msg]), ...values].join("  ");
  const stack = err === undefined ? [] : String(err.stack ?? err.message).split("\n");
  // Control characters in what a client has sent must not reach the terminal.
  return [line, ...stack].map((text) => `${text.replaceAll(/\p{Cc}/gu, "?")}\n`).join("");
}

function valueText(value: unknown): string {
  return typeof value === "string" && /^[^\s"]+$/.test(value) ? value : JSON.stringify(value);
}
