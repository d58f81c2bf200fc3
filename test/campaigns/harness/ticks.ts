// What is traded, as a pair and as a contract. The prices of both are counted in ticks of 0.00001.

export const SYMBOL = "DOGEUSDT";
const TICKS_PER_UNIT = 100_000;

export function ticksOf(price: string): number {
  return Math.round(Number(price) * TICKS_PER_UNIT);
}

export function priceOf(ticks: number): string {
  return (ticks / TICKS_PER_UNIT).toFixed(5);
}
