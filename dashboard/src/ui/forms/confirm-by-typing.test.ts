import { expect, test } from "vitest";
import { isConfirmed } from "./confirm-by-typing.tsx";

test("what is typed as the page shows it confirms, whatever spaces the text has", () => {
  expect(isConfirmed("My account", "My account")).toBe(true);
  expect(isConfirmed(" My account ", "My account")).toBe(true);
  // A browser shows several spaces as one, and a no-break space like any other.
  expect(isConfirmed("My account", "My  account")).toBe(true);
  expect(isConfirmed("My account", "My\u00a0account")).toBe(true);
  expect(isConfirmed("M\u00fcnz", "Mu\u0308nz")).toBe(true);
});

test("anything else does not confirm", () => {
  for (const typed of ["", "my account", "Myaccount", "My account 2"]) {
    expect(isConfirmed(typed, "My account"), typed).toBe(false);
  }
});
