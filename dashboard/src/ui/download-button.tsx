import { Button } from "./button.tsx";

type DownloadButtonProps = {
  text: string;
  fileName: string;
  /** What it is, for the button's name: "recovery codes". */
  label: string;
  size?: "normal" | "small";
};

/** Saves a text as a file. It is made in the browser and sent nowhere. */
export function DownloadButton({ text, fileName, label, size = "small" }: DownloadButtonProps) {
  return (
    <Button size={size} onClick={() => download(text, fileName)} aria-label={`Download ${label}`}>
      Download
    </Button>
  );
}

function download(text: string, fileName: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = fileName;
  link.click();
  // The browser has taken hold of it by the next turn.
  setTimeout(() => URL.revokeObjectURL(address));
}
