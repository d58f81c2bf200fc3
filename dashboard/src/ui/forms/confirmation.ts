/** Whether what was typed is the text as the page shows it: a browser shows any spaces as one. */
export function isConfirmed(typed: string, confirmation: string): boolean {
  return asShown(typed) === asShown(confirmation);
}

function asShown(text: string): string {
  return text.normalize("NFC").replace(/\s+/g, " ").trim();
}
