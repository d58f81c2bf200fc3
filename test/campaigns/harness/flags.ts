// The flags of a program of the tests, as one table: both the parser and the text of `--help` are made of it.
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

/** A flag that is wrong, in words for the person who gave it. */
export class OptionError extends Error {}

/** `text`: what `--help` says of it; `usual`: its value when it is not given, null where that is no value. */
type NumberFlag = {
  readonly kind: "number";
  readonly text: string;
  readonly usual: number | (() => number);
  readonly usualText?: string;
  readonly least: number;
  readonly most: number;
  /** Whether it has no fraction; it has none unless said. */
  readonly isWhole?: boolean;
};
type NameFlag<Name extends string = string> = {
  readonly kind: "name";
  readonly text: string;
  readonly among: readonly Name[];
};
type TextFlag = { readonly kind: "text"; readonly text: string; readonly value: string };
type Switch = { readonly kind: "switch"; readonly text: string };
type Flag = NumberFlag | NameFlag | TextFlag | Switch;

/** By name as code spells it: `killEvery` is `--kill-every`. */
export type Flags = Readonly<Record<string, Flag>>;
export type Values<Table extends Flags> = {
  readonly [Name in keyof Table]: Table[Name] extends NumberFlag
    ? number
    : Table[Name] extends NameFlag<infer Among>
      ? Among | null
      : Table[Name] extends TextFlag
        ? string | null
        : boolean;
};

/** A number, whole unless said; the least is 1 unless said. */
export function number(
  text: string,
  bounds: Partial<NumberFlag> & Pick<NumberFlag, "usual" | "most">,
): NumberFlag {
  return { kind: "number", text, least: 1, ...bounds };
}

/** One of several names; null if it is not given. */
export function oneOf<Name extends string>(among: readonly Name[], text: string): NameFlag<Name> {
  return { kind: "name", text, among };
}

/** Any text; null if it is not given. `value` names it in `--help`. */
export function anyText(value: string, text: string): TextFlag {
  return { kind: "text", text, value };
}

/** False unless it is given. */
export function aSwitch(text: string): Switch {
  return { kind: "switch", text };
}

/** Reads flags; "help" if that is asked for. Throws OptionError. */
export function readFlags<Table extends Flags>(
  args: readonly string[],
  table: Table,
): Values<Table> | "help" {
  const options = Object.entries(table).map(([name, { kind }]) => {
    return [spelled(name), { type: kind === "switch" ? "boolean" : "string" }] as const;
  });
  const given = parsed(args, { ...Object.fromEntries(options), help: { type: "boolean", short: "h" } });
  if (given.help === true) return "help";
  const values = Object.entries(table).map(([name, flag]) => [name, read(name, flag, given[spelled(name)])]);
  return Object.fromEntries(values);
}

function parsed(args: readonly string[], options: ParseArgsOptionsConfig) {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new OptionError(error instanceof Error ? error.message : String(error));
  }
}

function read(name: string, flag: Flag, given: unknown): string | number | boolean | null {
  const wrong = (rule: string) => new OptionError(`--${spelled(name)} is ${rule}: ${JSON.stringify(given)}`);
  if (flag.kind === "switch") return given === true;
  if (flag.kind === "number") {
    if (given === undefined) return typeof flag.usual === "number" ? flag.usual : flag.usual();
    const { least, most, isWhole = true } = flag;
    const isNumber = (isWhole ? /^[0-9]{1,15}$/ : /^[0-9]{1,15}(\.[0-9]+)?$/).test(String(given));
    if (isNumber && Number(given) >= least && Number(given) <= most) return Number(given);
    throw wrong(`not a ${isWhole ? "whole " : ""}number from ${least} to ${most}`);
  }
  if (given === undefined) return null;
  if (given === "") throw wrong("empty");
  if (flag.kind === "name" && !flag.among.includes(String(given)))
    throw wrong(`none of ${flag.among.join(", ")}`);
  return String(given);
}

/** A line for each flag. */
export function flagLines(table: Flags): string {
  const rows = [...Object.entries(table), ["help", aSwitch("this text")] as const].map(([name, flag]) => {
    const value = {
      number: " N",
      name: " NAME",
      text: flag.kind === "text" ? ` ${flag.value}` : "",
      switch: "",
    };
    return [`--${spelled(name)}${value[flag.kind]}`, textOf(flag)] as const;
  });
  const width = Math.max(...rows.map(([name]) => name.length));
  const further = `\n${" ".repeat(width + 4)}`;
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text.replaceAll("\n", further)}\n`).join("");
}

function textOf(flag: Flag): string {
  if (flag.kind !== "number") return flag.text;
  const { text, least, most, usual, usualText = usual } = flag;
  return `${text}, ${least} to ${most}   (${usualText})`;
}

function spelled(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
