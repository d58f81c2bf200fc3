// A secret that is shown this once. It can be copied and saved as a file, and what comes after it stays shut
// until its reader says that they have it; leaving the page before that is asked about.
import { useBlocker } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { Note } from "./card.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Checkbox } from "./forms/field.tsx";

type OnceShownProps = {
  /** What it is, in the plural or with an article where one belongs: "recovery codes", "the secret". */
  label: string;
  /** What is copied and saved. */
  text: string;
  fileName: string;
  /** What a person can do who has lost it. */
  warning: ReactNode;
  /** What its reader says: "I have saved the secret". */
  confirmation: string;
  /** The secret itself. */
  children: ReactNode;
  /** The buttons that go on. */
  actions: (isSaved: boolean) => ReactNode;
};

export function OnceShown({
  label,
  text,
  fileName,
  warning,
  confirmation,
  children,
  actions,
}: OnceShownProps) {
  const [isSaved, setSaved] = useState(false);
  useBlocker({
    shouldBlockFn: () => !isSaved && !window.confirm(`Leave without saving ${label}? It is shown only once.`),
    enableBeforeUnload: () => !isSaved,
  });
  return (
    <>
      <Note tone="warn" title="Shown only once">
        <p>{warning}</p>
      </Note>
      {children}
      <div className="flex flex-wrap gap-2">
        <CopyButton text={text} label={label} size="normal" />
        <Button onClick={() => download(text, fileName)} aria-label={`Download ${label}`}>
          Download
        </Button>
      </div>
      <Checkbox label={confirmation} checked={isSaved} onChange={(event) => setSaved(event.target.checked)} />
      {actions(isSaved)}
    </>
  );
}

/** Saves a text as a file. It is made in the browser and sent nowhere. */
function download(text: string, fileName: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = fileName;
  link.click();
  // By the next task the browser has begun to read the file.
  setTimeout(() => URL.revokeObjectURL(address));
}
