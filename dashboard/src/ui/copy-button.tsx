import { Button } from "./button.tsx";
import { CopyStatus } from "./copyable.tsx";
import { useCopy } from "./use-copy.ts";

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
