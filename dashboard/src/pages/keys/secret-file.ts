// A new key as a file: lines of names and values, as most programs read their settings.

type SecretFileParts = {
  readonly label: string;
  readonly apiKey: string;
  readonly apiSecret: string;
  readonly publicUrl: string;
  /** Unix ms. */
  readonly createdAt: number;
};

export function secretFile({ label, apiKey, apiSecret, publicUrl, createdAt }: SecretFileParts): string {
  const oneLine = label.replace(/\s+/g, " ");
  return [
    `# Lyrebird API key "${oneLine}", created ${new Date(createdAt).toISOString()}. Keep it secret.`,
    `LYREBIRD_URL=${publicUrl}`,
    `LYREBIRD_API_KEY=${apiKey}`,
    `LYREBIRD_API_SECRET=${apiSecret}`,
    "",
  ].join("\n");
}

/** "BTC grid #1" is lyrebird-btc-grid-1.env. */
export function secretFileName(label: string): string {
  const plain = label
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return plain === "" ? "lyrebird-key.env" : `lyrebird-${plain}.env`;
}
