import { Button } from "./button.tsx";
import { type CopyOutcome, useCopy } from "./hooks.ts";
import { ScrollRegion } from "./table.tsx";

type CopyButtonProps = {
  text: string;
  /** What is copied: "recovery codes". */
  label: string;
  size?: "normal" | "small";
};

/** Copies what is shown elsewhere: a block of code, a list. */
export function CopyButton({ text, label, size = "small" }: CopyButtonProps) {
  const { outcome, copy } = useCopy(text);
  return (
    <>
      <Button size={size} onClick={copy} aria-label={`Copy ${label}`}>
        {outcome === "copied" ? "✓ Copied" : outcome === "failed" ? "Copy it by hand" : "Copy"}
      </Button>
      <CopyStatus outcome={outcome} label={label} />
    </>
  );
}

type CopyableProps = {
  /** What is copied, and shown. */
  value: string;
  /** What it is, for the button's name: "API key". */
  label: string;
  /** Long values: in one line, cut off at the edge. Otherwise they wrap. */
  isOneLine?: boolean;
  /** In groups of so many characters, for values that are typed by hand; copied without the gaps. */
  groupsOf?: number;
};

/** A value to be taken elsewhere: monospace, whole, with a button that copies it and says so. */
export function Copyable({ value, label, isOneLine = false, groupsOf }: CopyableProps) {
  const { outcome, copy } = useCopy(value);
  const wrapping = groupsOf !== undefined ? "break-words" : isOneLine ? "truncate" : "break-all";
  return (
    <span className="inline-flex max-w-full items-center gap-2 rounded-md border border-line bg-sunken py-0.5 pr-0.5 pl-2">
      <code className={`min-w-0 select-all font-mono text-sm ${wrapping}`}>
        {groupsOf === undefined ? value : inGroups(value, groupsOf)}
      </code>
      <button
        type="button"
        onClick={copy}
        aria-label={`Copy ${label}`}
        className="shrink-0 rounded-sm px-2 py-0.5 font-medium text-accent-ink text-xs hover:bg-hover"
      >
        {FEEDBACK[outcome ?? "none"]}
      </button>
      <CopyStatus outcome={outcome} label={label} />
    </span>
  );
}

function inGroups(value: string, length: number): string {
  return value.match(new RegExp(`.{1,${length}}`, "gu"))?.join(" ") ?? "";
}

const FEEDBACK = { copied: "✓ Copied", failed: "Select it", none: "Copy" } as const;

/** How it went, read out; beside every button that copies. */
export function CopyStatus({ outcome, label }: { outcome: CopyOutcome; label: string }) {
  return (
    <span role="status" className="sr-only">
      {outcome === "copied" && `${label} copied`}
      {outcome === "failed" && `${label} could not be copied; select it and copy it yourself`}
    </span>
  );
}

type CodeBlockProps = {
  text: string;
  /** What it is: "ccxt example". */
  label: string;
  /** Shown in its head. */
  title?: string;
};

/** Lines of a program: they keep their breaks, scroll within themselves and are copied whole. */
export function CodeBlock({ text, label, title }: CodeBlockProps) {
  return (
    <div className="min-w-0 rounded-md border border-line bg-sunken">
      <div className="flex items-center justify-between gap-3 border-line border-b py-1 pr-1 pl-3">
        <span className="font-mono text-ink-soft text-xs">{title}</span>
        <CopyButton text={text} label={label} />
      </div>
      <ScrollRegion label={label}>
        <pre className="px-3 py-2.5 font-mono text-xs leading-5">
          <code>{text}</code>
        </pre>
      </ScrollRegion>
    </div>
  );
}
