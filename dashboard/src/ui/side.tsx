/** Buy or sell; what the colour says, the word says too. */
export function Side({ side }: { side: "BUY" | "SELL" }) {
  return side === "BUY" ? (
    <span className="font-medium text-gain">Buy</span>
  ) : (
    <span className="font-medium text-loss">Sell</span>
  );
}
