// Whether somebody uses this page, or it only asks by itself for what has changed: the server ends sessions that nobody uses.

/** Whoever has done something so recently is still there, ms. */
const PRESENT_MS = 5 * 60_000;

let usedAt = Date.now();

/** Notes what somebody does on the page, from now on. */
export function watchAttendance(): void {
  const use = () => {
    usedAt = Date.now();
  };
  for (const event of ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"]) {
    window.addEventListener(event, use, { capture: true, passive: true });
  }
}

export function isAttended(): boolean {
  return Date.now() - usedAt < PRESENT_MS;
}
