// A small picture of numbers as the points of a line: for looking, so floats do.

type Size = { readonly width: number; readonly height: number };

/** Room at the edges, so that the line is not cut at its highest and lowest. */
const EDGE = 1.5;

/**
 * For the `points` of an SVG polyline; null of fewer than two numbers. What does not move lies in the middle.
 */
export function sparklinePoints(values: readonly string[], { width, height }: Size): string | null {
  const numbers = values.map(Number).filter(Number.isFinite);
  if (numbers.length < 2) return null;
  const lowest = Math.min(...numbers);
  const span = Math.max(...numbers) - lowest;
  const step = (width - 2 * EDGE) / (numbers.length - 1);
  return numbers
    .map((number, index) => {
      const share = span === 0 ? 0.5 : (number - lowest) / span;
      return `${round(EDGE + index * step)},${round(height - EDGE - share * (height - 2 * EDGE))}`;
    })
    .join(" ");
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
