import { CopyButton } from "./copy-button.tsx";
import { ScrollRegion } from "./scroll-region.tsx";

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
