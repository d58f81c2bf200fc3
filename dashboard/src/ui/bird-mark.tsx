/**
 * The lyrebird with its tail up, in the color of the surrounding text. Its caller shows the name beside it.
 */
export function BirdMark({ size = 24 }: { size?: number }) {
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 32 32"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path
        d="M3 11.6 6.6 9.8A4.4 4.4 0 0 1 14 11.4C15 14.4 16.6 16 19 16.4L21 19.6C18.6 23.4 14.4 24.6 10.4 22.6 7 20.8 5.6 17 6.4 13Z"
        fill="currentColor"
        stroke="none"
      />
      <path d="M19.5 17C17.6 11 19.2 5 25.6 3.4 28.6 2.8 29.8 5.4 27.8 6.8" />
      <path d="M20.3 17.6C20 13.4 21.6 10 25.4 8.6" />
      <path d="M20.9 18.6C21.8 15.6 23.8 13.2 27 12.2" />
      <path d="M21 19.6C23.2 22.6 26.4 22.2 28.4 19.8 29.8 17.6 28 15.6 26 16.6" />
      <path d="M11.6 23.4 10.6 28.4M15 23.4 15.4 28.4" />
    </svg>
  );
}
